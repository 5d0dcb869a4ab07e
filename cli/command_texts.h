/* SPDX-License-Identifier: GPL-3.0-or-later
 * What `occam help` says of each command, and the commands' entry points. Read by cli/command_table.c; the man page and
 * the completion follow these texts. */
#ifndef OCCAM_CLI_COMMAND_TEXTS_H
#define OCCAM_CLI_COMMAND_TEXTS_H

#include "cli/simulate_serving_texts.h"

int command_devices(int argc, char **argv);
int command_occupancy(int argc, char **argv);
int command_inspect(int argc, char **argv);
int command_reconcile(int argc, char **argv);
int command_predict(int argc, char **argv);
int command_curve(int argc, char **argv);
int command_whatif(int argc, char **argv);
int command_sweep(int argc, char **argv);
int command_measure(int argc, char **argv);
int command_calibrate(int argc, char **argv);
int command_simulate(int argc, char **argv);
int command_validate(int argc, char **argv);
int command_compare(int argc, char **argv);
int command_plot(int argc, char **argv);
int command_report(int argc, char **argv);
int command_doctor(int argc, char **argv);
int command_version(int argc, char **argv);
int command_help(int argc, char **argv);

/* Options that several commands share; docs/DATA.md describes the output. */
#define FORMAT_OPTION_HELP                                                                                             \
    "  --format FORM         text (default), json or csv; keys and columns carry units and are described\n"            \
    "                        in docs/DATA.md\n"
#define DEVICE_FILE_OPTION_HELP "  --device-file FILE    read one more GPU from this file (format: docs/DATA.md)\n"
#define CALIBRATION_OPTION_HELP                                                                                        \
    "  --calibration NAME    use this calibration (a file, or a name), or none; default: the scenario's own\n"
#define FORM_OPTION_HELP                                                                                               \
    "  --form FORM           law of the step time: given, auto, committee, line, coverage, power, sqrt,\n"             \
    "                        saturating, padded or hinge; default: the scenario's own. auto fits all to the\n"         \
    "                        measured points and chooses by leave-one-out error, if the points can\n"                  \
    "                        choose; committee is the mean of the forms that they cannot tell apart\n"
/* level: what intervals cover unless --level says otherwise. */
#define QUESTION_OPTIONS_HELP_AT(level)                                                                                \
    "  -s, --set NAME=VALUE  set a knob or workload variable; repeatable\n"                                            \
    "  --free                accept knob values outside the scenario's lists; workload values pass without it\n"       \
    "  --device NAME         another GPU than the scenario's\n" DEVICE_FILE_OPTION_HELP                                \
    "  --calibration NAME    use this calibration (a file, or a name), or none; default: the scenario's "              \
    "own\n" FORM_OPTION_HELP "  --level P             coverage asked of intervals, 0.5 to 0.999 (default " level       \
    ")\n" FORMAT_OPTION_HELP
#define QUESTION_OPTIONS_HELP QUESTION_OPTIONS_HELP_AT("0.9")
#define CURVE_OPTIONS_HELP                                                                                             \
    "  --concurrency LIST    requests in the running batch, such as 1,8,96; default: the scenario's list\n"            \
    "  --measured FILE       measured points, which take the place of the scenario's: CSV with a column\n"             \
    "                        concurrency and one of tok_s (all requests together), step_ms or itl_ms; or\n"            \
    "                        results of vllm bench serve, SGLang, AIPerf, GenAI-Perf, GuideLLM, llama.cpp\n"           \
    "                        or InferenceX, a file or a folder of them; repeatable. With tok_s beside a\n"             \
    "                        time the fit is to the batch that ran, tok_s x time\n"                                    \
    "  --series TEXT         where the results hold several deployments or workloads: the one whose\n"                 \
    "                        description has TEXT in it, or its number\n"                                              \
    "  --experts E --experts-per-token K\n"                                                                            \
    "                        experts of a layer and how many a token uses, for the coverage form\n"                    \
    "  --itl-limit-ms T      name the largest concurrency whose inter-token latency stays within T\n"

#define DEVICES_SUMMARY "known GPUs, every figure with unit and source"
#define DEVICES_USAGE   "devices [NAME] [--device-file FILE] [--format text|json|csv]"
#define DEVICES_HELP                                                                                                   \
    "Without a name, lists the GPUs that are known: built in, from $OCCAM_DEVICE_DIR (or\n"                            \
    "~/.config/occam/devices), and from --device-file. With a name, prints every figure of that GPU with\n"            \
    "unit, kind of source, citation and notes, and the limits of its compute capability.\n"                            \
    "Case, hyphens and a leading \"nvidia\" do not matter; sm_120 or 12.0 name a compute capability alone.\n"          \
    "\n"                                                                                                               \
    "Options:\n" DEVICE_FILE_OPTION_HELP FORMAT_OPTION_HELP "\n"                                                       \
    "Examples:\n"                                                                                                      \
    "  occam devices\n"                                                                                                \
    "  occam devices 'RTX PRO 6000 Blackwell Server'\n"                                                                \
    "  occam devices sm_90 --format json\n"

#define OCCUPANCY_SUMMARY "resident CTAs per SM, their limiter, what one more CTA would need"
#define OCCUPANCY_USAGE                                                                                                \
    "occupancy --device D --threads N --registers N [--smem B] [--static-smem B] [--carveout P] "                      \
    "[--barriers N] [--cluster N] [--format text|json|csv]"
#define OCCUPANCY_HELP                                                                                                 \
    "Exact for compute capability 7.0 to 12.1. A launch that cannot run is an answer too: feasible is\n"               \
    "false, the reason is printed, and the exit code is 0.\n"                                                          \
    "\n"                                                                                                               \
    "Options:\n"                                                                                                       \
    "  --device D            GPU or compute capability, such as nvidia-h200 or sm_120\n"                               \
    "  --threads N           threads per CTA\n"                                                                        \
    "  --registers N         registers per thread\n"                                                                   \
    "  --smem B              dynamic shared memory per CTA: bytes, or such as 48KiB (default 0)\n"                     \
    "  --static-smem B       static shared memory per CTA, likewise (default 0)\n"                                     \
    "  --carveout P          preferred share of the unified cache for shared memory, 0 to 100 percent;\n"              \
    "                        default: as much as fits\n"                                                               \
    "  --barriers N          named barriers per CTA (default 1)\n"                                                     \
    "  --cluster N           CTAs per cluster (default 1: no clusters)\n" DEVICE_FILE_OPTION_HELP FORMAT_OPTION_HELP   \
    "\n"                                                                                                               \
    "Examples:\n"                                                                                                      \
    "  occam occupancy --device sm_120 --threads 128 --registers 255 --smem 80000\n"                                   \
    "  occam occupancy --device h200 --threads 256 --registers 64 --smem 49152 --format json\n"

#define INSPECT_SUMMARY                                                                                                \
    "what files say of kernels: traces, profilers' tables, compiled code and its loops, tuners, benchmarks"
#define INSPECT_USAGE                                                                                                  \
    "inspect FILE|FOLDER ... [--as table|loops|scenario|measurements|curve] [--output FILE] "                          \
    "[--column NAME=VALUE] [--kernel NAME] [--arch A] [--warps N] [--loops] [--listing auto|ptx|sass] "                \
    "[--format text|json|csv]"
#define INSPECT_HELP                                                                                                   \
    "Reads cubins, PTX, SASS (cuobjdump -sass, nvdisasm), logs of ptxas -v and NVRTC, reports of cuobjdump\n"          \
    "-res-usage, Triton's JSON, and folders of them such as a Triton cache. Files of one folder and stem are\n"        \
    "put together by kernel and architecture. SMEM is told without the 1024 bytes that the device reserves.\n"         \
    "What a file does not say stays empty; <= and >= mark bounds.\n"                                                   \
    "Also reads, told apart by content: traces (Kineto), Nsight Compute CSV, Nsight Systems CSV and SQLite,\n"         \
    "Triton's autotune files and output, Kernel Tuner, T4 and KTT results, MoE kernel configurations, and\n"           \
    "results of serving benchmarks. All claims then stand in one table.\n"                                             \
    "\n"                                                                                                               \
    "Options:\n"                                                                                                       \
    "  --as FORM             table (default); loops: a CSV table of all variants that a scenario's\n"                  \
    "                        loop: {from: ...} reads; scenario: a scenario whose launch and loop are the\n"            \
    "                        code's, with questions where no file tells; a launch in a trace or\n"                     \
    "                        table gives it grid and GPU; measurements: timed configurations as CSV for\n"             \
    "                        calibrate and validate; curve: points of a benchmark for occam curve\n"                   \
    "  -o, --output FILE     write there instead; a scenario FILE.yaml gets its table FILE.csv beside it\n"            \
    "  --column NAME=VALUE   with --as measurements: one more column, such as M=4096 or the value of a knob of\n"      \
    "                        the file, BLOCK=BM; repeatable\n"                                                         \
    "  --kernel NAME         this kernel only\n"                                                                       \
    "  --arch A              this architecture only, such as sm_90\n"                                                  \
    "  --warps N             warps per CTA for the loops of kernels of which no file tells the threads\n"              \
    "  --loops               print the main loop of every variant, not only where there are one or two\n"              \
    "  --listing KIND        where the loop is read: auto (default: SASS where there is one), ptx or "                 \
    "sass\n" FORMAT_OPTION_HELP "\n"                                                                                   \
    "An index.csv in a folder (column file: names without ending) names the knobs of its variants.\n"                  \
    "\n"                                                                                                               \
    "Examples:\n"                                                                                                      \
    "  occam inspect kernel.cubin kernel.ptx\n"                                                                        \
    "  occam inspect ~/.triton/cache --kernel split_kernel --format csv\n"                                             \
    "  occam inspect ~/.triton/cache --kernel split_kernel --arch sm_90 --as scenario --output split.yaml\n"

#define RECONCILE_SUMMARY "evidence about one kernel weighed: agreement, conflict, and whether it changes anything"
#define RECONCILE_USAGE                                                                                                \
    "reconcile [PATH ...] [--claim \"NAME=VALUE ...\"] [--scenario S [-s NAME=VALUE ...]] [--kernel K] [--device D] "  \
    "[--device-file FILE] [--calibration C] [--level P] [--format text|json|csv]"
#define RECONCILE_HELP                                                                                                 \
    "Reads what `occam inspect` reads and puts the claims about each kernel together: which build explains\n"          \
    "which launch, where the sources agree once the known traps are taken out (the reserve of 1024 bytes,\n"           \
    "launched against resident, sizes rounded to MB), and where they truly contradict each other. A conflict\n"        \
    "is settled by what kind of source says it: what ran over what was built over what was asked for. Above\n"         \
    "all it says whether the conflict changes a conclusion: CTAs per SM, what fits, predicted time.\n"                 \
    "\n"                                                                                                               \
    "Options:\n"                                                                                                       \
    "  --claim \"WORDS\"       a claim that was only read somewhere; repeatable. source=trace|nsys|nsys-table|\n"      \
    "                        ncu|cubin|ptxas|cuobjdump|cache|ptx|autotune|inductor|table (without: trusted\n"          \
    "                        least), kernel=, arch=, device=, and figures: smem_bytes, registers, threads, "           \
    "num_warps,\n"                                                                                                     \
    "                        num_stages, ... Values with KB, MB, KiB or MiB are as exact as their digits\n"            \
    "  --scenario S          turns the formulas of this scenario round: which knobs give each value, which\n"          \
    "                        neighbours then fit, what the predicted time is\n"                                        \
    "  -s, --set NAME=VALUE  set a knob or workload variable of it; repeatable\n"                                      \
    "  --kernel K            this kernel only; the scenario is then about it\n"                                        \
    "  --device D            judge for this GPU or sm_; repeatable. Default: the scenario's, else the claims',\n"      \
    "                        else every compute capability in use\n" DEVICE_FILE_OPTION_HELP CALIBRATION_OPTION_HELP   \
    "  --level P             coverage asked of intervals, 0.5 to 0.999 (default 0.9)\n" FORMAT_OPTION_HELP "\n"        \
    "Exit code 1: a conflict changes a conclusion; 0: there is none, or it changes nothing.\n"                         \
    "\n"                                                                                                               \
    "Examples:\n"                                                                                                      \
    "  occam reconcile trace.json.gz ~/.triton/cache --kernel mma_sparse_decode_split\n"                               \
    "  occam reconcile --claim \"smem_bytes=80000 registers=255 threads=128 source=trace\" \\\n"                       \
    "      --claim \"smem_bytes=61568 source=cache\" --scenario dsv4-flash-sparse-decode\n"

#define PREDICT_SUMMARY "one configuration: does it fit, how long does it take, why"
#define PREDICT_USAGE                                                                                                  \
    "predict SCENARIO [-s NAME=VALUE ...] [--configs FILE] [--free] [--device D] [--device-file FILE] "                \
    "[--calibration C] [--form FORM] [--level P] "                                                                     \
    "[--format text|json|csv]"
#define PREDICT_HELP                                                                                                   \
    "Feasibility, occupancy, waves, kernel time with interval and shares of what limits it, step time and\n"           \
    "throughput of one configuration. SCENARIO is a YAML file or the name of one that is built in.\n"                  \
    "kernel_time is the time of all kernels of one layer, in order; registers, SMEM, grid and waves are\n"             \
    "those of the first kernel. An infeasible configuration is an answer: the exit code is 0, the text says\n"         \
    "by how many bytes and lists the smallest changes that make it fit.\n"                                             \
    "ITL (inter-token latency) is the time between two tokens of one request: the step time divided by the\n"          \
    "tokens per step and request. Throughput counts the tokens of all requests together.\n"                            \
    "\n"                                                                                                               \
    "Options:\n"                                                                                                       \
    "  --configs FILE        many configurations at once: CSV whose columns are knobs or workload variables,\n"        \
    "                        - for standard input; one row of the answer for each, in their "                          \
    "order\n" QUESTION_OPTIONS_HELP "\n"                                                                               \
    "Examples:\n"                                                                                                      \
    "  occam predict dsv4-flash-sparse-decode\n"                                                                       \
    "  occam predict dsv4-flash-sparse-decode -s num_stages=3\n"                                                       \
    "  occam predict my-kernel.yaml -s C=8 --device nvidia-h200 --format json\n"                                       \
    "  occam predict triton-gemm --configs configs.csv --format csv\n"

#define CURVE_SUMMARY "throughput, step time, per-request speed over concurrency"
#define CURVE_USAGE                                                                                                    \
    "curve [SCENARIO] [-s NAME=VALUE ...] [--concurrency LIST] [--measured FILE ...] [--series TEXT] "                 \
    "[--experts E --experts-per-token K] "                                                                             \
    "[--itl-limit-ms T] [--free] [--device D] [--device-file FILE] "                                                   \
    "[--calibration C] [--form FORM] [--level P] "                                                                     \
    "[--format text|json|csv]"
#define CURVE_HELP                                                                                                     \
    "The base configuration over concurrency, with intervals; with -s, the changed configuration beside it,\n"         \
    "anchored at the base's measured or given step time. Where measured points exist, every law that can be\n"         \
    "fitted to them is listed with its degrees of freedom and leave-one-out error, and which was chosen, or\n"         \
    "why none was, then what is odd about the points (cliffs, limits, outliers) and what they cannot tell.\n"          \
    "Files of measurements do without a scenario: then the curve is that of the law fitted to them.\n"                 \
    "\n"                                                                                                               \
    "Options:\n" CURVE_OPTIONS_HELP QUESTION_OPTIONS_HELP "\n"                                                         \
    "Examples:\n"                                                                                                      \
    "  occam curve dsv4-flash-sparse-decode\n"                                                                         \
    "  occam curve dsv4-flash-sparse-decode -s num_warps=8 --concurrency 1,8,96\n"                                     \
    "  occam curve my-model.yaml --measured bench.csv --form auto --itl-limit-ms 50\n"                                 \
    "  occam curve --measured results/ --experts 256 --experts-per-token 8 --concurrency 1,96,256\n"

#define WHATIF_SUMMARY "base against variant: what moves, by how much, why, how sure"
#define WHATIF_USAGE                                                                                                   \
    "whatif SCENARIO -s NAME=VALUE ... [--concurrency LIST] [--explain LO..HI [--across KNOB]] [--free] "              \
    "[--device D] [--device-file FILE] [--calibration C] [--form FORM] [--level P] [--format text|json|csv]"
#define WHATIF_HELP                                                                                                    \
    "Compares the base configuration with the changed one at every concurrency: change of throughput with\n"           \
    "interval, probability that it is slower, the mechanisms by name, what is not known and which\n"                   \
    "measurement would narrow the answer. An infeasible change is an answer: by how many bytes, and the\n"             \
    "smallest changes that make it fit (exit code 0).\n"                                                               \
    "\n"                                                                                                               \
    "Options:\n" QUESTION_OPTIONS_HELP                                                                                 \
    "  --concurrency LIST    requests in the running batch, such as 1,8,96; default: the scenario's list\n"            \
    "  --explain LO..HI      the change of -s gained LO to HI percent of throughput: which earlier values of\n"        \
    "                        the knob would explain that, and what share of the step the kernels must\n"               \
    "                        then have had\n"                                                                          \
    "  --across KNOB         with --explain: for every value of this knob as well\n"                                   \
    "\n"                                                                                                               \
    "Examples:\n"                                                                                                      \
    "  occam whatif dsv4-flash-sparse-decode -s num_warps=8\n"                                                         \
    "  occam whatif dsv4-flash-sparse-decode -s num_stages=3\n"                                                        \
    "  occam whatif dsv4-flash-sparse-decode -s TARGET_CTAS=512 --explain 6..13 --across split_floor\n"

#define SWEEP_SUMMARY "every configuration of the knob space, ranked; infeasible ones counted by reason"
#define SWEEP_USAGE                                                                                                    \
    "sweep SCENARIO [--vary NAMES] [--objective WHAT] [--where EXPR] [--top K] [--by NAME] "                           \
    "[--threads N] [--limit N] [-s NAME=VALUE ...] [--free] [--device D] [--device-file FILE] [--calibration C] "      \
    "[--form FORM] [--level "                                                                                          \
    "P] "                                                                                                              \
    "[--format text|json|csv]"
#define SWEEP_HELP                                                                                                     \
    "Predicts every configuration on all cores and ranks the best. Without --vary all knobs take all their\n"          \
    "values; with it only the named ones do, knobs or workload variables, and the rest stay at the base or at\n"       \
    "what -s says. Configurations that cannot be told from the best are marked as ties: the difference lies\n"         \
    "within its own interval, which is narrower than that of either time. gain is speed against the\n"                 \
    "scenario's base knobs with the same workload. time is that of one layer of the base workload;\n"                  \
    "--objective throughput ranks the whole step, each group of layers with its own workload.\n"                       \
    "\n"                                                                                                               \
    "Options:\n"                                                                                                       \
    "  --vary NAMES          variables to vary, such as TARGET_CTAS,split_floor\n"                                     \
    "  --objective WHAT      time (default), occupancy, throughput, throughput@C=96, or an expression of\n"            \
    "                        which the smallest value is best\n"                                                       \
    "  --where EXPR          keep only configurations for which this is true. Both expressions may use knobs,\n"       \
    "                        workload, let entries, and kernel_time_us, grid_ctas, waves, rounds, smem_bytes,\n"       \
    "                        ctas_per_sm, occupancy_fraction, registers_per_thread\n"                                  \
    "  --top K               configurations to list (default 10)\n"                                                    \
    "  --by NAME             one ranking for each value of this variable; none for a single ranking. Default:\n"       \
    "                        the concurrency, when --vary names few configurations whose grids differ\n"               \
    "  --threads N           default: all cores\n"                                                                     \
    "  --limit N             largest number of configurations (default 2^40)\n" QUESTION_OPTIONS_HELP "\n"             \
    "Examples:\n"                                                                                                      \
    "  occam sweep dsv4-flash-sparse-decode\n"                                                                         \
    "  occam sweep dsv4-flash-sparse-decode --vary TARGET_CTAS,split_floor\n"                                          \
    "  occam sweep my-kernel.yaml --objective throughput@C=96 --where 'ctas_per_sm >= 2' --format csv\n"

#define MEASURE_SUMMARY "run verification kernels on a GPU, or compile them"
#define MEASURE_USAGE                                                                                                  \
    "measure KERNEL|SCENARIO|PLAN [...] [--output DIR] [-s NAME=LIST ...] [--budget T] [--resume] [--repeats N] "      \
    "[--limit N] [--seed N] [--reference-every N] [--config-limit T] [--sample-time T] "                               \
    "[--check-only | --compile-only [--code DIR] [--shard I/N] | --dry-run | --timeline FILE.csv] [--arch LIST] "      \
    "[--cache DIR] [--nvrtc LIBRARY] [--device-backend B] [--format text|json|csv] | measure --list"
#define MEASURE_HELP                                                                                                   \
    "Runs the verification kernels on the GPU of this machine: a prediction first, then correctness against\n"         \
    "float64, then times; every configuration in a worker process under a time limit. Rows with all raw\n"             \
    "samples are appended to DIR/KERNEL.csv, the sealed predictions to DIR/predictions.csv. KERNEL is one of\n"        \
    "--list, with the settings of -s; SCENARIO one that says which kernel it describes (its knob space, the\n"         \
    "workload at its base); PLAN a YAML file (docs/DATA.md) or a list of lines (*.plan). A run that was ended,\n"      \
    "kill -9 included, loses at most the configuration in flight: the same command with --resume goes on.\n"           \
    "What cannot run is a row too, with the resource that forbids it. The exit code is 1 when a result was\n"          \
    "wrong or when configurations failed (time limit, crash, launch) and none came out, 4 without a GPU.\n"            \
    "\n"                                                                                                               \
    "Options:\n"                                                                                                       \
    "  -s, --set NAME=LIST   values of a setting or knob: 4, or 1,2,4; for kernels also 1..8 or 1..64*2\n"             \
    "  --output DIR          where rows go (default measurements)\n"                                                   \
    "  --budget T            start no configuration after this time: 600s, 10m, 1.5h. Of a plan with more than\n"      \
    "                        100,000 configurations, so many are drawn by --seed, evenly over the plan\n"              \
    "  --resume              go on in a DIR that already holds rows of this plan\n"                                    \
    "  --repeats N           measure every configuration so often, in rounds of their own (default 1)\n"               \
    "  --limit N             end after N configurations\n"                                                             \
    "  --seed N              of the order and the inputs (default 1)\n"                                                \
    "  --reference-every N   a plan's reference configurations come again after N others (default 40, 0: never)\n"     \
    "  --config-limit T      a configuration that takes longer is given up (default 30s)\n"                            \
    "  --sample-time T       time for the samples of one configuration, about (default 100ms)\n"                       \
    "  --check-only          correctness alone; without --output in this process, for memory and race checkers\n"      \
    "  --compile-only        registers, SMEM and spills as resource tables (docs/DATA.md), without a GPU: one\n"       \
    "                        kernel to standard output, or each to a file in --output\n"                               \
    "  --arch LIST           compute capabilities for --compile-only and --dry-run, such as sm_90,sm_120\n"            \
    "                        (default sm_90)\n"                                                                        \
    "  --code DIR            keep what --compile-only makes: cubin, PTX and log of each setting of one kernel, with\n" \
    "                        an index that occam inspect reads (needs NVRTC)\n"                                        \
    "  --shard I/N           compile every N-th configuration from the I-th, counted from 0\n"                         \
    "  --dry-run             list the configurations and which of them are infeasible\n"                               \
    "  --timeline FILE.csv   one launch of one configuration: SM, start and stop of every CTA (wave_probe), and\n"     \
    "                        FILE.json about it; occam plot timeline FILE.csv draws it\n"                              \
    "  --list                the kernels, their settings and ranges\n"                                                 \
    "  --cache DIR           keep compiled code there (default when measuring: code/ in --output)\n"                   \
    "  --nvrtc LIBRARY       the run-time compiler, where it is not found by itself; none: do without one\n"           \
    "  --device-backend B    cuda (default), or fake: a device made of nothing, to try out the harness\n"              \
    "  --fake-fault KIND@N   crash, hang, launch-failure or wrong at the N-th configuration of the fake "              \
    "device\n" FORMAT_OPTION_HELP "\n"                                                                                 \
    "Examples:\n"                                                                                                      \
    "  occam measure --list\n"                                                                                         \
    "  occam measure gqa_decode -s splits=1..32*2 -s batch=1 --output rows --budget 60s\n"                             \
    "  occam measure occam-sparse-decode -s block_t=16 -s splits=1,2,4 --dry-run\n"                                    \
    "  occam measure data/campaigns/sparse.plan --output rows --budget 600s --resume\n"                                \
    "  occam measure sparse_decode -s num_warps=4,8 --compile-only --arch sm_120\n"

#define CALIBRATE_SUMMARY "measurements into model parameters with uncertainty; drift"
#define CALIBRATE_USAGE                                                                                                \
    "calibrate [MEASUREMENTS...] --scenario S [--train N | --train-rows FILE | --design N] [-o FILE] [--name X] "      \
    "[--kernel K] [--time-column C] [--first-kernel] [--device D] [--device-file FILE] [--seed N] [--level P] "        \
    "[--format text|json|csv] | calibrate --check CALIBRATION MEASUREMENTS... [--scenario S] | calibrate --figures "   \
    "MICROBENCHMARKS... [--device D] [--device-file FILE] [-o DEVICE-FILE] | calibrate --list"
#define CALIBRATE_HELP                                                                                                 \
    "Fits the kernel-time model to measured rows: parameters with their uncertainty, a process on what the\n"          \
    "model leaves over unless cross-validation shows that it harms, and intervals stretched until they hold.\n"        \
    "MEASUREMENTS are CSV files, of occam measure or foreign: columns called after the scenario's knobs and\n"         \
    "workload variables, and one with the time. Rows that were not learnt from are predicted and scored.\n"            \
    "--design N without measurements prints the N configurations to measure. --check says whether a\n"                 \
    "calibration still holds for a handful of rows: exit code 1 when it does not. --figures fits what a GPU\n"         \
    "can do to its microbenchmarks, each figure with its uncertainty, and says where its device file differs.\n"       \
    "\n"                                                                                                               \
    "Options:\n"                                                                                                       \
    "  --scenario S          scenario that the columns belong to: a YAML file, or the name of one built in;\n"         \
    "                        with --check: default, the one that the calibration was made with\n"                      \
    "  --train N             learn from N rows drawn at random (default: all)\n"                                       \
    "  --train-rows FILE     learn from the configurations listed in this CSV file; a column typical with 0 marks\n"   \
    "                        those that were chosen for being odd, as --design N --format csv does\n"                  \
    "  --design N            learn from N rows, informative ones and, for the intervals, typical ones; without\n"      \
    "                        measurements: say which to measure\n"                                                     \
    "  --check CALIBRATION   compare the rows with this calibration (file or name) instead of learning\n"              \
    "  --figures             latencies, bandwidths, intervals, launches of the GPU that MEASUREMENTS (files of\n"      \
    "                        latency_chase, bandwidth_stream, mma_tile, ...) were taken on\n"                          \
    "  --list                calibrations that can be named, yours and built in\n"                                     \
    "  -o, --output FILE     write the calibration to this JSON file; with --figures: a device file\n"                 \
    "  --name X              what predictions call it; default: the stem of the file\n"                                \
    "  --kernel K            only rows whose column kernel says K\n"                                                   \
    "  --time-column C       column with the time; its name ends in _ns, _us, _ms or _s (default: time_us)\n"          \
    "  --first-kernel        the times are those of the scenario's first kernel alone, not of all\n"                   \
    "  --device NAME         another GPU than the scenario's\n" DEVICE_FILE_OPTION_HELP                                \
    "  --seed N              of random rows and of the folds of cross-validation (default 1)\n"                        \
    "  --level P             coverage asked of intervals, 0.5 to 0.999 (default 0.9)\n" FORMAT_OPTION_HELP "\n"        \
    "Examples:\n"                                                                                                      \
    "  occam calibrate --design 24 --scenario occam-gqa-decode > gqa.plan\n"                                           \
    "  occam calibrate gqa_decode.csv --scenario occam-gqa-decode -o h200-gqa.json\n"                                  \
    "  occam calibrate --check h200-gqa.json today.csv\n"                                                              \
    "  occam calibrate --figures latency_chase.csv mma_tile.csv -o my-gpu.csv\n"
#define VALIDATE_SUMMARY "trained on few measured rows, judged on all others, beside the baselines"
#define VALIDATE_USAGE                                                                                                 \
    "validate MEASUREMENTS... --scenario S [--train N[,N...]] [--design] [--hold-out workload|NAME] [--seeds N] "      \
    "[--seed N] [--level P] [--require KEY<=NUMBER ...] [--predictions FILE] [--time-column NAME] [--kernel NAME] "    \
    "[--first-kernel] [--no-baselines] [--no-choice] [--no-residual] [--shuffle] [--device D] [--device-file FILE] "   \
    "[--format text|json|csv]"
#define VALIDATE_HELP                                                                                                  \
    "Calibrates on a few of the measured rows and judges the predictions on all the others, again and again.\n"        \
    "Beside the error stand those of six simple predictors trained on the same rows, the share of rows that\n"         \
    "the intervals cover, the error by knob and by fill of the GPU, what choosing by prediction costs in\n"            \
    "shapes that were never run, and the worst rows with the likely reason.\n"                                         \
    "MEASUREMENTS are CSV files with a column for each knob and workload variable that varies, and the time.\n"        \
    "\n"                                                                                                               \
    "Options:\n"                                                                                                       \
    "  --scenario S          the scenario that describes the kernel\n"                                                 \
    "  --train N[,N...]      rows to train on (default 24); several numbers: one validation each\n"                    \
    "  --design              rows chosen to leave the least uncertainty, instead of at random\n"                       \
    "  --hold-out NAME       whole groups held out: workload (shapes), or the values of this variable;\n"              \
    "                        --train 0 then trains on all rows of the other groups\n"                                  \
    "  --seeds N             repeated splits (default 20)\n"                                                           \
    "  --seed N              of the first split (default 1)\n"                                                         \
    "  --level P             coverage asked of intervals, 0.5 to 0.999 (default 0.9)\n"                                \
    "  --require KEY<=NUMBER exit with 1 unless this figure of the answer is so; also KEY>=NUMBER; repeatable\n"       \
    "  --predictions FILE    every held-out prediction as CSV, for a parity plot\n"                                    \
    "  --time-column NAME    where the time is; default: time_us, or the only column time_ns, _us, _ms or _s\n"        \
    "  --kernel NAME         only rows whose column kernel says so\n"                                                  \
    "  --first-kernel        the times are those of the scenario's first kernel alone\n"                               \
    "  --no-baselines, --no-choice, --no-residual\n"                                                                   \
    "                        without the baselines, the judgement of choices, the residual process\n"                  \
    "  --shuffle             deal the times to other rows first: no predictor may look good then\n"                    \
    "  --device NAME         another GPU than the scenario's\n" DEVICE_FILE_OPTION_HELP FORMAT_OPTION_HELP "\n"        \
    "Examples:\n"                                                                                                      \
    "  occam validate sparse_decode.csv --scenario occam-sparse-decode --train 24,96\n"                                \
    "  occam validate mine.csv --scenario mine.yaml --hold-out workload --require median_ape_percent<=6\n"

/* Options of each simulator: a section of its own in `occam help simulate`. */
#define SIMULATE_CTA_OPTIONS_HELP                                                                                      \
    "  --jitter F            relative standard deviation of a CTA's own speed, 0 to 1 (default 0)\n"                   \
    "  --seed N              seed of the first run (default 1); the same seed gives the same run\n"                    \
    "  --seeds K             runs with K seeds: median and interval (with --jitter)\n"                                 \
    "  --threads N           for the seeds; default: all cores. They change nothing in the answer\n"                   \
    "  --sms-per-gpc N       clusters stay within so many SMs (default: the device file's GPCs, else all SMs)\n"       \
    "  --stream              kernels follow each other in a stream; default: in a graph\n"                             \
    "  --timeline FILE       write kernel, CTA, SM, slot, start and stop of every CTA as CSV\n"

#define SIMULATE_SUMMARY "an independent second answer: CTAs on SMs, requests in a server"
#define SIMULATE_USAGE                                                                                                 \
    "simulate cta SCENARIO [-s NAME=VALUE ...] [--jitter F] [--seed N] [--seeds K] [--threads N] "                     \
    "[--sms-per-gpc N] [--stream] [--timeline FILE] [--format text|json|csv] | " SIMULATE_SERVING_USAGE
#define SIMULATE_HELP                                                                                                  \
    "simulate cta runs the kernels of one layer CTA by CTA on the SMs of the GPU: stages that share issue\n"           \
    "slots, tensor pipes, SMEM, the SMs' ports, L2 and DRAM, without the formulas of `occam predict`. It\n"            \
    "answers with the time, what was busy, and in which stage CTAs spent their time or queued.\n"                      \
    "\n" SIMULATE_SERVING_HELP "\n"                                                                                    \
    "Options of simulate cta:\n" SIMULATE_CTA_OPTIONS_HELP "\n"                                                        \
    "Options of simulate serving:\n" SIMULATE_SERVING_OPTIONS_HELP "\n"                                                \
    "Options of both:\n" QUESTION_OPTIONS_HELP "\n"                                                                    \
    "Examples:\n"                                                                                                      \
    "  occam simulate cta dsv4-flash-sparse-decode\n"                                                                  \
    "  occam simulate cta dsv4-flash-sparse-decode -s num_warps=8 --jitter 0.05 --seeds "                              \
    "20\n" SIMULATE_SERVING_EXAMPLES

#define COMPARE_SUMMARY "formula, simulator and measurement side by side"
#define COMPARE_USAGE                                                                                                  \
    "compare SCENARIO [MEASUREMENTS...] [--budget F] [--top K] [--kernel K] [--time-column C] [--first-kernel] "       \
    "[-s NAME=VALUE ...] [--free] [--device D] [--device-file FILE] [--calibration NAME] [--form FORM] "               \
    "[--level P] [--format text|json|csv]"
#define COMPARE_HELP                                                                                                   \
    "Every measured configuration by the formulas of `occam predict` and by `occam simulate cta`, with the\n"          \
    "same parameters; exponents of smooth maxima and a calibration's residual process are the formula's\n"             \
    "alone. Where the two are further apart than the budget, says which of them the measurement\n"                     \
    "supports: the nearer one, or neither if both are further off than the budget. Without MEASUREMENTS,\n"            \
    "the configuration of -s alone. A disagreement is an answer: the exit code is 0.\n"                                \
    "\n"                                                                                                               \
    "Options:\n"                                                                                                       \
    "  --budget F            difference that passes for agreement, a fraction (default 0.15)\n"                        \
    "  --top K               disagreements to print (default 20); json and csv hold every configuration\n"             \
    "  --kernel K            only rows whose column kernel says K\n"                                                   \
    "  --time-column C       column with the time; its ending is the unit (default time_us, _ns, _ms, _s)\n"           \
    "  --first-kernel        the times are of the scenario's first kernel alone\n" QUESTION_OPTIONS_HELP "\n"          \
    "Examples:\n"                                                                                                      \
    "  occam compare dsv4-flash-sparse-decode -s num_warps=8\n"                                                        \
    "  occam compare occam-sparse-decode measurements/sparse_decode.csv\n"

#define PLOT_SUMMARY "draw a figure through gnuplot, to a file or in the terminal"
#define PLOT_USAGE                                                                                                     \
    "plot FIGURE [SCENARIO|TABLE...] [--output FILE | --terminal | --sixel] [--dark] [--width PIXELS] "                \
    "[--columns N] [--rows N] [--keep DIR] [-s NAME=VALUE ...] [--variant N=V,... ...] [--x NAME] [--y NAME] "         \
    "[--concurrency LIST] [--ledger FILE] "                                                                            \
    "[--measured FILE] [--itl-limit-ms T] [--free] [--device D] [--device-file FILE] [--calibration C] "               \
    "[--form FORM] [--level P]"
#define PLOT_HELP                                                                                                      \
    "Figures:\n"                                                                                                       \
    "  throughput            tokens per second over concurrency: the base with its interval, measured\n"               \
    "                        points, and with -s the changed configuration\n"                                          \
    "  step-time             the same as the time of a decode step\n"                                                  \
    "  occupancy-registers   CTAs per SM over registers per thread, and where the configuration stands\n"              \
    "  occupancy-smem        the same over SMEM\n"                                                                     \
    "  waves                 a knob that changes the grid (--x) against time, rounds, waves and tail\n"                \
    "  timeline              CTAs on the SMs, simulated, or the table of simulate cta or measure --timeline\n"         \
    "  roofline              kernels of a layer under DRAM, tensor and bytes-in-flight roofs\n"                        \
    "  limiters              what a layer's time goes to, over concurrency\n"                                          \
    "  heatmap               time over two knobs (--x, --y); what cannot run is hatched, with the reason\n"            \
    "  parity                predicted against measured: tables of measure, or of validate --predictions\n"            \
    "  errors                the error by the value of each knob, of the same tables\n"                                \
    "  saturation            bandwidth over bytes in flight: tables of the bandwidth benchmarks\n"                     \
    "  regret                best found over runs: columns method, runs, fraction, or the record of tune\n"            \
    "  scorecard             coverage of frozen predictions: the ledger (--ledger, or given as a file), or the "       \
    "table\n"                                                                                                          \
    "                        of ledger scorecard --format csv\n"                                                       \
    "The first nine take a SCENARIO, the others TABLEs (.csv).\n"                                                      \
    "\n"                                                                                                               \
    "Options:\n"                                                                                                       \
    "  -o, --output FILE     file to write; its ending says how: .png, .svg or .pdf\n"                                 \
    "  --terminal            draw with characters (default without --output)\n"                                        \
    "  --sixel               draw pixels into a terminal that knows sixel\n"                                           \
    "  --dark                light on dark\n"                                                                          \
    "  --width PIXELS        width of a PNG (default 1200)\n"                                                          \
    "  --columns N, --rows N size in the terminal; default: the window, else 80 x 24; higher where legend and\n"       \
    "                        caption leave less than 10 rows\n"                                                        \
    "  --variant N=V,...     one more configuration beside base and -s in throughput and step-time; up to four\n"      \
    "  --x NAME, --y NAME    variables along the axes of waves and heatmap\n"                                          \
    "  --ledger FILE         of scorecard; default: $OCCAM_LEDGER, else as occam ledger has it\n"                      \
    "  --keep DIR            also leave the gnuplot script and the numbers there; made if it is not "                  \
    "there\n" CURVE_OPTIONS_HELP "  -s, --set NAME=VALUE  set a knob or workload variable; repeatable\n"               \
    "  --free                accept knob values outside the scenario's lists; workload values pass without it\n"       \
    "  --device NAME         another GPU than the scenario's\n" DEVICE_FILE_OPTION_HELP CALIBRATION_OPTION_HELP        \
        FORM_OPTION_HELP "  --level P             coverage asked of intervals, 0.5 to 0.999 (default 0.9)\n"           \
    "\n"                                                                                                               \
    "Examples:\n"                                                                                                      \
    "  occam plot throughput dsv4-flash-sparse-decode\n"                                                               \
    "  occam plot throughput dsv4-flash-sparse-decode -s num_warps=8 --output throughput.png\n"                        \
    "  occam plot heatmap dsv4-flash-sparse-decode --x num_warps --y num_stages -o heat.svg\n"                         \
    "  occam plot parity measurements/sparse_decode.csv -o parity.svg\n"

#define REPORT_SUMMARY "question, answer, figures and sources of a scenario as one file to read"
#define REPORT_USAGE                                                                                                   \
    "report SCENARIO --output FILE [--format html|md] [--keep DIR] [--measured FILE ...] [-s NAME=VALUE ...] "         \
    "[--x NAME] [--y NAME] [--concurrency LIST] [--itl-limit-ms T] [--free] [--device D] [--device-file FILE] "        \
    "[--calibration C] [--form FORM] [--level P]"
#define REPORT_HELP                                                                                                    \
    "Answer first, then the best configurations, every figure that the scenario and the files allow, what is\n"        \
    "measured, fitted and assumed, held-out accuracy, what to try next, and where it all comes from. HTML is one\n"    \
    "file that loads nothing.\n"                                                                                       \
    "\n"                                                                                                               \
    "Options:\n"                                                                                                       \
    "  -o, --output FILE     file to write; .md is Markdown, anything else HTML\n"                                     \
    "  --format F            html or md\n"                                                                             \
    "  --keep DIR            every figure as SVG, gnuplot script and numbers there; Markdown links to them\n"          \
    "  --variant N=V,...     one more configuration beside base and -s in throughput and step-time; up to four\n"      \
    "  --x NAME, --y NAME    variables along the axes of waves and heatmap\n"                                          \
    "Tables given with --measured that are no points of a step time become figures (parity, errors, saturation,\n"     \
    "timeline, regret, scorecard), told apart by their columns; so does a ledger.\n" CURVE_OPTIONS_HELP                \
    "  -s, --set NAME=VALUE  set a knob or workload variable; repeatable\n"                                            \
    "  --free                accept knob values outside the scenario's lists; workload values pass without it\n"       \
    "  --device NAME         another GPU than the scenario's\n" DEVICE_FILE_OPTION_HELP CALIBRATION_OPTION_HELP        \
        FORM_OPTION_HELP "  --level P             coverage asked of intervals, 0.5 to 0.999 (default 0.9)\n"           \
    "\n"                                                                                                               \
    "Examples:\n"                                                                                                      \
    "  occam report dsv4-flash-sparse-decode -o report.html\n"                                                         \
    "  occam report dsv4-flash-sparse-decode -s num_warps=8 -o report.md --keep figures\n"

#define DOCTOR_SUMMARY "what is found here and what is missing"
#define DOCTOR_USAGE   "doctor [--format text|json|csv]"
#define DOCTOR_HELP                                                                                                    \
    "One line for each thing that occam can use: GPU, driver, compiler, gnuplot, calibrations, data. Nothing\n"        \
    "that is missing here stops a prediction; the line says what it is needed for. The exit code is 0.\n"              \
    "\n"                                                                                                               \
    "Options:\n" FORMAT_OPTION_HELP "\n"                                                                               \
    "Examples:\n"                                                                                                      \
    "  occam doctor\n"

#define VERSION_SUMMARY "version and how this program was built"
#define VERSION_USAGE   "version [--format text|json|csv]"
#define VERSION_HELP                                                                                                   \
    "Prints the version, the revision of the source and the parts that are built in.\n"                                \
    "\n"                                                                                                               \
    "Options:\n" FORMAT_OPTION_HELP "\n"                                                                               \
    "Examples:\n"                                                                                                      \
    "  occam version\n"

#define HELP_SUMMARY "the commands, or the options of one with examples"
#define HELP_USAGE   "help [COMMAND]"
#define HELP_HELP                                                                                                      \
    "Without a command, lists all of them. `occam COMMAND --help` is the same as `occam help COMMAND`.\n"              \
    "\n"                                                                                                               \
    "Examples:\n"                                                                                                      \
    "  occam help predict\n"

#endif
