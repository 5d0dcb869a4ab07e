/* SPDX-License-Identifier: GPL-3.0-or-later
 * Help texts of the commands that keep experiments: hypothesis, judge, ledger. Rows of cli/command_table.c. */
#ifndef OCCAM_CLI_EXPERIMENT_TEXTS_H
#define OCCAM_CLI_EXPERIMENT_TEXTS_H

#include "cli/command_texts.h"

int command_hypothesis(int argc, char **argv);
int command_judge(int argc, char **argv);
int command_ledger(int argc, char **argv);

#define LEDGER_OPTION_HELP                                                                                             \
    "  --ledger FILE         the record of experiments; default: $OCCAM_LEDGER, else occam/ledger.sqlite in\n"         \
    "                        $XDG_DATA_HOME or ~/.local/share\n"

#define HYPOTHESIS_SUMMARY "freeze a prediction before there is data"
#define HYPOTHESIS_USAGE                                                                                               \
    "hypothesis STATEMENT --scenario S --change NAME=VALUE ... [--claim raises|lowers|changes] "                       \
    "[--concurrency LIST] [--ledger FILE] [--device D] [--device-file FILE] [--calibration C] [--form FORM] "          \
    "[--level P] [--free] [--format text|json|csv]"
#define HYPOTHESIS_HELP                                                                                                \
    "Writes the statement and what the model predicts of it, with interval and mechanism, into the ledger,\n"          \
    "where neither can be changed any more. `occam judge --hypothesis ID` compares it with what was measured.\n"       \
    "Refused (exit code 1) once runs of this variant are in the ledger. A variant that cannot be launched is\n"        \
    "recorded as refuted without a run, with what would make it fit.\n"                                                \
    "\n"                                                                                                               \
    "Options:\n"                                                                                                       \
    "  --scenario S          file or name of the scenario; its base is what the change is compared with\n"             \
    "  --change NAME=VALUE   the change; repeatable; -s is the same\n"                                                 \
    "  --claim DIRECTION     what the statement says of the speed: raises, lowers or changes; default: read from\n"    \
    "                        the statement (\"lowers latency\" raises the speed). Needed where it denies something,\n" \
    "                        says both, or speaks of another quantity or configuration; it must not contradict\n"      \
    "                        what the statement says clearly\n"                                                        \
    "  --concurrency LIST    conditions to predict, such as 1,8,96; default: the scenario's own\n" LEDGER_OPTION_HELP  \
    "  --free                accept knob values outside the scenario's lists\n"                                        \
    "  --device NAME         another GPU than the scenario's\n" DEVICE_FILE_OPTION_HELP CALIBRATION_OPTION_HELP        \
        FORM_OPTION_HELP                                                                                               \
    "  --level P             coverage asked of intervals, 0.5 to 0.999 (default 0.9)\n" FORMAT_OPTION_HELP "\n"        \
    "Examples:\n"                                                                                                      \
    "  occam hypothesis \"num_warps=8 raises throughput\" --scenario dsv4-flash-sparse-decode \\\n"                    \
    "    --change num_warps=8 --concurrency 1,8,96\n"

#define JUDGE_SUMMARY "verdict on a measured change: supported, refuted or inconclusive"
#define JUDGE_USAGE                                                                                                    \
    "judge BASE VARIANT [--hypothesis ID] [--claim raises|lowers|changes] [--revert] [--metric COLUMN] "               \
    "[--by COLUMN,...] [--level P] [--noise PERCENT] [--margin PERCENT] [--ledger FILE] "                              \
    "[--format text|json|csv] | judge --power [--noise PERCENT] [--conditions N]"
#define JUDGE_HELP                                                                                                     \
    "BASE and VARIANT are CSV files with a column for the result (tokens_per_s, time_us, ...), columns for the\n"      \
    "conditions (concurrency, ...), and a row for each run; or result files of serving benchmarks. Says per\n"         \
    "condition by which ratio the variant differs, with its interval, and over all conditions together whether\n"      \
    "the claim is supported, refuted or inconclusive, and which effect would have been seen. Rows with the same\n"     \
    "`pair`, or that took turns by `date`, are compared in pairs. Where nothing was repeated, the noise of one\n"      \
    "run is assumed (--noise), and the answer says so.\n"                                                              \
    "With --hypothesis the runs and the verdict go into the ledger, and the frozen intervals are judged too; only\n"   \
    "data of the quantity that was frozen are taken, and some of a frozen condition must be among them.\n"             \
    "The exit code is 1 for refuted and for not restored, else 0.\n"                                                   \
    "\n"                                                                                                               \
    "Options:\n"                                                                                                       \
    "  --hypothesis ID       a hypothesis of the ledger\n"                                                             \
    "  --claim DIRECTION     without a hypothesis: what is claimed of the speed (default changes)\n"                   \
    "  --revert              is VARIANT the same as BASE again? restored, not restored, or inconclusive\n"             \
    "  --metric COLUMN       the result; a time by its name (_us, _ms, _s, latency) is better the less it is, a\n"     \
    "                        rate such as tok_s or gb_s the more; the answer says which it was taken for\n"            \
    "  --by COLUMN,...       columns of the conditions; default: the known ones that both files have\n"                \
    "  --level P             of the intervals, and of all verdicts together (default 0.95)\n"                          \
    "  --noise PERCENT       relative standard deviation of a run that was not repeated (default 2)\n"                 \
    "  --margin PERCENT      with --revert: what counts as the same (default 2)\n"                                     \
    "  --power               which effect would be seen, by number of runs; needs no files\n"                          \
    "  --conditions N        with --power: judged together (default 1)\n" LEDGER_OPTION_HELP FORMAT_OPTION_HELP "\n"   \
    "Examples:\n"                                                                                                      \
    "  occam judge base.csv variant.csv --claim raises\n"                                                              \
    "  occam judge base.csv variant.csv --hypothesis 1\n"                                                              \
    "  occam judge base.csv after-revert.csv --revert\n"                                                               \
    "  occam judge --power --noise 2 --conditions 3\n"

#define LEDGER_SUMMARY "the record of experiments: list, show, export, check, scorecard"
#define LEDGER_USAGE                                                                                                   \
    "ledger [list | show ID | export | check | scorecard] [--table NAME] [--all] [--seal HEX] [--ledger FILE] "        \
    "[--format text|json|csv]"
#define LEDGER_HELP                                                                                                    \
    "  list        hypotheses with their verdicts; the default\n"                                                      \
    "  show ID     one hypothesis: predictions, runs, verdicts\n"                                                      \
    "  export      every row of every table, as text that needs no occam to read, or as JSON\n"                        \
    "  check       looks for damage and for rows that are not as they were written, and prints the last seal, which\n" \
    "              stands for all rows so far; the exit code is 1 when there is any\n"                                 \
    "  scorecard   how good the frozen predictions have been: coverage by level, bias, CRPS; those of recorded rows\n" \
    "              (tune --replay) and of a fake device stand by themselves\n"                                         \
    "\n"                                                                                                               \
    "Rows are only ever added; a correction is a row that names the one it replaces.\n"                                \
    "\n"                                                                                                               \
    "Options:\n"                                                                                                       \
    "  --table NAME          export: this table alone (needed for csv): scenario, calibration, hypothesis,\n"          \
    "                        prediction, run, sample, verdict, correction\n"                                           \
    "  --seal HEX            check: a seal that was noted earlier must still be there. Without one, who makes all\n"   \
    "                        seals after a changed row anew is not found\n"                                            \
    "  --all                 export: also rows that a correction has replaced\n" LEDGER_OPTION_HELP FORMAT_OPTION_HELP \
    "\n"                                                                                                               \
    "Examples:\n"                                                                                                      \
    "  occam ledger\n"                                                                                                 \
    "  occam ledger show 1\n"                                                                                          \
    "  occam ledger export --format json\n"

#endif
