/* SPDX-License-Identifier: GPL-3.0-or-later
 * Help texts of the commands that search: propose, tune. Rows of cli/command_table.c. */
#ifndef OCCAM_CLI_SEARCH_TEXTS_H
#define OCCAM_CLI_SEARCH_TEXTS_H

#include "cli/command_texts.h"

int command_propose(int argc, char **argv);
int command_tune(int argc, char **argv);

#define SEARCH_OPTIONS_HELP                                                                                            \
    "  --objective WHAT      time (one layer, default), throughput@C=96, or learn: lower the uncertainty about\n"      \
    "                        all configurations, by how much of their variance a run settles\n"                        \
    "  --vary NAMES          knobs and workload variables to search, comma-separated; default: all knobs\n"            \
    "  --where EXPR          only configurations for which this is true, as for sweep\n"                               \
    "  --compile-cost T      of every run (default 2s; 0: none); --restart-cost T likewise (default none)\n"           \
    "  --repeats N           how often one run repeats the kernel, for its cost (default 100)\n"                       \
    "  --stop-gain P         stop when no more than P percent is expected to be gained yet (default 1)\n"              \
    "  --seed N              of what is drawn (default 1); the same seed and runs give the same answer\n"

#define PROPOSE_SUMMARY "the next runs worth their cost, ranked, and whether to stop"
#define PROPOSE_USAGE                                                                                                  \
    "propose SCENARIO [--measured FILE ...] [--budget T] [--batch K] [--objective WHAT] [--vary NAMES] [--unsettled "  \
    "NAMES] "                                                                                                          \
    "[--where EXPR] [--compile-cost T] [--restart-cost T] [--repeats N] [--stop-gain P] [--seed N] "                   \
    "[-s NAME=VALUE ...] [--free] [--device D] [--device-file FILE] [--calibration C] [--form FORM] [--level P] "      \
    "[--format text|json|csv]"
#define PROPOSE_HELP                                                                                                   \
    "Ranks the configurations of the knob space that are worth a run by expected gain per second, from the\n"          \
    "model's prediction and the runs so far: prediction with an interval (80 % unless --level says otherwise),\n"      \
    "probability that it runs and that it is the best, why it is proposed (exploit: predicted to be better;\n"         \
    "explore: it may be; settle: noise leaves open which is best; conflict: it tells apart two forms of the\n"         \
    "model that disagree: with and without calibration, formulas and simulator, laws of the step time, values\n"       \
    "of what is --unsettled), cost and limit. Failed runs teach it too. No run is proposed twice unless noise\n"       \
    "calls for it; the best so far is always listed for another run, before the first run the scenario's own\n"        \
    "configuration.\n"                                                                                                 \
    "\n"                                                                                                               \
    "Options:\n"                                                                                                       \
    "  --measured FILE       runs so far: CSV with columns named after the knobs (and workload), time_us (or\n"        \
    "                        time_ns, _ms, _s) or, for throughput, tok_s (and concurrency), and outcome where\n"       \
    "                        not all are ok; as `occam measure` writes them; repeatable. Rows of another GPU\n"        \
    "                        (column device) and times that hold another unit than the name says are refused,\n"       \
    "                        rows of other configurations counted and left out\n"                                      \
    "  --budget T            as many as fit into this time, such as 600s, the best so far included\n"                  \
    "  --unsettled NAMES     knobs that say how a kernel is taken to behave, not what is chosen: not searched,\n"      \
    "                        each other value is one more form of the model\n"                                         \
    "  --batch K             how many at most (default 5), each chosen as if those before it came out as\n"            \
    "                        predicted\n" SEARCH_OPTIONS_HELP QUESTION_OPTIONS_HELP_AT(                                \
        "0.8") "\n"                                                                                                    \
               "Examples:\n"                                                                                           \
               "  occam propose occam-gqa-decode\n"                                                                    \
               "  occam propose occam-gemm-tile --measured runs.csv --budget 600s --batch 20\n"

#define TUNE_SUMMARY "propose, run, record, again, until nothing is expected to be gained"
#define TUNE_USAGE                                                                                                     \
    "tune SCENARIO [--run 'COMMAND {KNOB} ...'|--replay TABLE] [--record FILE] [--ledger FILE] [--budget T] "          \
    "[--runs N] [--output DIR] [--sample-time T] [--cache DIR] [--nvrtc LIBRARY] [--device-backend B] "                \
    "[--fake-fault KIND@N] [--unit U] "                                                                                \
    "[--config-limit T] [--objective WHAT] [--vary NAMES] [--where EXPR] [--compile-cost T] [--restart-cost T] "       \
    "[--repeats N] [--stop-gain P] [--seed N] [-s NAME=VALUE ...] [--free] [--device D] [--device-file FILE] "         \
    "[--calibration C] [--form FORM] [--level P] [--format text|json|csv]"
#define TUNE_HELP                                                                                                      \
    "Runs what `occam propose` would put first, takes the result in, and goes on until too little is expected\n"       \
    "to be gained yet, the budget is spent, or everything was run. Each forecast is written down\n"                    \
    "before its run and each result after it; the same command goes on from there after any interruption.\n"           \
    "Without --run and --replay the verification kernel that the scenario describes is measured on the GPU\n"          \
    "here, as `occam measure` does it; only what can be built and launched is proposed. --record or --ledger\n"        \
    "keeps a search; our own kernels always have a ledger, and rows with all samples in --output. The exit code is\n"  \
    "1 when no run gave a result.\n"                                                                                   \
    "\n"                                                                                                               \
    "Options:\n"                                                                                                       \
    "  --run COMMAND         is given to /bin/sh with every {name} replaced by the value of that knob or\n"            \
    "                        workload variable ({{ is a brace). The last number in its output with a unit of\n"        \
    "                        what is asked for is the result (9us, 9 ms/step, time [ms]: 9, time_ms=9, 0m3.2s;\n"      \
    "                        100 tok/s), without one the last bare number (12.5): not v2, 10x or 3rd. Any exit\n"      \
    "                        code but 0, or no number, is a failed run. 1,234 us is 1234 us; 12,5 or 1 234 us\n"       \
    "                        ends the search\n"                                                                        \
    "  --unit U              of a number printed without one, for the objective time: ns, us (default), ms\n"          \
    "                        or s; with throughput it is tokens per second. A unit that is printed counts;\n"          \
    "                        only numbers of the wrong kind or with an unknown unit (9 runs) end the search\n"         \
    "  --config-limit T      a run that takes longer is ended and counts as failed (default none; our own\n"           \
    "                        kernels: 30s)\n"                                                                          \
    "  --replay TABLE        take results from a measurement table instead; only its configurations are\n"             \
    "                        searched\n"                                                                               \
    "  --record FILE         append-only CSV of forecasts (outcome frozen) and runs; read first if it is there;\n"     \
    "                        fit for --measured of propose\n"                                                          \
    "  --ledger FILE         keep forecasts and runs in this ledger (`occam ledger`); without --record what it\n"      \
    "                        holds of the same search is taken in first. For our own kernels the default is\n"         \
    "                        the usual ledger\n"                                                                       \
    "  --budget T            end after this time in runs, of which the last may be over it; for our own\n"             \
    "                        kernels all time since the start, compiling too; a replay counts the stated costs\n"      \
    "  --runs N              end after N runs\n"                                                                       \
    "  --output DIR          rows of our own kernels as `occam measure` writes them (default measurements)\n"          \
    "  --sample-time T       to spend on the samples of a configuration (default 100ms)\n"                             \
    "  --cache DIR           keep compiled code there (default: code/ in --output)\n"                                  \
    "  --nvrtc LIBRARY       the run-time compiler, where it is not found by itself; none: only what is built\n"       \
    "                        in or cached is proposed\n"                                                               \
    "  --device-backend B    cuda (default), or fake: a device made of nothing, with --fake-fault KIND@N as for\n"     \
    "                        measure\n" SEARCH_OPTIONS_HELP QUESTION_OPTIONS_HELP_AT(                                  \
        "0.8") "\n"                                                                                                    \
               "Examples:\n"                                                                                           \
               "  occam tune occam-gqa-decode --budget 60s\n"                                                          \
               "  occam tune occam-gqa-decode --replay data/measurements/nvidia-h200/gqa_decode.csv\n"                 \
               "  occam tune my.yaml --record my.csv --budget 1h --run './bench --warps {num_warps} --stages "         \
               "{num_stages}'\n"

#endif
