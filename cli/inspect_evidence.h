/* SPDX-License-Identifier: GPL-3.0-or-later
 * What the forms of `occam inspect` share once there is more than compiled code: claims of all sources in one table,
 * and what is written from them. */
#ifndef OCCAM_CLI_INSPECT_EVIDENCE_H
#define OCCAM_CLI_INSPECT_EVIDENCE_H

#include "cli/inspect.h"
#include "cli/options.h"
#include "evidence/claims/evidence_read.h"

/* The claims that are asked for: those of compiled code, one per variant, then those of other files in their order. */
struct inspect_claims {
    const struct evidence *evidence;
    const struct inspect_rows *rows; /* the variants; count 0: none */
    size_t count;
    const struct kernel_claim **items;
    struct kernel_claim_list variants; /* owns the claims of the variants */
};

/* Zero-initialise; release with inspect_claims_release. Normalises the evidence's claims. kernel, arch: as
 * inspect_rows_choose. STATUS_USAGE: nothing is left. */
MUST_CHECK enum status inspect_claims_choose(struct evidence *evidence, const struct inspect_rows *rows,
                                             const char *kernel, const char *arch, struct inspect_claims *claims,
                                             struct error *error);
void inspect_claims_release(struct inspect_claims *claims);
/* "BM=128 BN=64 num_warps=4" within size; "" where the claim has no knobs. Returns out. */
const char *inspect_configuration_text(const struct kernel_claim *claim, char *out, size_t out_size);
/* The time that stands for the claim, in us: median, else mean, else what there is; NaN unknown. */
double inspect_time_us(const struct kernel_claim *claim);

/* The table of claims from index `first` on, that of serving points, and what the files' readers said. */
MUST_CHECK enum status inspect_evidence_print(const struct inspect_claims *claims, size_t first, struct error *error);
/* claims[], serving[], files[], problems of other files. */
void inspect_evidence_record(const struct inspect_claims *claims, struct report *report);

enum {
    INSPECT_COLUMN_SIZE = 64
};
/* A measurement table that `calibrate` and `validate` read: configurations with a time, and those that failed. What has
 * neither is left out and counted. added: further columns NAME=VALUE, where VALUE is a knob of the row or else itself;
 * NULL none. STATUS_NOT_FOUND: no row. STATUS_USAGE: a wrong column. */
MUST_CHECK enum status inspect_measurements(const struct inspect_claims *claims, const struct text_list *added,
                                            FILE *stream, struct error *error);
/* Points for `occam curve --measured`. STATUS_NOT_FOUND: no point with a concurrency and a throughput or time. */
MUST_CHECK enum status inspect_curve(const struct evidence *evidence, FILE *stream, struct error *error);

/* The launch that a scenario is to describe: of one kernel, the one launched most often. NULL: none of the claims is a
 * launch. STATUS_USAGE: launches of several kernels. others: how many different launches of it there are besides. */
MUST_CHECK enum status inspect_launch_choose(const struct inspect_claims *claims, const struct kernel_claim **launch,
                                             size_t *others, struct error *error);
/* Keeps the variants that explain the launch, all where none does; *explained says which. */
void inspect_rows_of_launch(struct inspect_rows *rows, const struct kernel_claim *launch, bool *explained);
enum {
    INSPECT_LOAD_BYTES = 16 /* that a thread loads in a turn, where nothing tells the loop */
};
/* A scenario of rows->launch alone: its loop is what rows->fit says, else questions. */
MUST_CHECK enum status inspect_launch_scenario(const struct inspect_rows *rows, FILE *stream, struct error *error);
/* The line `device:` for where the launch ran: a GPU that is known, else its architecture. out holds GPU_NAME_SIZE. */
MUST_CHECK enum status inspect_launch_device(const struct kernel_claim *launch, char *out, struct error *error);

#endif
