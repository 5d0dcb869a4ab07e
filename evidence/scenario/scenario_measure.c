/* SPDX-License-Identifier: GPL-3.0-or-later
 * The section `measure` of a scenario: which verification kernel it describes, and that kernel's settings. */
#include <math.h>
#include <string.h>

#include "evidence/scenario/scenario_evaluator.h"
#include "evidence/scenario/scenario_internal.h"

enum {
    VALUE_MAX = 1 << 30
};

static enum status read_settings(const struct scenario_reader *reader, const struct yaml_node *node)
{
    struct scenario *scenario = reader->scenario;
    enum status status = reader_expect(reader, node, YAML_MAP, "settings");
    if (status == STATUS_OK && node->count > SCENARIO_SETTINGS_MAX) {
        status = reader_fail(reader, STATUS_LIMIT, node, "settings holds at most %d entries", SCENARIO_SETTINGS_MAX);
    }
    if (status != STATUS_OK || node->count == 0) {
        return status;
    }
    scenario->setting_formulas = arena_allocate(&scenario->arena, node->count, sizeof *scenario->setting_formulas);
    if (scenario->setting_formulas == NULL) {
        return reader_no_memory(reader);
    }
    for (const struct yaml_node *child = node->first; child != NULL && status == STATUS_OK; child = child->next) {
        uint32_t index = scenario->setting_count++;
        scenario->settings[index] = child->key;
        status = formula_read(reader, child, child->key, SCOPE_FULL, false, &scenario->setting_formulas[index]);
    }
    return status;
}

enum status scenario_read_measure(const struct scenario_reader *reader, const struct yaml_node *node)
{
    static const char *const keys[] = {"kernel", "settings"};
    if (node == NULL) {
        return STATUS_OK;
    }
    enum status status = reader_check_keys(reader, node, "measure", keys, 2);
    if (status != STATUS_OK) {
        return status;
    }
    const struct yaml_node *kernel = yaml_find(node, "kernel"), *settings = yaml_find(node, "settings");
    if (kernel == NULL) {
        return reader_fail(reader, STATUS_BAD_DATA, node, "'measure' needs 'kernel'");
    }
    status = reader_text(reader, kernel, "kernel", &reader->scenario->measure_kernel);
    return status == STATUS_OK && settings != NULL ? read_settings(reader, settings) : status;
}

const char *scenario_measure_kernel(const struct scenario *scenario)
{
    return scenario->measure_kernel;
}

size_t scenario_measure_setting_count(const struct scenario *scenario)
{
    return scenario->setting_count;
}

const char *scenario_measure_setting(const struct scenario *scenario, size_t index)
{
    if (index >= scenario->setting_count) {
        BUG("setting %zu of %u", index, (unsigned)scenario->setting_count);
    }
    return scenario->settings[index];
}

enum status scenario_measure_value(struct scenario_evaluator *evaluator, size_t index, int64_t *value,
                                   struct error *error)
{
    const struct scenario *scenario = evaluator->scenario;
    const char *name = scenario_measure_setting(scenario, index);
    const struct scenario_formula *formula = &scenario->setting_formulas[index];
    double number;
    enum input_source source;
    memcpy(evaluator->scratch, evaluator->contexts[0].symbols, sizeof evaluator->scratch);
    enum status status = compiled_evaluate(evaluator, &evaluator->settings[index], name, &number, &source, error);
    if (status != STATUS_OK) {
        return status;
    }
    if (!(fabs(number) <= VALUE_MAX) || number != floor(number)) {
        return error_set_at(error, STATUS_DOMAIN, scenario->path, formula->line, formula->column,
                            "setting %s is %.15g; it must be a whole number", name, number);
    }
    *value = (int64_t)number;
    return STATUS_OK;
}
