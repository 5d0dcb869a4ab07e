/* SPDX-License-Identifier: GPL-3.0-or-later
 * Private to evidence/scenario_*.c: the compiled form of a scenario that one thread evaluates.
 *
 * Every let entry, requirement, `when` and kernel quantity is a cell. A cell is dirty when a symbol it uses has changed
 * since it was evaluated; only dirty cells are touched, in an order where every cell comes after those it uses, and a
 * let entry that keeps its value dirties nobody. In front of most cells is a memo table over the fastest-changing
 * knobs that the cell depends on (also through let); the slower variables are part of the table's epoch. */
#ifndef OCCAM_EVIDENCE_SCENARIO_SCENARIO_EVALUATOR_H
#define OCCAM_EVIDENCE_SCENARIO_SCENARIO_EVALUATOR_H

#include "evidence/scenario/scenario_internal.h"

enum {
    MEMO_DIMENSIONS_MAX = 6,
    MEMO_ENTRIES_MAX = 16384,
    MEMO_ENTRIES_MIN = 64
};
#define MEMO_BYTES_MAX (16u << 20) /* of one evaluator */

struct compiled_formula {
    const struct scenario_formula *formula;
    struct expression *expression;
    struct compiled_formula *parts; /* formula->part_count */
    struct compiled_formula *otherwise;
};

enum cell_role {
    CELL_LET,
    CELL_REQUIRE,
    CELL_WHEN,
    CELL_QUANTITY
};

struct cell {
    enum cell_role role;
    uint32_t owner; /* let, require or kernel index */
    const struct scenario_quantity *quantity;
    const char *what;
    struct compiled_formula compiled;
    uint32_t input_count;
    uint8_t *inputs;    /* symbols used directly */
    uint64_t variables; /* knobs and workload used, also through let */
};

/* Table over the product of some knobs' value lists. size 0: none. */
struct memo {
    uint32_t size, dimension_count;
    uint8_t variables[MEMO_DIMENSIONS_MAX];
    uint32_t strides[MEMO_DIMENSIONS_MAX];
    uint64_t fast; /* the variables above */
};

struct memo_entry {
    double value;
    uint32_t epoch; /* valid when equal to the table's epoch, which is never 0 */
    uint32_t source;
};

enum kernel_check {
    KERNEL_UNCHECKED,
    KERNEL_VALID,
    KERNEL_INVALID
};

struct kernel_state {
    struct kernel_case built;
    enum kernel_check check;
    uint32_t invalid_count; /* cells whose value no member can hold */
};

/* State for one set of workload overrides: the scenario itself, and one per layer group. */
struct evaluation_context {
    double symbols[EXPRESSION_VARIABLES_MAX];
    uint32_t value_index[SCENARIO_KNOBS_MAX + SCENARIO_WORKLOAD_MAX];
    uint64_t workload;          /* of the workload variables' values; never 0 once they are taken */
    uint64_t off_list;          /* variables whose value is not in their list */
    uint64_t *dirty;            /* bit per cell */
    double *values;             /* per cell */
    uint8_t *sources, *invalid; /* per cell */
    uint32_t *epochs;           /* per cell */
    struct memo_entry **tables; /* per cell */
    struct kernel_state kernels[KERNELS_PER_LAYER_MAX];
};

struct compiled_override {
    struct compiled_formula compiled;
    uint32_t input_count;
    uint8_t *inputs;
    double *last_inputs;
    double value;
    bool known;
};

struct scenario_evaluator {
    const struct scenario *scenario;
    struct arena arena;
    double scratch[EXPRESSION_VARIABLES_MAX]; /* what the compiled expressions read */
    uint32_t cell_count, word_count;
    struct cell *cells; /* let (in dependency order), require, then per kernel `when` and quantities */
    uint32_t let_cells[SCENARIO_LET_MAX];
    uint32_t require_first, kernel_first[KERNELS_PER_LAYER_MAX + 1];
    bool has_when[KERNELS_PER_LAYER_MAX]; /* the cell kernel_first[k] is its `when` */
    uint64_t *dependents;                 /* symbol x word */
    uint64_t *require_mask, *let_mask, *kernel_masks[KERNELS_PER_LAYER_MAX];
    struct memo *memos;                                               /* per cell */
    uint16_t *slow_memos[SCENARIO_KNOBS_MAX + SCENARIO_WORKLOAD_MAX]; /* memos whose epoch the variable ends */
    uint32_t slow_counts[SCENARIO_KNOBS_MAX + SCENARIO_WORKLOAD_MAX];
    uint32_t *sorted[SCENARIO_KNOBS_MAX + SCENARIO_WORKLOAD_MAX]; /* value indices in ascending order of value */
    uint32_t context_count;
    struct evaluation_context *contexts;
    struct compiled_override *overrides[SERVING_LAYER_GROUPS_MAX];
    struct compiled_formula notes[SCENARIO_NOTES_MAX];
    struct compiled_formula settings[SCENARIO_SETTINGS_MAX];
};

/* scenario_compile.c */
MUST_CHECK enum status evaluator_compile(struct scenario_evaluator *evaluator, struct error *error);
void evaluator_release(struct scenario_evaluator *evaluator);
/* Value of a formula at evaluator->scratch. */
MUST_CHECK enum status compiled_evaluate(struct scenario_evaluator *evaluator, const struct compiled_formula *compiled,
                                         const char *what, double *value, enum input_source *source,
                                         struct error *error);

#endif
