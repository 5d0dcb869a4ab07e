/* SPDX-License-Identifier: GPL-3.0-or-later
 * The readers of profilers' and tuners' files. Each appends claims to a list; a bad entry is left out and counted
 * (kernel_claim_skip), a file that is not of the kind at all is STATUS_BAD_DATA with the place. Fields and traps:
 * docs/DATA.md, evidence files. Used by evidence/claims. */
#ifndef OCCAM_EVIDENCE_PROFILES_PROFILE_READERS_H
#define OCCAM_EVIDENCE_PROFILES_PROFILE_READERS_H

#include "base/status.h"
#include "evidence/profiles/kernel_claim.h"

/* A profiler trace in the Chrome format (Kineto): plain or gzip, an object or a bare array of events, possibly cut off.
 * Streams: memory grows with the number of different launches, not with the file. Launches alike in name, grid, block,
 * registers, SMEM and device become one claim with their count and times. */
MUST_CHECK enum status trace_read(const char *path, struct kernel_claim_list *list, struct error *error);

/* Nsight Compute, `--csv --page details` and `--page raw`, with whatever the program printed before the header. */
MUST_CHECK enum status ncu_csv_read(const char *path, struct kernel_claim_list *list, struct error *error);

/* Nsight Compute as it prints without --csv, within whatever else was printed. */
MUST_CHECK enum status ncu_text_read(const char *path, struct kernel_claim_list *list, struct error *error);

/* Nsight Systems: `nsys stats` tables of GPU kernels (trace and summary) as CSV, and SQL output of the export. */
MUST_CHECK enum status nsys_csv_read(const char *path, struct kernel_claim_list *list, struct error *error);
/* Nsight Systems: SQLite export, opened read-only. */
MUST_CHECK enum status nsys_sqlite_read(const char *path, struct kernel_claim_list *list, struct error *error);

/* NAME.autotune.json of a Triton cache: one claim per configuration, times median and quantiles, failures marked. */
MUST_CHECK enum status triton_autotune_file_read(const char *path, struct kernel_claim_list *list, struct error *error);
/* Output of TRITON_PRINT_AUTOTUNING=1, tables of Inductor's autotuning, and any log with OutOfResources lines. */
MUST_CHECK enum status triton_autotune_log_read(const char *path, struct kernel_claim_list *list, struct error *error);

/* KEY.best_config of an Inductor cache: one claim, its knobs, no time; the kernel's name from KEY.py beside it. */
MUST_CHECK enum status inductor_config_read(const char *path, struct kernel_claim_list *list, struct error *error);

/* Results of tuners, plain or gzip: Kernel Tuner cache, T4, KTT. One claim per configuration. */
MUST_CHECK enum status tuner_results_read(const char *path, struct kernel_claim_list *list, struct error *error);

/* vLLM and SGLang MoE configuration files: one claim per batch size M, its parameters, no time. */
MUST_CHECK enum status moe_config_read(const char *path, struct kernel_claim_list *list, struct error *error);

#endif
