/* SPDX-License-Identifier: GPL-3.0-or-later
 * Formulas of a scenario file: numbers, expressions, resource-table look-ups and SMEM rules. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text_buffer.h"
#include "evidence/scenario/scenario_internal.h"
#include "model/predict/smem_rule.h"

static const char *const rule_field_names[SCENARIO_RULE_FIELDS] = {
    "block_m",         "block_n",           "block_k",   "head_dim",  "element_bytes_a",
    "element_bytes_b", "element_bytes_out", "num_warps", "num_stages"};

enum status formula_error(const struct scenario *scenario, const struct scenario_formula *formula, const char *what,
                          enum status status, struct error *error)
{
    if (error == NULL) {
        return status;
    }
    char text[sizeof error->text];
    snprintf(text, sizeof text, "%s", error->text);
    unsigned column = formula->column;
    if (error->column > 0 && error->line == 0 && formula->text_column > 0) {
        column = formula->text_column + error->column - 1;
    }
    return error_set_at(error, status, scenario->path, formula->line, column, "%s: %.700s", what, text);
}

static void merge_inputs(struct variable_set *into, const struct variable_set *from)
{
    into->bits[0] |= from->bits[0];
    into->bits[1] |= from->bits[1];
}

static void set_place(struct scenario_formula *formula, const struct yaml_node *node)
{
    formula->line = node->line;
    formula->column = node->column;
    /* An expression inside quotes starts one column later. */
    formula->text_column = node->text_column > 0 ? node->text_column + (node->quoted ? 1 : 0) : 0;
}

void formula_set_number(struct scenario_formula *formula, const struct yaml_node *node, double number,
                        enum input_source source)
{
    *formula = (struct scenario_formula){.kind = FORMULA_NUMBER, .number = number, .source = source};
    set_place(formula, node);
}

/* Symbols by scope: those outside it become "" so that no text matches them. */
static void scoped_symbols(const struct scenario *scenario, enum formula_scope scope, const char **symbols)
{
    for (uint32_t i = 0; i < scenario->symbol_count; i++) {
        bool is_let = i >= scenario->variable_count && i < scenario->variable_count + scenario->let_count;
        bool hidden = (scope == SCOPE_VARIABLES && is_let) ||
                      (scope != SCOPE_NOTE && i == scenario_constant_symbol(scenario, SCENARIO_CONSTANT_GRID_CTAS));
        symbols[i] = hidden ? "" : scenario->symbols[i];
    }
}

static enum status check_constants(const struct scenario_reader *reader, const struct scenario_formula *formula,
                                   const char *what, enum formula_scope scope)
{
    const struct scenario *scenario = reader->scenario;
    for (uint32_t i = 0; i < SCENARIO_CONSTANT_GRID_CTAS && scope != SCOPE_NOTE; i++) {
        uint32_t symbol = scenario_constant_symbol(scenario, (enum scenario_constant)i);
        if ((formula->inputs.bits[symbol / 64] >> (symbol % 64) & 1) && isnan(scenario->constants[i])) {
            return error_set_at(reader->error, STATUS_MISSING, scenario->path, formula->line, formula->column,
                                "%s uses %s, which is not known for the device %s", what, scenario_constant_names[i],
                                scenario->device->name);
        }
    }
    return STATUS_OK;
}

static enum status read_expression(const struct scenario_reader *reader, const char *what, enum formula_scope scope,
                                   struct scenario_formula *formula)
{
    const char *symbols[EXPRESSION_VARIABLES_MAX];
    double values[EXPRESSION_VARIABLES_MAX] = {0};
    scoped_symbols(reader->scenario, scope, symbols);
    struct expression *expression;
    enum status status =
        expression_compile(formula->text, symbols, values, reader->scenario->symbol_count, &expression, reader->error);
    if (status != STATUS_OK) {
        return formula_error(reader->scenario, formula, what, status, reader->error);
    }
    formula->inputs = expression_variables(expression);
    expression_free(expression);
    return check_constants(reader, formula, what, scope);
}

enum status formula_set_text(const struct scenario_reader *reader, const struct yaml_node *node, const char *what,
                             const char *text, struct scenario_formula *formula)
{
    *formula = (struct scenario_formula){.kind = FORMULA_EXPRESSION, .source = INPUT_SOURCE_FORMULA};
    set_place(formula, node);
    formula->text_column = 0;
    formula->text = arena_copy_text(&reader->scenario->arena, text, strlen(text));
    return formula->text == NULL ? reader_no_memory(reader) : read_expression(reader, what, SCOPE_FULL, formula);
}

static enum status read_scalar(const struct scenario_reader *reader, const struct yaml_node *node, const char *what,
                               enum formula_scope scope, struct scenario_formula *formula)
{
    double number;
    if (node->text[0] == '\0') {
        return reader_fail(reader, STATUS_BAD_DATA, node, "%s has no value", what);
    }
    if (!node->quoted && number_parse(node->text, &number) == STATUS_OK) {
        formula_set_number(formula, node, number, INPUT_SOURCE_FORMULA);
        return STATUS_OK;
    }
    if (!node->quoted && (strcmp(node->text, "true") == 0 || strcmp(node->text, "false") == 0)) {
        formula_set_number(formula, node, node->text[0] == 't', INPUT_SOURCE_FORMULA);
        return STATUS_OK;
    }
    *formula = (struct scenario_formula){.kind = FORMULA_EXPRESSION, .source = INPUT_SOURCE_FORMULA};
    set_place(formula, node);
    formula->text = node->text;
    return read_expression(reader, what, scope, formula);
}

/* {value: 255, source: assumed} */
static enum status read_marked(const struct scenario_reader *reader, const struct yaml_node *node, const char *what,
                               enum formula_scope scope, struct scenario_formula *formula)
{
    static const char *const keys[] = {"value", "source"};
    enum status status = reader_check_keys(reader, node, what, keys, 2);
    if (status != STATUS_OK) {
        return status;
    }
    status = formula_read(reader, yaml_find(node, "value"), what, scope, false, formula);
    const struct yaml_node *source = yaml_find(node, "source");
    if (status != STATUS_OK || source == NULL) {
        return status;
    }
    for (int i = 0; i < INPUT_SOURCE_ABSENT; i++) {
        if (source->kind == YAML_SCALAR && strcmp(input_source_name((enum input_source)i), source->text) == 0) {
            formula->source = (enum input_source)i;
            return STATUS_OK;
        }
    }
    return reader_fail(
        reader, STATUS_BAD_DATA, source,
        "source must be measured, compiled, fitted, datasheet, literature, rule, formula, user or assumed");
}

static enum status add_part(const struct scenario_reader *reader, const struct yaml_node *node,
                            enum formula_scope scope, struct scenario_formula *formula)
{
    struct scenario_formula *part = &formula->parts[formula->part_count];
    enum status status = formula_read(reader, node, node->key, scope, false, part);
    if (status == STATUS_OK) {
        merge_inputs(&formula->inputs, &part->inputs);
        formula->part_count++;
    }
    return status;
}

static enum status start_form(const struct scenario_reader *reader, const struct yaml_node *node,
                              enum formula_kind kind, struct scenario_formula *formula)
{
    *formula = (struct scenario_formula){.kind = kind};
    set_place(formula, node);
    formula->parts = arena_allocate(&reader->scenario->arena, SCENARIO_PARTS_MAX, sizeof *formula->parts);
    return formula->parts == NULL ? reader_no_memory(reader) : STATUS_OK;
}

/* {rule: triton-gemm, block_m: BM, ...} */
static enum status read_rule(const struct scenario_reader *reader, const struct yaml_node *node, const char *what,
                             enum formula_scope scope, struct scenario_formula *formula)
{
    const char *keys[SCENARIO_RULE_FIELDS + 1];
    keys[0] = "rule";
    memcpy(keys + 1, rule_field_names, sizeof rule_field_names);
    enum status status = reader_check_keys(reader, node, what, keys, SCENARIO_RULE_FIELDS + 1);
    if (status == STATUS_OK) {
        status = start_form(reader, node, FORMULA_RULE, formula);
    }
    if (status == STATUS_OK) {
        status = reader_text(reader, yaml_find(node, "rule"), "rule", &formula->rule_name);
    }
    if (status != STATUS_OK) {
        return status;
    }
    const char *names[32];
    size_t count = 0;
    while (count < 32 && (names[count] = smem_rule_name((unsigned)count)) != NULL) {
        if (strcmp(names[count++], formula->rule_name) == 0) {
            count = SIZE_MAX;
            break;
        }
    }
    if (count != SIZE_MAX) {
        char near[256];
        scenario_near_names(names, count, formula->rule_name, near, sizeof near);
        return reader_fail(reader, STATUS_BAD_DATA, yaml_find(node, "rule"), "unknown SMEM rule '%.64s'%s",
                           formula->rule_name, near);
    }
    for (uint32_t field = 0; field < SCENARIO_RULE_FIELDS && status == STATUS_OK; field++) {
        const struct yaml_node *child = yaml_find(node, rule_field_names[field]);
        if (child != NULL) {
            formula->rule_fields[formula->part_count] = (uint8_t)field;
            status = add_part(reader, child, scope, formula);
        }
    }
    return status;
}

static enum status build_index(const struct scenario_reader *reader, const struct yaml_node *node,
                               const struct csv_table *table, const struct yaml_node *where,
                               struct scenario_formula *formula)
{
    struct scenario *scenario = reader->scenario;
    struct resource_filter filters[RESOURCE_KEYS_MAX];
    uint32_t filter_count = 0;
    for (const struct yaml_node *child = where != NULL ? where->first : NULL; child != NULL; child = child->next) {
        if (child->kind != YAML_SCALAR || filter_count == RESOURCE_KEYS_MAX) {
            return reader_fail(reader, STATUS_BAD_DATA, child, "where must hold at most %d texts", RESOURCE_KEYS_MAX);
        }
        filters[filter_count++] = (struct resource_filter){child->key, child->text};
    }
    if (scenario->table_count == sizeof scenario->tables / sizeof scenario->tables[0]) {
        return reader_fail(reader, STATUS_LIMIT, node, "too many resource tables");
    }
    struct resource_index *index = arena_allocate(&scenario->arena, 1, sizeof *index);
    if (index == NULL) {
        return reader_no_memory(reader);
    }
    enum status status = resource_index_build(table, formula->column_name, formula->key_columns, formula->part_count,
                                              filters, filter_count, index, reader->error);
    if (status == STATUS_OK) {
        formula->index = index;
        scenario->tables[scenario->table_count++] = index;
    }
    return status;
}

static enum status read_keys(const struct scenario_reader *reader, const struct yaml_node *keys,
                             enum formula_scope scope, struct scenario_formula *formula)
{
    enum status status = reader_expect(reader, keys, YAML_MAP, "keys");
    if (status != STATUS_OK) {
        return status;
    }
    if (keys->count == 0 || keys->count > RESOURCE_KEYS_MAX) {
        return reader_fail(reader, STATUS_BAD_DATA, keys, "keys must name 1 to %d columns", RESOURCE_KEYS_MAX);
    }
    const char **columns = arena_allocate(&reader->scenario->arena, keys->count, sizeof *columns);
    if (columns == NULL) {
        return reader_no_memory(reader);
    }
    for (const struct yaml_node *child = keys->first; child != NULL && status == STATUS_OK; child = child->next) {
        columns[formula->part_count] = child->key;
        status = add_part(reader, child, scope, formula);
    }
    formula->key_columns = columns;
    return status;
}

/* What holds where the table has no row: a rule stays a rule, anything else is an assumption unless marked. */
static enum status read_otherwise(const struct scenario_reader *reader, const struct yaml_node *node,
                                  enum formula_scope scope, struct scenario_formula *formula)
{
    if (yaml_find(node, "else") == NULL) {
        return STATUS_OK;
    }
    const struct yaml_node *child = yaml_find(node, "else");
    struct scenario_formula *otherwise = arena_allocate(&reader->scenario->arena, 1, sizeof *otherwise);
    if (otherwise == NULL) {
        return reader_no_memory(reader);
    }
    if (child->kind == YAML_MAP && yaml_find(child, "from") != NULL) {
        return reader_fail(reader, STATUS_BAD_DATA, child, "else cannot be another table");
    }
    enum status status = formula_read(reader, child, "else", scope, true, otherwise);
    if (status == STATUS_OK) {
        if (child->kind == YAML_SCALAR) {
            otherwise->source = INPUT_SOURCE_ASSUMED;
        }
        merge_inputs(&formula->inputs, &otherwise->inputs);
        formula->otherwise = otherwise;
    }
    return status;
}

enum status formula_set_lookup(const struct scenario_reader *reader, const struct yaml_node *from,
                               const struct csv_table *table, const char *column, const struct yaml_node *keys,
                               const struct yaml_node *where, const char *what, struct scenario_formula *formula)
{
    enum status status = start_form(reader, from, FORMULA_LOOKUP, formula);
    if (status == STATUS_OK) {
        formula->column_name = arena_copy_text(&reader->scenario->arena, column, strlen(column));
        status = formula->column_name != NULL ? reader_text(reader, from, what, &formula->table_name)
                                              : reader_no_memory(reader);
    }
    if (status == STATUS_OK) {
        status = read_keys(reader, keys, SCOPE_FULL, formula);
    }
    return status == STATUS_OK ? build_index(reader, from, table, where, formula) : status;
}

/* {from: resources/FILE.csv, column: registers_per_thread, keys: {csv_column: expr}, where: {...}, else: 255} */
static enum status read_lookup(const struct scenario_reader *reader, const struct yaml_node *node, const char *what,
                               enum formula_scope scope, struct scenario_formula *formula)
{
    static const char *const known[] = {"from", "column", "keys", "where", "else"};
    enum status status = reader_check_keys(reader, node, what, known, 5);
    if (status != STATUS_OK) {
        return status;
    }
    const struct yaml_node *column = yaml_find(node, "column"), *keys = yaml_find(node, "keys"),
                           *where = yaml_find(node, "where");
    if (column == NULL || keys == NULL) {
        return reader_fail(reader, STATUS_BAD_DATA, node, "%s: a table needs 'column' and 'keys'", what);
    }
    status = where != NULL ? reader_expect(reader, where, YAML_MAP, "where") : STATUS_OK;
    if (status == STATUS_OK) {
        status = start_form(reader, node, FORMULA_LOOKUP, formula);
    }
    if (status == STATUS_OK) {
        status = reader_text(reader, column, "column", &formula->column_name);
    }
    if (status == STATUS_OK) {
        status = reader_text(reader, yaml_find(node, "from"), "from", &formula->table_name);
    }
    if (status == STATUS_OK) {
        status = read_keys(reader, keys, scope, formula);
    }
    struct csv_table table;
    if (status == STATUS_OK) {
        status = scenario_read_table(reader, yaml_find(node, "from"), &table);
    }
    if (status != STATUS_OK) {
        return status;
    }
    status = build_index(reader, node, &table, where, formula);
    csv_table_release(&table);
    return status == STATUS_OK ? read_otherwise(reader, node, scope, formula) : status;
}

enum status formula_read(const struct scenario_reader *reader, const struct yaml_node *node, const char *what,
                         enum formula_scope scope, bool allow_forms, struct scenario_formula *formula)
{
    if (node->kind == YAML_SCALAR) {
        return read_scalar(reader, node, what, scope, formula);
    }
    if (node->kind == YAML_MAP && allow_forms) {
        if (yaml_find(node, "from") != NULL) {
            return read_lookup(reader, node, what, scope, formula);
        }
        if (yaml_find(node, "rule") != NULL) {
            return read_rule(reader, node, what, scope, formula);
        }
        if (yaml_find(node, "value") != NULL) {
            return read_marked(reader, node, what, scope, formula);
        }
        return reader_fail(reader, STATUS_BAD_DATA, node,
                           "%s must be a number, an expression, or a map with 'from', 'rule' or 'value'", what);
    }
    return reader_fail(reader, STATUS_BAD_DATA, node, "%s must be a number or an expression", what);
}

enum status formula_base_value(const struct scenario_reader *reader, const struct scenario_formula *formula,
                               double *value)
{
    const struct scenario *scenario = reader->scenario;
    if (formula->kind == FORMULA_NUMBER) {
        *value = formula->number;
        return STATUS_OK;
    }
    double values[EXPRESSION_VARIABLES_MAX] = {0};
    scenario_base_values(scenario, values);
    for (int i = 0; i < SCENARIO_CONSTANT_COUNT; i++) {
        values[scenario_constant_symbol(scenario, (enum scenario_constant)i)] = scenario->constants[i];
    }
    struct expression *expression;
    enum status status = expression_compile(formula->text, scenario->symbols, values, scenario->symbol_count,
                                            &expression, reader->error);
    if (status == STATUS_OK) {
        status = expression_evaluate(expression, value, reader->error);
    }
    expression_free(expression);
    return status == STATUS_OK ? status : formula_error(scenario, formula, "at the base values", status, reader->error);
}
