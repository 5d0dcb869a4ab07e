/* SPDX-License-Identifier: GPL-3.0-or-later
 * A row of CUPTI_ACTIVITY_KIND_KERNEL, the table of kernel launches in an export of Nsight Systems: from SQLite, or as
 * a query printed it. Tables grow columns with every version, and rows may leave any of them empty. */
#ifndef OCCAM_EVIDENCE_PROFILES_NSYS_EXPORT_PRIVATE_H
#define OCCAM_EVIDENCE_PROFILES_NSYS_EXPORT_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "evidence/profiles/launch_groups.h"

#define NSYS_COLUMN_LIST(X)                                                                                            \
    X(START, "start")                                                                                                  \
    X(END, "end")                                                                                                      \
    X(DEVICE, "deviceId")                                                                                              \
    X(DEMANGLED, "demangledName")                                                                                      \
    X(SHORT_NAME, "shortName")                                                                                         \
    X(REGISTERS, "registersPerThread")                                                                                 \
    X(GRID_X, "gridX")                                                                                                 \
    X(GRID_Y, "gridY")                                                                                                 \
    X(GRID_Z, "gridZ")                                                                                                 \
    X(BLOCK_X, "blockX")                                                                                               \
    X(BLOCK_Y, "blockY")                                                                                               \
    X(BLOCK_Z, "blockZ")                                                                                               \
    X(STATIC_SMEM, "staticSharedMemory")                                                                               \
    X(DYNAMIC_SMEM, "dynamicSharedMemory")                                                                             \
    X(SMEM_EXECUTED, "sharedMemoryExecuted")                                                                           \
    X(CLUSTER_X, "clusterX")                                                                                           \
    X(CLUSTER_Y, "clusterY")                                                                                           \
    X(CLUSTER_Z, "clusterZ")

#define NSYS_COLUMN_ENUM_ENTRY(name, text) NSYS_##name,
enum nsys_column {
    NSYS_COLUMN_LIST(NSYS_COLUMN_ENUM_ENTRY) NSYS_COLUMN_COUNT
};
#undef NSYS_COLUMN_ENUM_ENTRY
/* "registersPerThread"; static. */
const char *nsys_column_name(enum nsys_column column);

struct nsys_row {
    bool is_known[NSYS_COLUMN_COUNT];
    int64_t values[NSYS_COLUMN_COUNT];
};

/* Grid, block, figures and time of a row; name, device, line and ordinal are the caller's. False when a value cannot
 * be (a negative size, an end before its start): *reason says which, static text. Sizes that are missing are unknown.
 */
bool nsys_row_launch(const struct nsys_row *row, struct launch *launch, const char **reason);

#endif
