/* SPDX-License-Identifier: GPL-3.0-or-later
 * What the forms of `occam inspect` share: the chosen variants of compiled code and their loops as tile loops. */
#ifndef OCCAM_CLI_INSPECT_H
#define OCCAM_CLI_INSPECT_H

#include "cli/command.h"
#include "cli/report.h"
#include "evidence/code/compiled_code.h"
#include "evidence/profiles/kernel_claim.h"

struct inspect_row {
    const struct code_variant *variant;
    uint32_t number; /* of the kernel's variants, from 1 */
    bool has_loop;
    struct tile_loop loop;
    char assumed[768]; /* what the tile loop assumes; or why there is none */
};

/* Turns of a CTA's loop as a launch's time tells them (MODEL.md EVID-7). */
struct inspect_fit {
    double turns;   /* NaN: none */
    char text[256]; /* why there are none; "" where there are, or nothing had to be fitted */
};

/* Rows of one kernel stand together, in the order of the files. Borrows the code. */
struct inspect_rows {
    const struct compiled_code *code;
    size_t count;
    struct inspect_row *items; /* free() */
    /* The launch that a scenario is to describe, and where it ran as a scenario names it; NULL: compiled code alone. */
    const struct kernel_claim *launch;
    const char *launch_device;
    size_t other_launches;
    struct inspect_fit fit;
};

/* Keeps variants of kernel `kernel` and architecture `arch` ("sm_90", "90a"), each NULL for all. warps: of a CTA, where
 * no file tells; 0 unknown. STATUS_USAGE where nothing is left, with what there is. */
MUST_CHECK enum status inspect_rows_choose(const struct compiled_code *code, const char *kernel, const char *arch,
                                           uint32_t warps, struct inspect_rows *rows, struct error *error);
/* "sm_90a", "" unknown. Returns out. */
const char *inspect_arch_text(const struct compiled_kernel *kernel, char out[16]);

/* variants[] with figures and loops, files that could not be read. */
void inspect_record(const struct inspect_rows *rows, struct report *report);
/* The table and its remarks; what the main loops of up to loops_max variants do. */
MUST_CHECK enum status inspect_print_table(const struct inspect_rows *rows, struct error *error);
void inspect_print_loops(const struct inspect_rows *rows, size_t loops_max);

/* A table with one row per variant: knobs, resources, columns "loop.KEY" (docs/DATA.md). */
MUST_CHECK enum status inspect_loop_table(const struct inspect_rows *rows, FILE *stream, struct error *error);
/* Columns of that table by which its rows differ. */
enum {
    INSPECT_KNOBS_MAX = 8
};
struct inspect_knobs {
    size_t count;
    const char *names[INSPECT_KNOBS_MAX]; /* borrowed from the code's index, or static */
};
/* The value of a knob column in a row; NaN where it has none. */
double inspect_knob_value(const struct inspect_rows *rows, size_t row, const char *name);

/* Text for a quoted YAML string: quotes and backslashes replaced. */
void inspect_print_quoted(FILE *stream, const char *text);
/* begin, the text on one line, and a line end: for a comment. */
void inspect_print_comment(FILE *stream, const char *begin, const char *text);
/* Lines of `workload:` for what called the launched kernel, with its inputs; nothing where that is not known. */
void inspect_print_operator(const struct kernel_claim *launch, FILE *stream);
/* The scenario's name of a kernel: an identifier of at most 60 bytes. */
enum {
    INSPECT_NAME_SIZE = 61
};
const char *inspect_scenario_name(const char *kernel, char out[INSPECT_NAME_SIZE]);
/* The comment lines that say which launch a scenario describes. */
void inspect_print_launch(const struct kernel_claim *launch, size_t others, const char *prefix, FILE *stream);
/* The scenario's remarks on the launch: which one, how long it took, what was fitted. has_loop: of compiled code. */
void inspect_print_launch_notes(const struct inspect_rows *rows, bool has_loop, FILE *stream);
/* How many turns make the scenario's prediction of the launch as long as it was measured. text: the scenario, whose
 * `iterations` may be any number; time_us: of the launch, NaN unknown. */
void inspect_fit_turns(const char *text, size_t length, double time_us, struct inspect_fit *fit);
/* A scenario whose kernel takes launch and loop from `table`, the file of inspect_loop_table as the scenario names it;
 * NULL: the scenario carries the table itself. STATUS_USAGE: variants of several kernels or architectures. */
MUST_CHECK enum status inspect_scenario(const struct inspect_rows *rows, const char *table, FILE *stream,
                                        struct error *error);

#endif
