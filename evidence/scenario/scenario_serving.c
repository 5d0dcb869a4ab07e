/* SPDX-License-Identifier: GPL-3.0-or-later
 * The section `serving`: the step-time line, measured points, experts, bytes and layer groups. */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "evidence/scenario/scenario_internal.h"

struct serving_reader {
    const struct scenario_reader *reader;
    struct serving_model *serving;
};

/* A number, or an expression over knobs and workload at the base configuration; `what` must lie in [least, most]. */
static enum status read_value(const struct serving_reader *self, const struct yaml_node *map, const char *key,
                              double least, double most, double *value)
{
    const struct yaml_node *node = yaml_find(map, key);
    if (node == NULL) {
        return STATUS_OK; /* keeps its default */
    }
    struct scenario_formula formula;
    double number;
    enum status status = formula_read(self->reader, node, key, SCOPE_VARIABLES, false, &formula);
    if (status == STATUS_OK) {
        status = formula_base_value(self->reader, &formula, &number);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (!(number >= least && number <= most)) {
        return reader_fail(self->reader, STATUS_BAD_DATA, node, "%s is %g; it must lie between %g and %g", key, number,
                           least, most);
    }
    *value = number;
    return STATUS_OK;
}

static enum status require_keys(const struct serving_reader *self, const struct yaml_node *map, const char *what,
                                const char *const *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (yaml_find(map, keys[i]) == NULL) {
            return reader_fail(self->reader, STATUS_BAD_DATA, map, "%s: '%s' is missing", what, keys[i]);
        }
    }
    return STATUS_OK;
}

static enum status read_concurrency(const struct serving_reader *self, const struct yaml_node *node)
{
    struct scenario *scenario = self->reader->scenario;
    const char *name = "C";
    enum status status = node != NULL ? reader_text(self->reader, node, "concurrency", &name) : STATUS_OK;
    if (status != STATUS_OK) {
        return status;
    }
    long found = scenario_variable_find(scenario, name);
    if (found >= 0 && !scenario->variables[found].is_knob) {
        scenario->concurrency_variable = found;
        return STATUS_OK;
    }
    scenario->concurrency_variable = -1;
    return node != NULL
               ? reader_fail(self->reader, STATUS_BAD_DATA, node, "there is no workload variable '%.64s'", name)
               : STATUS_OK;
}

/* --- the base of the step time ------------------------------------------------------------------------------------ */

static enum status read_line(const struct serving_reader *self, const struct yaml_node *node)
{
    struct serving_model *serving = self->serving;
    double fixed_ms = NAN, per_request_ms = NAN;
    enum status status = read_value(self, node, "fixed_ms", 0, 1e9, &fixed_ms);
    if (status == STATUS_OK) {
        status = read_value(self, node, "per_request_ms", 0, 1e9, &per_request_ms);
    }
    if (status != STATUS_OK) {
        return status;
    }
    serving->base.form = STEP_TIME_LINE;
    serving->base.degrees_of_freedom = -1;
    serving->base.parameters[0] = fixed_ms * SECONDS_PER_MS;
    serving->base.parameters[1] = per_request_ms * SECONDS_PER_MS;
    if (isnan(fixed_ms) != isnan(per_request_ms)) {
        return reader_fail(self->reader, STATUS_BAD_DATA, node, "the line needs both 'fixed_ms' and 'per_request_ms'");
    }
    if (isnan(fixed_ms) && yaml_find(node, "measured") == NULL) {
        return reader_fail(self->reader, STATUS_BAD_DATA, node,
                           "serving needs 'fixed_ms' and 'per_request_ms', or 'measured', or both");
    }
    if (fixed_ms + per_request_ms == 0) {
        return reader_fail(self->reader, STATUS_BAD_DATA, node, "the line gives a step of 0 ms");
    }
    serving->base_from_points = isnan(fixed_ms);
    return STATUS_OK;
}

static enum status read_form(const struct serving_reader *self, const struct yaml_node *node)
{
    static const char *const others[] = {"given", "auto", "committee"};
    const char *text = NULL;
    if (node == NULL) {
        return STATUS_OK;
    }
    enum status status = reader_text(self->reader, node, "form", &text);
    if (status != STATUS_OK) {
        return status;
    }
    bool known = false;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        known = known || strcmp(text, others[i]) == 0;
    }
    for (int i = 0; i < STEP_TIME_FORM_COUNT; i++) {
        known = known || strcmp(text, step_time_form_name((enum step_time_form)i)) == 0;
    }
    if (!known) {
        return reader_fail(
            self->reader, STATUS_BAD_DATA, node,
            "'form' is given, auto, committee, line, coverage, power, sqrt, saturating, padded or hinge, got '%.32s'",
            text);
    }
    (void)snprintf(self->serving->form, sizeof self->serving->form, "%s", text);
    return STATUS_OK;
}

static enum status read_point(const struct serving_reader *self, const struct yaml_node *node)
{
    static const char *const keys[] = {"concurrency", "tokens_per_s", "step_ms", "relative_sigma"};
    struct serving_model *serving = self->serving;
    struct serving_point *point = &serving->points[serving->point_count++];
    *point = (struct serving_point){.throughput_tokens_per_s = NAN};
    enum status status = reader_check_keys(self->reader, node, "a measured point", keys, 4);
    if (status == STATUS_OK) {
        status = require_keys(self, node, "a measured point", keys, 1);
    }
    if (status == STATUS_OK && (yaml_find(node, "tokens_per_s") == NULL) == (yaml_find(node, "step_ms") == NULL)) {
        status = reader_fail(self->reader, STATUS_BAD_DATA, node,
                             "a measured point needs one of 'tokens_per_s' and 'step_ms'");
    }
    double step_ms = NAN;
    if (status == STATUS_OK) {
        status = read_value(self, node, "concurrency", 1, 1e9, &point->concurrency);
    }
    if (status == STATUS_OK) {
        status = read_value(self, node, "tokens_per_s", 1e-9, 1e15, &point->throughput_tokens_per_s);
    }
    if (status == STATUS_OK) {
        status = read_value(self, node, "step_ms", 1e-9, 1e12, &step_ms);
    }
    if (status == STATUS_OK) {
        status = read_value(self, node, "relative_sigma", 0, 10, &point->relative_sigma);
    }
    point->step_time_s =
        isnan(step_ms) ? point->concurrency * serving->tokens_per_step_per_request / point->throughput_tokens_per_s
                       : step_ms * SECONDS_PER_MS;
    return status;
}

static enum status read_points(const struct serving_reader *self, const struct yaml_node *node)
{
    if (node == NULL) {
        return STATUS_OK;
    }
    enum status status = reader_expect(self->reader, node, YAML_LIST, "measured");
    if (status == STATUS_OK && (node->count == 0 || node->count > SERVING_POINTS_MAX)) {
        status = reader_fail(self->reader, STATUS_LIMIT, node, "measured holds 1 to %d points", SERVING_POINTS_MAX);
    }
    for (const struct yaml_node *child = node->first; child != NULL && status == STATUS_OK; child = child->next) {
        status = read_point(self, child);
    }
    return status;
}

/* --- what else a step holds -----------------------------------------------------------------------------------------
 */

static enum status read_experts(const struct serving_reader *self, const struct yaml_node *node)
{
    static const char *const keys[] = {"total", "per_token", "bytes_per_expert"};
    if (node == NULL) {
        return STATUS_OK;
    }
    struct serving_model *serving = self->serving;
    enum status status = reader_check_keys(self->reader, node, "experts", keys, 3);
    if (status == STATUS_OK) {
        status = require_keys(self, node, "experts", keys, 2);
    }
    if (status == STATUS_OK) {
        status = read_value(self, node, "total", 1, 1e6, &serving->experts);
    }
    if (status == STATUS_OK) {
        status = read_value(self, node, "per_token", 1e-9, serving->experts, &serving->experts_per_token);
    }
    if (status == STATUS_OK) {
        status = read_value(self, node, "bytes_per_expert", 0, 1e18, &serving->floor_bytes_per_expert);
    }
    serving->base.experts = 0; /* the line has no expert term; a fitted form sets its own */
    return status;
}

static enum status read_captured_sizes(const struct serving_reader *self, const struct yaml_node *node)
{
    if (node == NULL) {
        return STATUS_OK;
    }
    struct step_time_law *base = &self->serving->base;
    enum status status = reader_expect(self->reader, node, YAML_LIST, "captured_sizes");
    if (status == STATUS_OK && (node->count == 0 || node->count > CAPTURED_SIZES_MAX)) {
        status =
            reader_fail(self->reader, STATUS_LIMIT, node, "captured_sizes holds 1 to %d sizes", CAPTURED_SIZES_MAX);
    }
    double previous = 0;
    for (const struct yaml_node *child = node->first; child != NULL && status == STATUS_OK; child = child->next) {
        double *size = &base->captured_sizes[base->captured_count++];
        status = reader_number(self->reader, child, "captured_sizes", size);
        if (status == STATUS_OK && !(*size > previous)) {
            status = reader_fail(self->reader, STATUS_BAD_DATA, child, "captured_sizes must be positive and ascend");
        }
        previous = *size;
    }
    return status;
}

static enum status read_kernel_share(const struct serving_reader *self, const struct yaml_node *node)
{
    static const char *const keys[] = {"fraction", "relative_sigma"};
    if (node == NULL) {
        return STATUS_OK;
    }
    enum status status = reader_check_keys(self->reader, node, "kernel_share", keys, 2);
    if (status == STATUS_OK) {
        status = require_keys(self, node, "kernel_share", keys, 1);
    }
    if (status == STATUS_OK) {
        status = read_value(self, node, "fraction", 1e-9, 1, &self->serving->kernel_share_measured);
    }
    return status == STATUS_OK
               ? read_value(self, node, "relative_sigma", 0, 10, &self->serving->kernel_share_relative_sigma)
               : status;
}

/* --- layer groups ------------------------------------------------------------------------------------------------- */

static enum status read_overrides(const struct serving_reader *self, const struct yaml_node *node,
                                  struct scenario_layers *group)
{
    struct scenario *scenario = self->reader->scenario;
    enum status status = reader_expect(self->reader, node, YAML_MAP, "set");
    if (status == STATUS_OK && node->count > SCENARIO_OVERRIDES_MAX) {
        status = reader_fail(self->reader, STATUS_LIMIT, node, "set holds at most %d names", SCENARIO_OVERRIDES_MAX);
    }
    if (status != STATUS_OK) {
        return status;
    }
    group->overrides = arena_allocate(&scenario->arena, node->count + 1, sizeof *group->overrides);
    if (group->overrides == NULL) {
        return reader_no_memory(self->reader);
    }
    for (const struct yaml_node *child = node->first; child != NULL && status == STATUS_OK; child = child->next) {
        long found = scenario_variable_find(scenario, child->key);
        if (found < 0 || scenario->variables[found].is_knob) {
            return error_set_at(self->reader->error, STATUS_BAD_DATA, scenario->path, child->key_line,
                                child->key_column, "there is no workload variable '%.64s'", child->key);
        }
        struct scenario_override *override = &group->overrides[group->override_count++];
        override->variable = (uint32_t)found;
        status = formula_read(self->reader, child, child->key, SCOPE_VARIABLES, false, &override->formula);
    }
    return status;
}

/* The group in words, for people; long ones are cut. */
static enum status name_layer_group(const struct serving_reader *self, const struct yaml_node *set,
                                    struct scenario_layers *group)
{
    char text[256] = "";
    for (const struct yaml_node *child = set == NULL ? NULL : set->first; child != NULL; child = child->next) {
        size_t used = strlen(text);
        (void)snprintf(text + used, sizeof text - used, "%s%s = %s", used ? ", " : "", child->key, child->text);
    }
    group->text = arena_copy_text(&self->reader->scenario->arena, text, strlen(text));
    return group->text == NULL ? reader_no_memory(self->reader) : STATUS_OK;
}

static enum status read_layer_group(const struct serving_reader *self, const struct yaml_node *node)
{
    static const char *const keys[] = {"count", "set"};
    struct scenario *scenario = self->reader->scenario;
    struct scenario_layers *group = &scenario->layer_groups[scenario->layer_group_count++];
    enum status status = reader_check_keys(self->reader, node, "a layer group", keys, 2);
    if (status == STATUS_OK) {
        status = require_keys(self, node, "a layer group", keys, 1);
    }
    if (status == STATUS_OK) {
        status = read_value(self, node, "count", 1e-9, 1e6, &group->count);
    }
    const struct yaml_node *set = yaml_find(node, "set");
    if (status == STATUS_OK && set != NULL) {
        status = read_overrides(self, set, group);
    }
    return status == STATUS_OK ? name_layer_group(self, set, group) : status;
}

static enum status read_layers(const struct serving_reader *self, const struct yaml_node *node)
{
    if (node == NULL) {
        return STATUS_OK;
    }
    enum status status = reader_expect(self->reader, node, YAML_LIST, "layers");
    if (status == STATUS_OK && (node->count == 0 || node->count > SERVING_LAYER_GROUPS_MAX)) {
        status = reader_fail(self->reader, STATUS_LIMIT, node, "layers holds 1 to %d groups", SERVING_LAYER_GROUPS_MAX);
    }
    for (const struct yaml_node *child = node->first; child != NULL && status == STATUS_OK; child = child->next) {
        status = read_layer_group(self, child);
    }
    return status;
}

enum status scenario_read_serving(struct scenario_reader *reader, const struct yaml_node *node)
{
    static const char *const keys[] = {"concurrency",     "fixed_ms",     "per_request_ms", "measured",
                                       "tokens_per_step", "itl_limit_ms", "experts",        "fixed_bytes",
                                       "captured_sizes",  "kernel_share", "layers",         "form"};
    struct serving_reader self = {reader, &reader->scenario->serving};
    struct serving_model *serving = self.serving;
    double itl_limit_ms = NAN;
    serving->present = true;
    serving->tokens_per_step_per_request = 1;
    serving->kernel_share_measured = NAN;
    enum status status = reader_check_keys(reader, node, "serving", keys, sizeof keys / sizeof keys[0]);
    if (status == STATUS_OK) {
        status = read_concurrency(&self, yaml_find(node, "concurrency"));
    }
    if (status == STATUS_OK) {
        status = read_value(&self, node, "tokens_per_step", 1, 1e6, &serving->tokens_per_step_per_request);
    }
    if (status == STATUS_OK) {
        status = read_line(&self, node);
    }
    if (status == STATUS_OK) {
        status = read_points(&self, yaml_find(node, "measured"));
    }
    if (status == STATUS_OK) {
        status = read_form(&self, yaml_find(node, "form"));
    }
    if (status == STATUS_OK) {
        status = read_value(&self, node, "itl_limit_ms", 1e-6, 1e9, &itl_limit_ms);
    }
    if (status == STATUS_OK) {
        status = read_experts(&self, yaml_find(node, "experts"));
    }
    if (status == STATUS_OK) {
        status = read_value(&self, node, "fixed_bytes", 0, 1e18, &serving->floor_bytes_fixed);
    }
    if (status == STATUS_OK) {
        status = read_captured_sizes(&self, yaml_find(node, "captured_sizes"));
    }
    if (status == STATUS_OK) {
        status = read_kernel_share(&self, yaml_find(node, "kernel_share"));
    }
    serving->itl_limit_s = itl_limit_ms * SECONDS_PER_MS;
    return status == STATUS_OK ? read_layers(&self, yaml_find(node, "layers")) : status;
}
