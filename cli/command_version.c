/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam version`: what this program is and what was built into it. */
#include <stdio.h>

#include "cli/command.h"
#include "cli/command_texts.h"
#include "cli/options.h"
#include "cli/program_version.h"
#include "cli/report.h"

int command_version(int argc, char **argv)
{
    enum output_format format = OUTPUT_FORMAT_TEXT;
    const struct option_row rows[] = {{.name = "format", .kind = OPTION_FORMAT, .target = &format}};
    struct operands operands;
    struct report report = {0};
    struct error error = {0};
    int exit_code = 0;

    if (options_parse(argc, argv, rows, sizeof rows / sizeof rows[0], "", 0, 0, &operands, &error) != STATUS_OK)
        return command_fail("version", &error);
    if (format == OUTPUT_FORMAT_TEXT) {
        (void)printf("occam %s (revision %s)\nCUDA toolkit at build time: %s\nLicense: GPL-3.0-or-later\n",
                     program_version(), program_revision(), program_has_cuda() ? "found" : "not found");
        return 0;
    }
    report_string(&report, "version", program_version());
    report_string(&report, "revision", program_revision());
    report_bool(&report, "cuda_at_build", program_has_cuda());
    if (report_print(&report, format, NULL, stdout, &error) != STATUS_OK)
        exit_code = command_fail("version", &error);
    report_release(&report);
    return exit_code;
}
