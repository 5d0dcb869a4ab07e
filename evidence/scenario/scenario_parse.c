/* SPDX-License-Identifier: GPL-3.0-or-later
 * The sections of a scenario file besides kernels and serving: names, knobs, base, workload, let, require, notes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "evidence/scenario/scenario_internal.h"

/* --- knobs and workload ------------------------------------------------------------------------------------------- */

static enum status read_range(const struct scenario_reader *reader, const struct yaml_node *node, const char *what,
                              double *values, uint32_t *count)
{
    static const char *const keys[] = {"from", "to", "step", "times"};
    enum status status = reader_check_keys(reader, node, what, keys, 4);
    const struct yaml_node *from = yaml_find(node, "from"), *to = yaml_find(node, "to"),
                           *step = yaml_find(node, "step"), *times = yaml_find(node, "times");
    if (status != STATUS_OK) {
        return status;
    }
    if (from == NULL || to == NULL || (step == NULL) == (times == NULL)) {
        return reader_fail(reader, STATUS_BAD_DATA, node, "%s: a range needs 'from', 'to' and one of 'step', 'times'",
                           what);
    }
    double first, last, change;
    const struct yaml_node *change_node = step != NULL ? step : times;
    status = reader_number(reader, from, "from", &first);
    if (status == STATUS_OK) {
        status = reader_number(reader, to, "to", &last);
    }
    if (status == STATUS_OK) {
        status = reader_number(reader, change_node, change_node->key, &change);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (first > last || (step != NULL ? !(change > 0) : !(change > 1 && first > 0))) {
        return reader_fail(reader, STATUS_BAD_DATA, node,
                           "%s: a range ascends: from <= to, and step > 0, or times > 1 with from > 0", what);
    }
    /* A step of 0.1 lands a rounding error beyond `to`; the slack keeps the last value. */
    double value = first, slack = 1e-9 * change * (step != NULL ? 1.0 : last);
    for (*count = 0; value <= last + slack; (*count)++) {
        if (*count == SCENARIO_KNOB_VALUES_MAX) {
            return reader_fail(reader, STATUS_LIMIT, node, "%s: more than %d values", what, SCENARIO_KNOB_VALUES_MAX);
        }
        if (*count > 0 && value == values[*count - 1]) {
            return reader_fail(reader, STATUS_BAD_DATA, node, "%s: the step is too small to change the value", what);
        }
        values[*count] = value;
        value = step != NULL ? first + (*count + 1) * change : value * change;
    }
    return STATUS_OK;
}

static enum status read_values(const struct scenario_reader *reader, const struct yaml_node *node, const char *what,
                               double *values, uint32_t *count)
{
    if (node->kind == YAML_MAP) {
        return read_range(reader, node, what, values, count);
    }
    if (node->kind == YAML_SCALAR) {
        *count = 1;
        return reader_number(reader, node, what, values);
    }
    *count = 0;
    if (node->count == 0) {
        return reader_fail(reader, STATUS_BAD_DATA, node, "%s has no values", what);
    }
    if (node->count > SCENARIO_KNOB_VALUES_MAX) {
        return reader_fail(reader, STATUS_LIMIT, node, "%s: more than %d values", what, SCENARIO_KNOB_VALUES_MAX);
    }
    for (const struct yaml_node *child = node->first; child != NULL; child = child->next) {
        enum status status = reader_number(reader, child, what, &values[*count]);
        if (status != STATUS_OK) {
            return status;
        }
        for (uint32_t i = 0; i < *count; i++) {
            if (values[i] == values[*count]) {
                return reader_fail(reader, STATUS_BAD_DATA, child, "%s lists %s twice", what, child->text);
            }
        }
        (*count)++;
    }
    return STATUS_OK;
}

/* {ask: "what the reader of the file must tell"}: a value that the file leaves open. */
static enum status read_question(const struct scenario_reader *reader, const struct yaml_node *node, const char *what,
                                 bool is_knob, const char **question)
{
    static const char *const keys[] = {"ask"};
    enum status status = reader_check_keys(reader, node, what, keys, 1);
    if (status == STATUS_OK && is_knob) {
        status = reader_fail(reader, STATUS_BAD_DATA, node, "%s: only workload may be left open with 'ask'", what);
    }
    return status == STATUS_OK ? reader_text(reader, yaml_find(node, "ask"), "ask", question) : status;
}

static enum status add_variable(const struct scenario_reader *reader, const struct yaml_node *node, bool is_knob)
{
    struct scenario *scenario = reader->scenario;
    char what[SCENARIO_NAME_LENGTH_MAX + 32];
    enum status status = reader_new_name(reader, node, is_knob ? "the knob" : "the workload variable");
    if (status != STATUS_OK) {
        return status;
    }
    snprintf(what, sizeof what, "%s '%s'", is_knob ? "knob" : "workload variable", node->key);
    double values[SCENARIO_KNOB_VALUES_MAX];
    uint32_t count = 0;
    const char *question = NULL;
    if (node->kind == YAML_MAP && yaml_find(node, "ask") != NULL) {
        status = read_question(reader, node, what, is_knob, &question);
        values[count++] = NAN;
    } else {
        status = read_values(reader, node, what, values, &count);
    }
    if (status != STATUS_OK) {
        return status;
    }
    double *kept = arena_allocate(&scenario->arena, count, sizeof *kept);
    if (kept == NULL) {
        return reader_no_memory(reader);
    }
    memcpy(kept, values, count * sizeof *kept);
    scenario->variables[scenario->variable_count++] =
        (struct scenario_variable){node->key, count, kept, values[0], is_knob, question};
    return STATUS_OK;
}

static enum status read_variables(const struct scenario_reader *reader, const struct yaml_node *node, bool is_knob)
{
    if (node == NULL) {
        return STATUS_OK;
    }
    const char *what = is_knob ? "knobs" : "workload";
    uint32_t limit = is_knob ? SCENARIO_KNOBS_MAX : SCENARIO_WORKLOAD_MAX;
    enum status status = reader_expect(reader, node, YAML_MAP, what);
    if (status == STATUS_OK && node->count > limit) {
        status = reader_fail(reader, STATUS_LIMIT, node, "%s holds %u names; the limit is %u", what,
                             (unsigned)node->count, (unsigned)limit);
    }
    for (const struct yaml_node *child = node->first; child != NULL && status == STATUS_OK; child = child->next) {
        status = add_variable(reader, child, is_knob);
    }
    if (is_knob) {
        reader->scenario->knob_count = reader->scenario->variable_count;
    }
    return status;
}

/* base (knobs) or workload_base: one listed value per name. */
static enum status read_base(const struct scenario_reader *reader, const struct yaml_node *root, const char *section,
                             uint32_t first, uint32_t end, bool all)
{
    struct scenario *scenario = reader->scenario;
    const struct yaml_node *node = yaml_find(root, section);
    const char *names[SCENARIO_KNOBS_MAX + SCENARIO_WORKLOAD_MAX];
    for (uint32_t i = first; i < end; i++) {
        names[i - first] = scenario->variables[i].name;
    }
    if (node == NULL) {
        return all && end > first ? reader_fail(reader, STATUS_BAD_DATA, root, "'%s' is missing", section) : STATUS_OK;
    }
    enum status status = reader_check_keys(reader, node, section, names, end - first);
    for (uint32_t i = first; i < end && status == STATUS_OK; i++) {
        struct scenario_variable *variable = &scenario->variables[i];
        const struct yaml_node *child = yaml_find(node, variable->name);
        if (child == NULL) {
            if (all) {
                return reader_fail(reader, STATUS_BAD_DATA, node, "'%s' gives no value for the knob '%s'", section,
                                   variable->name);
            }
            continue;
        }
        status = reader_number(reader, child, variable->name, &variable->base);
        bool listed = false;
        for (uint32_t k = 0; k < variable->value_count && status == STATUS_OK; k++) {
            listed = listed || variable->values[k] == variable->base;
        }
        if (status == STATUS_OK && !listed) {
            return reader_fail(reader, STATUS_BAD_DATA, child, "%s is not among the listed values of '%s'", child->text,
                               variable->name);
        }
    }
    return status;
}

/* --- let ---------------------------------------------------------------------------------------------------------- */

static enum status read_let_names(const struct scenario_reader *reader, const struct yaml_node *node)
{
    struct scenario *scenario = reader->scenario;
    enum status status = node != NULL ? reader_expect(reader, node, YAML_MAP, "let") : STATUS_OK;
    if (status == STATUS_OK && node != NULL && node->count > SCENARIO_LET_MAX) {
        status = reader_fail(reader, STATUS_LIMIT, node, "let holds %u names; the limit is %d", (unsigned)node->count,
                             SCENARIO_LET_MAX);
    }
    for (const struct yaml_node *child = node != NULL ? node->first : NULL; child != NULL && status == STATUS_OK;
         child = child->next) {
        status = reader_new_name(reader, child, "the let entry");
        scenario->lets[scenario->let_count++].name = child->key;
    }
    for (uint32_t i = 0; i < scenario->variable_count; i++) {
        scenario->symbols[i] = scenario->variables[i].name;
    }
    for (uint32_t i = 0; i < scenario->let_count; i++) {
        scenario->symbols[scenario_let_symbol(scenario, i)] = scenario->lets[i].name;
    }
    for (int i = 0; i < SCENARIO_CONSTANT_COUNT; i++) {
        scenario->symbols[scenario_constant_symbol(scenario, (enum scenario_constant)i)] = scenario_constant_names[i];
    }
    scenario->symbol_count = scenario->variable_count + scenario->let_count + SCENARIO_CONSTANT_COUNT;
    return status;
}

static bool let_uses(const struct scenario *scenario, uint32_t user, uint32_t used)
{
    uint32_t symbol = scenario_let_symbol(scenario, used);
    return scenario->lets[user].formula.inputs.bits[symbol / 64] >> (symbol % 64) & 1;
}

static enum status cycle_error(const struct scenario_reader *reader, const uint32_t *path, uint32_t length,
                               uint32_t repeated)
{
    const struct scenario *scenario = reader->scenario;
    char text[512];
    size_t used = 0;
    uint32_t start = 0;
    while (path[start] != repeated) {
        start++;
    }
    for (uint32_t i = start; i < length && used < sizeof text - SCENARIO_NAME_LENGTH_MAX - 8; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s -> ", scenario->lets[path[i]].name);
    }
    const struct scenario_formula *formula = &scenario->lets[repeated].formula;
    return error_set_at(reader->error, STATUS_BAD_DATA, scenario->path, formula->line, formula->column,
                        "let entries depend on each other: %s%s", text, scenario->lets[repeated].name);
}

/* Depth-first with a stack of our own; at most SCENARIO_LET_MAX deep. */
static enum status order_lets(const struct scenario_reader *reader)
{
    enum {
        NEW,
        OPEN,
        DONE
    };
    struct scenario *scenario = reader->scenario;
    int state[SCENARIO_LET_MAX] = {0};
    uint32_t path[SCENARIO_LET_MAX], next[SCENARIO_LET_MAX], depth, placed = 0;
    for (uint32_t root = 0; root < scenario->let_count; root++) {
        if (state[root] != NEW) {
            continue;
        }
        path[0] = root;
        next[0] = 0;
        state[root] = OPEN;
        for (depth = 1; depth > 0;) {
            uint32_t current = path[depth - 1], candidate = next[depth - 1]++;
            if (candidate == scenario->let_count) {
                state[current] = DONE;
                scenario->let_order[placed++] = current;
                depth--;
            } else if (let_uses(scenario, current, candidate) && state[candidate] == OPEN) {
                return cycle_error(reader, path, depth, candidate);
            } else if (let_uses(scenario, current, candidate) && state[candidate] == NEW) {
                state[candidate] = OPEN;
                next[depth] = 0;
                path[depth++] = candidate;
            }
        }
    }
    return STATUS_OK;
}

static enum status read_lets(const struct scenario_reader *reader, const struct yaml_node *node)
{
    uint32_t i = 0;
    enum status status = STATUS_OK;
    for (const struct yaml_node *child = node != NULL ? node->first : NULL; child != NULL && status == STATUS_OK;
         child = child->next) {
        status = formula_read(reader, child, child->key, SCOPE_FULL, true, &reader->scenario->lets[i++].formula);
    }
    return status == STATUS_OK ? order_lets(reader) : status;
}

/* --- require and notes -------------------------------------------------------------------------------------------- */

static enum status read_requirement(const struct scenario_reader *reader, const struct yaml_node *node)
{
    static const char *const keys[] = {"expr", "why"};
    struct scenario *scenario = reader->scenario;
    enum status status = reader_check_keys(reader, node, "require", keys, 2);
    if (status != STATUS_OK) {
        return status;
    }
    const struct yaml_node *expr = yaml_find(node, "expr"), *why = yaml_find(node, "why");
    if (expr == NULL || why == NULL) {
        return reader_fail(reader, STATUS_BAD_DATA, node, "a requirement needs 'expr' and 'why'");
    }
    struct scenario_constraint *constraint = &scenario->requires[scenario->require_count];
    status = reader_text(reader, why, "why", &constraint->why);
    if (status == STATUS_OK) {
        status =
            formula_read(reader, expr, "expr", SCOPE_FULL, false, &scenario->require_formulas[scenario->require_count]);
    }
    constraint->expression = expr->text;
    scenario->require_count++;
    return status;
}

static enum status read_measured(const struct scenario_reader *reader, const struct yaml_node *node,
                                 double *measured_us)
{
    enum status status = reader_number(reader, node, "measured_us", measured_us);
    return status == STATUS_OK && !(*measured_us > 0)
               ? reader_fail(reader, STATUS_BAD_DATA, node, "measured_us: a time above 0 expected")
               : status;
}

static enum status read_note(const struct scenario_reader *reader, const struct yaml_node *node)
{
    static const char *const keys[] = {"knob", "when", "text", "source", "contests", "measured_us"};
    static const char *const effects[] = {"slower", "faster"};
    struct scenario *scenario = reader->scenario;
    enum status status = reader_check_keys(reader, node, "a note", keys, 6);
    if (status != STATUS_OK) {
        return status;
    }
    const struct yaml_node *knob = yaml_find(node, "knob"), *when = yaml_find(node, "when"),
                           *text = yaml_find(node, "text"), *source = yaml_find(node, "source");
    struct scenario_note *note = &scenario->notes[scenario->note_count];
    *note = (struct scenario_note){.knob = "", .source = "", .contests = "", .measured_us = NAN};
    if (text == NULL) {
        return reader_fail(reader, STATUS_BAD_DATA, node, "a note needs 'text'");
    }
    status = reader_text(reader, text, "text", &note->text);
    if (status == STATUS_OK && source != NULL) {
        status = reader_text(reader, source, "source", &note->source);
    }
    const struct yaml_node *contests = yaml_find(node, "contests"), *measured = yaml_find(node, "measured_us");
    if (status == STATUS_OK && measured != NULL) {
        status = read_measured(reader, measured, &note->measured_us);
    }
    if (status == STATUS_OK && contests != NULL) {
        status = reader_text(reader, contests, "contests", &note->contests);
        if (status == STATUS_OK && strcmp(note->contests, effects[0]) != 0 && strcmp(note->contests, effects[1]) != 0) {
            status = reader_fail(reader, STATUS_BAD_DATA, contests, "'contests' is %s or %s, got '%.64s'", effects[0],
                                 effects[1], note->contests);
        }
    }
    if (status == STATUS_OK && knob != NULL) {
        status = reader_text(reader, knob, "knob", &note->knob);
        long found = scenario_variable_find(scenario, note->knob);
        if (status == STATUS_OK && (found < 0 || !scenario->variables[found].is_knob)) {
            status = reader_fail(reader, STATUS_BAD_DATA, knob, "there is no knob '%.64s'", note->knob);
        }
    }
    if (status == STATUS_OK && when != NULL) {
        struct scenario_formula *formula = arena_allocate(&scenario->arena, 1, sizeof *formula);
        if (formula == NULL) {
            return reader_no_memory(reader);
        }
        status = formula_read(reader, when, "when", SCOPE_NOTE, false, formula);
        scenario->note_formulas[scenario->note_count] = formula;
        note->when = when->text;
    }
    scenario->note_count++;
    return status;
}

static enum status read_list(const struct scenario_reader *reader, const struct yaml_node *node, const char *what,
                             uint32_t limit,
                             enum status (*read_one)(const struct scenario_reader *, const struct yaml_node *))
{
    if (node == NULL) {
        return STATUS_OK;
    }
    enum status status = reader_expect(reader, node, YAML_LIST, what);
    if (status == STATUS_OK && node->count > limit) {
        status = reader_fail(reader, STATUS_LIMIT, node, "%s holds %u entries; the limit is %u", what,
                             (unsigned)node->count, (unsigned)limit);
    }
    for (const struct yaml_node *child = node->first; child != NULL && status == STATUS_OK; child = child->next) {
        status = read_one(reader, child);
    }
    return status;
}

/* --- the document --------------------------------------------------------------------------------------------------
 */

/* Tables that the file carries itself: a block of CSV under each name. */
static enum status read_tables(struct scenario_reader *reader, const struct yaml_node *node)
{
    enum status status = node != NULL ? reader_expect(reader, node, YAML_MAP, "tables") : STATUS_OK;
    for (const struct yaml_node *child = node != NULL ? node->first : NULL; child != NULL && status == STATUS_OK;
         child = child->next) {
        status = child->kind == YAML_SCALAR ? STATUS_OK
                                            : reader_fail(reader, STATUS_BAD_DATA, child,
                                                          "a table is a block of CSV text: '%.64s: |'", child->key);
    }
    reader->tables = node;
    return status;
}

/* A path is taken from the scenario's folder on, as tables are. */
static enum status read_calibration(struct scenario_reader *reader, const struct yaml_node *node)
{
    struct scenario *scenario = reader->scenario;
    const char *name = NULL;
    char path[1024];
    enum status status = node ? reader_text(reader, node, "calibration", &name) : STATUS_OK;
    if (status != STATUS_OK || !name) {
        return status;
    }
    const char *prefix = scenario->directory && strchr(name, '/') && name[0] != '/' ? scenario->directory : "";
    const int length = snprintf(path, sizeof path, "%s%s", prefix, name);
    if (length < 0 || (size_t)length >= sizeof path) {
        return reader_fail(reader, STATUS_LIMIT, node, "the calibration's path is too long");
    }
    scenario->calibration = arena_copy_text(&scenario->arena, path, (size_t)length);
    return scenario->calibration ? STATUS_OK : reader_no_memory(reader);
}

static enum status read_header(struct scenario_reader *reader, const struct yaml_node *root,
                               const struct device_catalogue *catalogue, const char *device_override)
{
    struct scenario *scenario = reader->scenario;
    const struct yaml_node *name = yaml_find(root, "name"), *title = yaml_find(root, "title"),
                           *device = yaml_find(root, "device");
    if (name == NULL) {
        return reader_fail(reader, STATUS_BAD_DATA, root, "'name' is missing");
    }
    enum status status = reader_text(reader, name, "name", &scenario->name);
    if (status == STATUS_OK && title != NULL) {
        status = reader_text(reader, title, "title", &scenario->title);
    }
    if (status == STATUS_OK) {
        status = read_calibration(reader, yaml_find(root, "calibration"));
    }
    const char *device_name = device_override;
    if (status == STATUS_OK && device != NULL) {
        const char *named;
        status = reader_text(reader, device, "device", &named);
        device_name = device_override != NULL ? device_override : status == STATUS_OK ? named : NULL;
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (device_name == NULL) {
        return reader_fail(reader, STATUS_BAD_DATA, root, "'device' is missing");
    }
    status = device_catalogue_find(catalogue, device_name, &scenario->device, reader->error);
    if (status != STATUS_OK) {
        if (reader->error != NULL && device_override == NULL) {
            char text[sizeof reader->error->text];
            snprintf(text, sizeof text, "%s", reader->error->text);
            return reader_fail(reader, status, device, "%.690s", text);
        }
        return status;
    }
    scenario->constants[SCENARIO_CONSTANT_SM_COUNT] = scenario->device->figures[GPU_FIGURE_SM_COUNT].value;
    scenario->constants[SCENARIO_CONSTANT_SMEM_PER_CTA] = scenario->device->limits.smem_per_cta_optin_bytes;
    scenario->constants[SCENARIO_CONSTANT_L2_CAPACITY] = scenario->device->figures[GPU_FIGURE_L2_CAPACITY].value;
    scenario->constants[SCENARIO_CONSTANT_COMPUTE_CAPABILITY] =
        scenario->device->limits.cc_major * 10.0 + scenario->device->limits.cc_minor;
    scenario->constants[SCENARIO_CONSTANT_GRID_CTAS] = NAN;
    return STATUS_OK;
}

enum status scenario_read_document(struct scenario_reader *reader, const struct yaml_node *root,
                                   const struct device_catalogue *catalogue, const char *device_override)
{
    static const char *const keys[] = {"name",    "title",    "device",        "knobs",       "base",
                                       "require", "workload", "workload_base", "let",         "kernels",
                                       "serving", "notes",    "measure",       "calibration", "tables"};
    struct scenario *scenario = reader->scenario;
    enum status status = reader_check_keys(reader, root, "a scenario", keys, sizeof keys / sizeof keys[0]);
    if (status == STATUS_OK) {
        status = read_tables(reader, yaml_find(root, "tables"));
    }
    if (status == STATUS_OK) {
        status = read_header(reader, root, catalogue, device_override);
    }
    if (status == STATUS_OK) {
        status = read_variables(reader, yaml_find(root, "knobs"), true);
    }
    if (status == STATUS_OK) {
        status = read_variables(reader, yaml_find(root, "workload"), false);
    }
    if (status == STATUS_OK) {
        status = read_base(reader, root, "base", 0, scenario->knob_count, true);
    }
    if (status == STATUS_OK) {
        status = read_base(reader, root, "workload_base", scenario->knob_count, scenario->variable_count, false);
    }
    if (status == STATUS_OK) {
        status = read_let_names(reader, yaml_find(root, "let"));
    }
    if (status == STATUS_OK) {
        status = read_lets(reader, yaml_find(root, "let"));
    }
    if (status == STATUS_OK) {
        status = read_list(reader, yaml_find(root, "require"), "require", SCENARIO_REQUIRE_MAX, read_requirement);
    }
    if (status == STATUS_OK && yaml_find(root, "kernels") == NULL) {
        status = reader_fail(reader, STATUS_BAD_DATA, root, "'kernels' is missing");
    }
    if (status == STATUS_OK) {
        status = scenario_read_kernels(reader, yaml_find(root, "kernels"));
    }
    scenario->concurrency_variable = scenario_variable_find(scenario, "C");
    if (scenario->concurrency_variable >= 0 && scenario->variables[scenario->concurrency_variable].is_knob) {
        scenario->concurrency_variable = -1;
    }
    if (status == STATUS_OK && yaml_find(root, "serving") != NULL) {
        status = scenario_read_serving(reader, yaml_find(root, "serving"));
    } else if (status == STATUS_OK) {
        scenario->concurrency_variable = -1;
    }
    if (status == STATUS_OK) {
        status = read_list(reader, yaml_find(root, "notes"), "notes", SCENARIO_NOTES_MAX, read_note);
    }
    if (status == STATUS_OK) {
        status = scenario_read_measure(reader, yaml_find(root, "measure"));
    }
    return status;
}
