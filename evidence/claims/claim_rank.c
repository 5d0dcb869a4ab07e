/* SPDX-License-Identifier: GPL-3.0-or-later
 * The order of trust. A launch record tells what ran; a build tells what could run; a tuner tells what was asked for.
 */
#include "evidence/claims/claim_rank.h"

static const struct claim_rank ranks[CLAIM_SOURCE_COUNT] = {
    [CLAIM_SOURCE_TRACE] = {CLAIM_LAUNCHED, 1, "read from the driver at the launch: it is what ran",
                            "take a fresh trace of one step of the running service and read `shared memory`, "
                            "`registers per thread` and `block` of the kernel"},
    [CLAIM_SOURCE_NSYS_SQLITE] = {CLAIM_LAUNCHED, 1, "read from the driver at the launch, in bytes: it is what ran",
                                  "profile one step again: nsys profile, then nsys export --type sqlite"},
    [CLAIM_SOURCE_NCU] = {CLAIM_LAUNCHED, 1,
                          "read from the driver at the launch: resources are exact, times are of a serialised run",
                          "ncu --launch-count 1 --section LaunchStats --csv --page raw on one launch"},
    [CLAIM_SOURCE_NSYS_TABLE] = {CLAIM_LAUNCHED, 2, "read at the launch, but SMEM is printed in MB with three decimals",
                                 "export the same report with nsys export --type sqlite: it has bytes"},
    [CLAIM_SOURCE_CUBIN] = {CLAIM_BUILT, 3, "the binary itself: exact, if this is the one that is loaded",
                            "compare the launch with cuobjdump -res-usage of the binary that is loaded"},
    [CLAIM_SOURCE_COMPILER_LOG] = {CLAIM_BUILT, 4,
                                   "the compiler's report of one build, which may not be the one that runs",
                                   "build again with ptxas -v (nvcc -Xptxas -v) and the flags of production"},
    [CLAIM_SOURCE_RESOURCE_USAGE] = {CLAIM_BUILT, 4, "a report on one binary, which may not be the one that is loaded",
                                     "run cuobjdump -res-usage on the binary that is loaded"},
    [CLAIM_SOURCE_TRITON_JSON] = {CLAIM_BUILT, 5,
                                  "a cache keeps every configuration and version ever compiled: the entry may be stale",
                                  "delete the cache entry (or set TRITON_ALWAYS_COMPILE=1), start again, and read "
                                  "`shared` of the entry that appears"},
    [CLAIM_SOURCE_PTX] = {CLAIM_BUILT, 6, "before the assembler: bounds, no registers",
                          "assemble it: ptxas -v -arch=sm_XX FILE.ptx"},
    [CLAIM_SOURCE_SASS] = {CLAIM_BUILT, 6, "a listing of one binary", "run cuobjdump -res-usage on that binary"},
    [CLAIM_SOURCE_KERNEL_TUNER] = {CLAIM_TUNED, 7, "what a tuner ran, by its own settings", "trace one launch of it"},
    [CLAIM_SOURCE_T4_RESULTS] = {CLAIM_TUNED, 7, "what a tuner ran, by its own settings", "trace one launch of it"},
    [CLAIM_SOURCE_KTT_RESULTS] = {CLAIM_TUNED, 7, "what a tuner ran, by its own settings", "trace one launch of it"},
    [CLAIM_SOURCE_TRITON_AUTOTUNE_FILE] =
        {CLAIM_TUNED, 8,
         "what the tuner asked for, not what ran (Triton 2.0 left num_warps out of "
         "its cache key)",
         "compare 32 x num_warps with `block` in a trace of the chosen configuration"},
    [CLAIM_SOURCE_TRITON_AUTOTUNE_LOG] = {CLAIM_TUNED, 8,
                                          "what the tuner asked for, not what ran (Triton 2.0 left num_warps out of "
                                          "its cache key)",
                                          "compare 32 x num_warps with `block` in a trace of the chosen configuration"},
    [CLAIM_SOURCE_INDUCTOR_LOG] = {CLAIM_TUNED, 8,
                                   "what the tuner timed by itself; names are numbers of one compilation",
                                   "compare 32 x num_warps with `block` in a trace of the chosen kernel"},
    [CLAIM_SOURCE_INDUCTOR_CONFIG] = {CLAIM_TUNED, 8, "what a compilation chose; another may choose otherwise",
                                      "compare 32 x num_warps with `block` in a trace of the kernel"},
    [CLAIM_SOURCE_MOE_CONFIG] = {CLAIM_TUNED, 9, "a file of settings; which entry is taken depends on the batch",
                                 "trace one launch at the batch size in question"},
    [CLAIM_SOURCE_MEASUREMENTS] = {CLAIM_TUNED, 9, "a table without its maker", "take the figure from its source"},
};

const struct claim_rank *claim_rank_of(enum claim_source source)
{
    return &ranks[(unsigned)source < CLAIM_SOURCE_COUNT ? source : CLAIM_SOURCE_MEASUREMENTS];
}

const char *claim_class_name(enum claim_class kind)
{
    static const char *const names[] = {"launched", "built", "tuned"};
    return names[kind];
}
