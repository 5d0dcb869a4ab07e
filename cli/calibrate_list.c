/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam calibrate --list`: which calibrations a bare name finds, and whether they still belong to their scenario. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/calibrate.h"
#include "cli/report.h"
#include "evidence/calibration_file.h"
#include "evidence/calibration_list.h"

/* "" where the calibration is of the scenario as it is now. */
static const char *state_of(const struct calibration *calibration, const struct device_catalogue *catalogue)
{
    struct scenario *scenario = NULL;
    struct error ignored = {0};
    const char *state = "";
    if (scenario_read(calibration->scenario, catalogue, calibration->device, &scenario, &ignored) != STATUS_OK) {
        return "its scenario is not here";
    }
    if (scenario_hash(scenario) != calibration->scenario_hash) {
        state = "its scenario has changed: calibrate again";
    }
    scenario_free(scenario);
    return state;
}

static void record(struct report *report, const struct calibration_list_entry *entry,
                   const struct device_catalogue *catalogue)
{
    struct calibration calibration;
    struct error error = {0};
    const enum status status = calibration_file_read(entry->name, &calibration, &error);
    const bool fine = status == STATUS_OK;
    report_begin_object(report, NULL);
    report_string(report, "name", entry->name);
    report_string(report, "origin", entry->built_in ? "built in" : "yours");
    report_string(report, "scenario", fine ? calibration.scenario : NULL);
    report_string(report, "device", fine ? calibration.device : NULL);
    if (fine) {
        report_integer(report, "trained_on", calibration.row_count);
    } else {
        report_string(report, "trained_on", NULL);
    }
    report_string(report, "date", fine ? calibration.date : NULL);
    report_string(report, "state", fine ? state_of(&calibration, catalogue) : error.text);
    report_end(report);
    if (fine) {
        calibration_release(&calibration);
    }
}

enum status calibrate_list(const struct calibrate_options *options, struct error *error)
{
    static const struct report_column columns[] = {
        {"name", "calibration", 0}, {"scenario", "scenario", 0}, {"device", "device", 0}, {"trained_on", "rows", 6},
        {"date", "date", 0},        {"origin", "", 0},           {"state", "", 0},
    };
    struct calibration_list_entry *entries = NULL;
    struct device_catalogue *catalogue = NULL;
    struct report report = {0};
    size_t count = 0;
    enum status status = device_catalogue_create(&catalogue, error);
    status = status == STATUS_OK ? calibration_list_create(&entries, &count, error) : status;
    if (status == STATUS_OK) {
        report_begin_rows(&report, "calibrations");
        for (size_t i = 0; i < count; i++) {
            record(&report, &entries[i], catalogue);
        }
        report_end(&report);
        status = options->format == OUTPUT_FORMAT_TEXT
                     ? report_print_table(&report, "calibrations", columns, sizeof columns / sizeof columns[0], stdout,
                                          error)
                     : report_print(&report, options->format, "calibrations", stdout, error);
    }
    report_release(&report);
    free(entries);
    device_catalogue_free(catalogue);
    return status;
}
