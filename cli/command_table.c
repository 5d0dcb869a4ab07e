/* SPDX-License-Identifier: GPL-3.0-or-later
 * The one table of commands; a row per command, its text beside its code. */
#include <string.h>

#include "cli/command.h"
#include "cli/command_texts.h"
#include "cli/experiment_texts.h"
#include "cli/search_texts.h"

const struct command command_table[] = {
    {"devices", DEVICES_SUMMARY, DEVICES_USAGE, DEVICES_HELP, command_devices},
    {"occupancy", OCCUPANCY_SUMMARY, OCCUPANCY_USAGE, OCCUPANCY_HELP, command_occupancy},
    {"inspect", INSPECT_SUMMARY, INSPECT_USAGE, INSPECT_HELP, command_inspect},
    {"reconcile", RECONCILE_SUMMARY, RECONCILE_USAGE, RECONCILE_HELP, command_reconcile},
    {"predict", PREDICT_SUMMARY, PREDICT_USAGE, PREDICT_HELP, command_predict},
    {"curve", CURVE_SUMMARY, CURVE_USAGE, CURVE_HELP, command_curve},
    {"whatif", WHATIF_SUMMARY, WHATIF_USAGE, WHATIF_HELP, command_whatif},
    {"sweep", SWEEP_SUMMARY, SWEEP_USAGE, SWEEP_HELP, command_sweep},
    {"measure", MEASURE_SUMMARY, MEASURE_USAGE, MEASURE_HELP, command_measure},
    {"calibrate", CALIBRATE_SUMMARY, CALIBRATE_USAGE, CALIBRATE_HELP, command_calibrate},
    {"simulate", SIMULATE_SUMMARY, SIMULATE_USAGE, SIMULATE_HELP, command_simulate},
    {"validate", VALIDATE_SUMMARY, VALIDATE_USAGE, VALIDATE_HELP, command_validate},
    {"compare", COMPARE_SUMMARY, COMPARE_USAGE, COMPARE_HELP, command_compare},
    {"hypothesis", HYPOTHESIS_SUMMARY, HYPOTHESIS_USAGE, HYPOTHESIS_HELP, command_hypothesis},
    {"judge", JUDGE_SUMMARY, JUDGE_USAGE, JUDGE_HELP, command_judge},
    {"ledger", LEDGER_SUMMARY, LEDGER_USAGE, LEDGER_HELP, command_ledger},
    {"propose", PROPOSE_SUMMARY, PROPOSE_USAGE, PROPOSE_HELP, command_propose},
    {"tune", TUNE_SUMMARY, TUNE_USAGE, TUNE_HELP, command_tune},
    {"plot", PLOT_SUMMARY, PLOT_USAGE, PLOT_HELP, command_plot},
    {"report", REPORT_SUMMARY, REPORT_USAGE, REPORT_HELP, command_report},
    {"doctor", DOCTOR_SUMMARY, DOCTOR_USAGE, DOCTOR_HELP, command_doctor},
    {"version", VERSION_SUMMARY, VERSION_USAGE, VERSION_HELP, command_version},
    {"help", HELP_SUMMARY, HELP_USAGE, HELP_HELP, command_help},
};
const size_t command_count = sizeof command_table / sizeof command_table[0];

const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < command_count; i++)
        if (strcmp(command_table[i].name, name) == 0)
            return &command_table[i];
    return NULL;
}
