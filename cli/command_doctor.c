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

struct doctor_item {
    const char *name, *needed_for;
    struct probe probe;
};

enum {
    ITEMS_MAX = 16,
    TEXT_COLUMNS = 100,
    TEXT_INDENT = 31 /* of what is said about an item */
};

static size_t probe_all(struct doctor_item items[ITEMS_MAX])
{
    const struct doctor_item all[] = {
        {"GPU and driver", "measuring; predictions need no GPU", probe_gpu()},
        {"nvcc", "building the measurement kernels", probe_nvcc()},
        {"NVRTC", "compiling measurement kernels for one configuration at run time", probe_nvrtc()},
        {"built-in kernel code", "measuring without NVRTC", probe_kernel_code()},
        {"gnuplot", "occam plot", probe_gnuplot()},
        {"devices", "every prediction", probe_devices()},
        {"own device files", "GPUs that are not built in", probe_user_directory()},
        {"scenarios", "scenarios by name alone", probe_embedded("scenarios/", "none is built in")},
        {"resource tables", "registers and SMEM as compiled; else they are assumed or come from formulas",
         probe_embedded("resources/", "none is built in")},
        {"calibrations", "narrow intervals of kernel times",
         probe_embedded("calibrations/", "none: kernel times are uncalibrated, their intervals wide")},
    };

    memcpy(items, all, sizeof all);
    return sizeof all / sizeof all[0];
}

static void record_items(struct report *report, const struct doctor_item *items, size_t count)
{
    report_begin_rows(report, "items");
    for (size_t i = 0; i < count; i++) {
        report_begin_object(report, NULL);
        report_string(report, "item", items[i].name);
        report_string(report, "state", items[i].probe.found ? "found" : "missing");
        report_string(report, "detail", items[i].probe.text);
        report_string(report, "needed_for", items[i].needed_for);
        report_end(report);
    }
    report_end(report);
}

/* Words from column TEXT_INDENT on, where the cursor stands; a word wider than the line stays whole (paths are to be
 * copied). Ends the line. */
static void print_wrapped(const char *text)
{
    size_t column = TEXT_INDENT;

    while (*text != '\0') {
        const size_t length = strcspn(text, " ");

        if (column > TEXT_INDENT && column + 1 + length > TEXT_COLUMNS) {
            (void)printf("\n%*s", TEXT_INDENT, "");
            column = TEXT_INDENT;
        }
        (void)printf("%s%.*s", column > TEXT_INDENT ? " " : "", (int)length, text);
        column += (column > TEXT_INDENT) + length;
        text += length + strspn(text + length, " ");
    }
    (void)printf("\n");
}

static void print_items(const struct doctor_item *items, size_t count)
{
    char needed[200];

    (void)printf("occam %s (revision %s)\n\n", program_version(), program_revision());
    (void)printf("%-20s  %-7s  %s\n", "item", "state", "what is there; what it is needed for");
    for (size_t i = 0; i < count; i++) {
        (void)printf("%-20s  %-7s  ", items[i].name, items[i].probe.found ? "found" : "missing");
        print_wrapped(items[i].probe.text);
        (void)printf("%*s", TEXT_INDENT, "");
        (void)snprintf(needed, sizeof needed, "for: %s", items[i].needed_for);
        print_wrapped(needed);
    }
}

int command_doctor(int argc, char **argv)
{
    enum output_format format = OUTPUT_FORMAT_TEXT;
    const struct option_row rows[] = {{.name = "format", .kind = OPTION_FORMAT, .target = &format}};
    struct doctor_item items[ITEMS_MAX];
    struct report report = {0};
    struct operands operands;
    struct error error = {0};
    enum status status = options_parse(argc, argv, rows, sizeof rows / sizeof rows[0], "", 0, 0, &operands, &error);

    if (status == STATUS_OK) {
        const size_t count = probe_all(items);

        if (format == OUTPUT_FORMAT_TEXT) {
            print_items(items, count);
        } else {
            record_items(&report, items, count);
            status = report_print(&report, format, "items", stdout, &error);
        }
    }
    report_release(&report);
    return status == STATUS_OK ? 0 : command_fail("doctor", &error);
}
