/* SPDX-License-Identifier: GPL-3.0-or-later
 * Private to evidence/scenario*.c: the scenario as read, before it is evaluated. */
#ifndef OCCAM_EVIDENCE_SCENARIO_SCENARIO_INTERNAL_H
#define OCCAM_EVIDENCE_SCENARIO_SCENARIO_INTERNAL_H

#include "evidence/arena.h"
#include "evidence/scenario/expression.h"
#include "evidence/scenario/resource_table.h"
#include "evidence/scenario/scenario.h"
#include "evidence/scenario/yaml_tree.h"

enum {
    SCENARIO_NAME_LENGTH_MAX = 63,
    SCENARIO_RULE_FIELDS = 9,
    SCENARIO_PARTS_MAX = RESOURCE_KEYS_MAX > SCENARIO_RULE_FIELDS ? RESOURCE_KEYS_MAX : SCENARIO_RULE_FIELDS,
    SCENARIO_OVERRIDES_MAX = SCENARIO_WORKLOAD_MAX,
    SCENARIO_QUANTITIES_MAX = 256, /* of one kernel */
    SCENARIO_TABLES_PER_KERNEL = 96
};

/* Names an expression may use, in this order: variables (knobs, workload), let entries, then these. */
enum scenario_constant {
    SCENARIO_CONSTANT_SM_COUNT,
    SCENARIO_CONSTANT_SMEM_PER_CTA,
    SCENARIO_CONSTANT_L2_CAPACITY,
    SCENARIO_CONSTANT_COMPUTE_CAPABILITY, /* 90 for 9.0 */
    SCENARIO_CONSTANT_GRID_CTAS,          /* notes only */
    SCENARIO_CONSTANT_COUNT
};
extern const char *const scenario_constant_names[SCENARIO_CONSTANT_COUNT];

enum formula_kind {
    FORMULA_NUMBER,
    FORMULA_EXPRESSION,
    FORMULA_LOOKUP, /* resource table, `otherwise` where it has no row */
    FORMULA_RULE    /* named SMEM rule */
};

/* Anything in the file that becomes a number. Owned by the scenario's arena. */
struct scenario_formula {
    enum formula_kind kind;
    enum input_source source; /* NUMBER and EXPRESSION; RULE and LOOKUP have their own */
    double number;
    const char *text; /* EXPRESSION */
    unsigned line, column;
    unsigned text_column;       /* 0: columns inside the text are not known */
    struct variable_set inputs; /* symbols used, directly */
    uint32_t part_count;        /* LOOKUP: keys; RULE: fields */
    struct scenario_formula *parts;
    uint8_t rule_fields[SCENARIO_RULE_FIELDS];
    const char *rule_name;
    struct resource_index *index;
    const char *column_name, *table_name, *const *key_columns;
    struct scenario_formula *otherwise; /* NULL: a missing row is an error */
};

enum quantity_type {
    QUANTITY_DOUBLE,
    QUANTITY_COUNT32,
    QUANTITY_COUNT64,
    QUANTITY_INT32,
    QUANTITY_FLAG
};

/* A formula and the member of struct kernel_case that it fills. */
struct scenario_quantity {
    const char *name; /* as in the file, for messages */
    struct scenario_formula formula;
    enum quantity_type type;
    size_t offset;
    size_t source_offset; /* enum input_source member, or 0 */
};

struct scenario_kernel {
    const char *name;
    unsigned line, column;
    struct scenario_formula *when; /* NULL = always */
    struct kernel_case prototype;  /* everything that is no formula */
    bool mean_iterations;          /* loop.iterations follows from ragged */
    uint32_t quantity_count;
    struct scenario_quantity *quantities;
};

struct scenario_let {
    const char *name;
    struct scenario_formula formula;
};

struct scenario_override {
    uint32_t variable;
    struct scenario_formula formula;
};

struct scenario_layers {
    double count;
    const char *text; /* "tokens = 128 + context / 128", "" if nothing is set */
    uint32_t override_count;
    struct scenario_override *overrides;
};

struct scenario {
    struct arena arena;
    const char *calibration;                     /* NULL if none */
    const char *name, *title, *path, *directory; /* directory "" for the current one, NULL when built in */
    uint64_t hash;
    const struct gpu_device *device;
    double constants[SCENARIO_CONSTANT_COUNT]; /* NaN where the device lacks the figure */

    uint32_t knob_count, variable_count;
    struct scenario_variable variables[SCENARIO_KNOBS_MAX + SCENARIO_WORKLOAD_MAX];
    uint32_t let_count;
    struct scenario_let lets[SCENARIO_LET_MAX];
    uint32_t let_order[SCENARIO_LET_MAX]; /* every entry after those it uses */
    uint32_t require_count;
    struct scenario_constraint requires[SCENARIO_REQUIRE_MAX];
    struct scenario_formula require_formulas[SCENARIO_REQUIRE_MAX];
    uint32_t kernel_count;
    struct scenario_kernel kernels[KERNELS_PER_LAYER_MAX];
    uint32_t note_count;
    struct scenario_note notes[SCENARIO_NOTES_MAX];
    struct scenario_formula *note_formulas[SCENARIO_NOTES_MAX];
    const char *measure_kernel; /* NULL: none */
    uint32_t setting_count;
    const char *settings[SCENARIO_SETTINGS_MAX];
    struct scenario_formula *setting_formulas; /* setting_count */
    long concurrency_variable;
    struct serving_model serving;
    uint32_t layer_group_count;
    struct scenario_layers layer_groups[SERVING_LAYER_GROUPS_MAX];

    uint32_t symbol_count; /* variables + lets + constants */
    const char *symbols[EXPRESSION_VARIABLES_MAX];
    uint32_t table_count; /* indices to release */
    struct resource_index *tables[KERNELS_PER_LAYER_MAX * SCENARIO_TABLES_PER_KERNEL];
};

static inline uint32_t scenario_let_symbol(const struct scenario *scenario, uint32_t let)
{
    return scenario->variable_count + let;
}
static inline uint32_t scenario_constant_symbol(const struct scenario *scenario, enum scenario_constant constant)
{
    return scenario->variable_count + scenario->let_count + (uint32_t)constant;
}

struct scenario_reader;
/* `measure`, which may be NULL: scenario_measure.c. */
MUST_CHECK enum status scenario_read_measure(const struct scenario_reader *reader, const struct yaml_node *node);

/* State of one read. */
struct scenario_reader {
    struct scenario *scenario;
    struct error *error;
    const struct yaml_node *tables; /* `tables`: texts of tables that the scenario carries itself; NULL: none */
};

/* --- scenario_nodes.c: access to the tree with messages ------------------------------------------------------------
 */

enum status reader_fail(const struct scenario_reader *reader, enum status status, const struct yaml_node *node,
                        const char *format, ...) PRINTF_LIKE(4, 5);
MUST_CHECK enum status reader_no_memory(const struct scenario_reader *reader);
/* Every key of map is one of keys[0..count), else an error with near names. node must be a map. */
MUST_CHECK enum status reader_check_keys(const struct scenario_reader *reader, const struct yaml_node *node,
                                         const char *what, const char *const *keys, size_t count);
MUST_CHECK enum status reader_expect(const struct scenario_reader *reader, const struct yaml_node *node,
                                     enum yaml_kind kind, const char *what);
/* A plain scalar that is a finite number. */
MUST_CHECK enum status reader_number(const struct scenario_reader *reader, const struct yaml_node *node,
                                     const char *what, double *number);
/* A text of at least one character on one line. */
MUST_CHECK enum status reader_text(const struct scenario_reader *reader, const struct yaml_node *node, const char *what,
                                   const char **text);
/* An identifier that no other name of the scenario or of the expression language has. */
MUST_CHECK enum status reader_new_name(const struct scenario_reader *reader, const struct yaml_node *node,
                                       const char *what);
/* Up to four of names[0..count) near to `name`: "; near names: a, b" or "". */
void scenario_near_names(const char *const *names, size_t count, const char *name, char *out, size_t out_size);
/* "; INTRO a, b, c" of as many names as fit. */
void scenario_list_names(const char *const *names, size_t count, const char *intro, char *out, size_t out_size);

/* --- scenario_formula.c ------------------------------------------------------------------------------------------- */

enum formula_scope {
    SCOPE_FULL,
    SCOPE_VARIABLES /* no let entries */,
    SCOPE_NOTE /* grid_ctas too */
};
/* allow_forms: also {from: ...}, {rule: ...}, {value: ..., source: ...}. Names are resolved: variables and let must
 * have been read. */
MUST_CHECK enum status formula_read(const struct scenario_reader *reader, const struct yaml_node *node,
                                    const char *what, enum formula_scope scope, bool allow_forms,
                                    struct scenario_formula *formula);
/* A formula that stands for `number`. */
void formula_set_number(struct scenario_formula *formula, const struct yaml_node *node, double number,
                        enum input_source source);
/* A formula made from a text of the reader's own, placed at node. */
MUST_CHECK enum status formula_set_text(const struct scenario_reader *reader, const struct yaml_node *node,
                                        const char *what, const char *text, struct scenario_formula *formula);
/* A column of a table that is open already, looked up by `keys` among the rows of `where` (may be NULL). `from` names
 * the table and gives the place. */
MUST_CHECK enum status formula_set_lookup(const struct scenario_reader *reader, const struct yaml_node *from,
                                          const struct csv_table *table, const char *column,
                                          const struct yaml_node *keys, const struct yaml_node *where, const char *what,
                                          struct scenario_formula *formula);
/* Value at the scenario's base configuration of a formula in SCOPE_VARIABLES. */
MUST_CHECK enum status formula_base_value(const struct scenario_reader *reader, const struct scenario_formula *formula,
                                          double *value);
/* Adds the place of formula (and the column inside its text) to an error of the expression. Returns error's status. */
enum status formula_error(const struct scenario *scenario, const struct scenario_formula *formula, const char *what,
                          enum status status, struct error *error);

/* --- sections ------------------------------------------------------------------------------------------------------
 */

MUST_CHECK enum status scenario_read_document(struct scenario_reader *reader, const struct yaml_node *root,
                                              const struct device_catalogue *catalogue, const char *device_override);
MUST_CHECK enum status scenario_read_kernels(struct scenario_reader *reader, const struct yaml_node *node);
MUST_CHECK enum status scenario_read_serving(struct scenario_reader *reader, const struct yaml_node *node);
/* Reads a table named in the file: beside the scenario, or built in. */
MUST_CHECK enum status scenario_read_table(const struct scenario_reader *reader, const struct yaml_node *node,
                                           struct csv_table *table);

/* --- scenario_loop_table.c ------------------------------------------------------------------------------------------
 */

/* `from`, `keys` and `where` of a loop. Nodes are the tree's. Release with loop_table_release. */
struct loop_table {
    const struct yaml_node *from, *keys, *where;
    bool is_open; /* there is a table */
    struct csv_table csv;
    void *texts; /* cells of columns that reading adds */
};

/* node: the map `loop`. Without `from` the table stays closed, which every function below takes as one without columns.
 */
MUST_CHECK enum status loop_table_read(const struct scenario_reader *reader, const struct yaml_node *node,
                                       struct loop_table *table);
void loop_table_release(struct loop_table *table);

enum loop_column {
    LOOP_COLUMN_ABSENT,
    LOOP_COLUMN_EMPTY, /* in all rows of `where` */
    LOOP_COLUMN_FILLED
};
/* Column "loop.PREFIXKEY"; *name is the table's, unless absent. */
enum loop_column loop_table_column(const struct loop_table *table, const char *prefix, const char *key,
                                   const char **name);
/* Whether the table fills columns loop.PREFIX*, told by loop.PREFIXkey. STATUS_BAD_DATA where others of them are filled
 * and that one is not: half a load or product would count as none. */
MUST_CHECK enum status loop_table_group(const struct scenario_reader *reader, const struct loop_table *table,
                                        const char *prefix, const char *key, bool *is_filled);
MUST_CHECK enum status loop_table_formula(const struct scenario_reader *reader, const struct loop_table *table,
                                          const char *column, const char *what, struct scenario_formula *formula);
/* The one text of that column, owned by the scenario; NULL where there is none. */
MUST_CHECK enum status loop_table_text(const struct scenario_reader *reader, const struct loop_table *table,
                                       const char *prefix, const char *key, const char **text);

#endif
