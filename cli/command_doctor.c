/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam doctor`: one line per thing that can be found or missing here, and what it is needed for. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/command_texts.h"
#include "cli/doctor_probe.h"
#include "cli/options.h"
#include "cli/program_version.h"
#include "cli/report.h"
#include "evidence/device_catalogue.h"
#include "evidence/embedded_data.h"
#include "kernels/measure.h"

static struct probe probe_devices(void)
{
    struct device_catalogue *catalogue = NULL;
    struct probe result = {.found = false};
    struct error error = {0};
    size_t own = 0, count;

    if (device_catalogue_create(&catalogue, &error) != STATUS_OK) {
        (void)error_describe(&error, result.text, sizeof result.text);
        return result;
    }
    count = device_catalogue_count(catalogue);
    for (size_t i = 0; i < count; i++)
        own += strcmp(device_catalogue_origin(catalogue, device_catalogue_get(catalogue, i)), "built in") != 0;
    result.found = true;
    (void)snprintf(result.text, sizeof result.text, "%zu GPUs and compute capabilities, %zu of them your own", count,
                   own);
    device_catalogue_free(catalogue);
    return result;
}

/* Names, without folder and ending, of the built-in files below a folder of data/. */
static struct probe probe_embedded(const char *folder, const char *none)
{
    struct probe result = {.found = false};
    size_t length = strlen(folder), used = 0;

    for (size_t i = 0; i < embedded_file_count; i++) {
        const char *path = embedded_files[i].path;

        if (strncmp(path, folder, length) != 0)
            continue;
        int name_length = (int)strcspn(path + length, ".");
        int added = snprintf(result.text + used, sizeof result.text - used, "%s%.*s",
                             result.found ? ", " : "built in: ", name_length, path + length);

        if (added < 0 || (size_t)added >= sizeof result.text - used)
            break;
        used += (size_t)added;
        result.found = true;
    }
    if (!result.found)
        (void)snprintf(result.text, sizeof result.text, "%s", none);
    return result;
}

static struct probe probe_kernel_code(void)
{
    struct probe result;

    result.found = measure_embedded_describe(result.text, sizeof result.text) > 0;
    return result;
}

/* The same places as evidence/device_catalogue reads. */
static struct probe probe_user_directory(void)
{
    const char *directory = getenv("OCCAM_DEVICE_DIR"), *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    struct probe result = {.found = false};
    char path[PROBE_TEXT_SIZE / 2];
    DIR *listing;

    if (directory != NULL && *directory != '\0')
        (void)snprintf(path, sizeof path, "%s", directory);
    else if (config != NULL && *config != '\0')
        (void)snprintf(path, sizeof path, "%s/occam/devices", config);
    else
        (void)snprintf(path, sizeof path, "%s/.config/occam/devices", home == NULL ? "" : home);
    listing = opendir(path);
    result.found = listing != NULL;
    if (listing != NULL)
        (void)closedir(listing);
    (void)snprintf(result.text, sizeof result.text, "%s%s", path, result.found ? "" : " is not there");
    return result;
}

static void record_probe(struct report *report, const char *name, struct probe probe, const char *needed_for)
{
    report_begin_object(report, NULL);
    report_string(report, "item", name);
    report_string(report, "state", probe.found ? "found" : "missing");
    report_string(report, "detail", probe.text);
    report_string(report, "needed_for", needed_for);
    report_end(report);
}

static void record_all(struct report *report)
{
    report_begin_rows(report, "items");
    record_probe(report, "GPU and driver", probe_gpu(), "measuring; predictions need no GPU");
    record_probe(report, "nvcc", probe_nvcc(), "building the measurement kernels");
    record_probe(report, "NVRTC", probe_nvrtc(), "compiling measurement kernels for one configuration at run time");
    record_probe(report, "built-in kernel code", probe_kernel_code(), "measuring without NVRTC");
    record_probe(report, "gnuplot", probe_gnuplot(), "occam plot");
    record_probe(report, "devices", probe_devices(), "every prediction");
    record_probe(report, "own device files", probe_user_directory(), "GPUs that are not built in");
    record_probe(report, "scenarios", probe_embedded("scenarios/", "none is built in"), "scenarios by name alone");
    record_probe(report, "resource tables", probe_embedded("resources/", "none is built in"),
                 "registers and SMEM as compiled; else they are assumed or come from formulas");
    record_probe(report, "calibrations",
                 probe_embedded("calibrations/", "none: kernel times are uncalibrated, their intervals wide"),
                 "narrow intervals of kernel times");
    report_end(report);
}

int command_doctor(int argc, char **argv)
{
    static const struct report_column columns[] = {
        {"item", "item", 0}, {"state", "state", 0}, {"needed_for", "needed for", 0}, {"detail", "detail", 0}};
    enum output_format format = OUTPUT_FORMAT_TEXT;
    const struct option_row rows[] = {{.name = "format", .kind = OPTION_FORMAT, .target = &format}};
    struct report report = {0};
    struct operands operands;
    struct error error = {0};
    enum status status = options_parse(argc, argv, rows, sizeof rows / sizeof rows[0], "", 0, 0, &operands, &error);

    if (status == STATUS_OK) {
        record_all(&report);
        if (format == OUTPUT_FORMAT_TEXT) {
            (void)printf("occam %s (revision %s)\n\n", program_version(), program_revision());
            status = report_print_table(&report, "items", columns, sizeof columns / sizeof columns[0], stdout, &error);
        } else {
            status = report_print(&report, format, "items", stdout, &error);
        }
    }
    report_release(&report);
    return status == STATUS_OK ? 0 : command_fail("doctor", &error);
}
