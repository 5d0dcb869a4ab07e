/* SPDX-License-Identifier: GPL-3.0-or-later
 * Counting and numbering of configurations; every product is checked. */
#include "calibrate/config_space.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/text_buffer.h"

static uint32_t value_count(const struct config_space *space, uint32_t i)
{
    return scenario_variable_get(space->scenario, space->varied[i])->value_count;
}

static enum status set_varied(struct config_space *space, const uint32_t *varied, uint32_t count, struct error *error)
{
    bool chosen[CONFIG_VARIABLES_MAX] = {false};
    const size_t variables = scenario_variable_count(space->scenario);
    for (uint32_t i = 0; i < count; i++) {
        if (varied[i] >= variables) {
            BUG("variable %u of %zu", varied[i], variables);
        }
        if (chosen[varied[i]]) {
            return error_set(error, STATUS_USAGE, "%s is varied twice",
                             scenario_variable_get(space->scenario, varied[i])->name);
        }
        chosen[varied[i]] = true;
    }
    const size_t knobs = scenario_knob_count(space->scenario);
    space->varied_count = 0;
    for (uint32_t i = 0; i < variables; i++) {
        if (count ? chosen[i] : i < knobs) {
            space->varied[space->varied_count++] = i;
        }
    }
    return STATUS_OK;
}

enum status config_space_init(struct config_space *space, const struct scenario *scenario, const uint32_t *varied,
                              uint32_t varied_count, const double *values, uint64_t config_limit, struct error *error)
{
    *space = (struct config_space){.scenario = scenario};
    memcpy(space->values, values, scenario_variable_count(scenario) * sizeof *values);
    enum status status = set_varied(space, varied, varied_count, error);
    if (status) {
        return status;
    }
    uint64_t total = 1;
    double about = 1;
    bool fits = true;
    for (uint32_t i = space->varied_count; i-- > 0;) {
        space->strides[i] = total;
        about *= value_count(space, i);
        fits = fits && checked_multiply(total, value_count(space, i), &total);
    }
    space->config_count = total;
    if (!fits || total > config_limit) {
        char text[32];
        return error_set(error, STATUS_LIMIT,
                         "%u variables span about %s configurations, more than the limit of %llu; vary fewer of them",
                         space->varied_count, number_format_digits(about, 3, text), (unsigned long long)config_limit);
    }
    return STATUS_OK;
}

enum status config_space_parse_names(const struct scenario *scenario, const char *names, uint32_t *indices,
                                     uint32_t *count, struct error *error)
{
    *count = 0;
    for (const char *at = names;; at++) {
        const size_t length = strcspn(at, ",");
        char name[64];
        if (length == 0 || length >= sizeof name) {
            return error_set(error, STATUS_USAGE, "\"%s\" is not a list of names separated by commas", names);
        }
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        const long index = scenario_variable_find(scenario, name);
        if (index < 0) {
            return scenario_unknown_variable(scenario, name, error);
        }
        if (*count == CONFIG_VARIABLES_MAX) {
            return error_set(error, STATUS_USAGE, "\"%s\" names more than %d variables", names, CONFIG_VARIABLES_MAX);
        }
        indices[(*count)++] = (uint32_t)index;
        at += length;
        if (*at == '\0') {
            return STATUS_OK;
        }
    }
}

void config_space_values(const struct config_space *space, uint64_t index, double *values)
{
    memcpy(values, space->values, scenario_variable_count(space->scenario) * sizeof *values);
    for (uint32_t i = 0; i < space->varied_count; i++) {
        const struct scenario_variable *variable = scenario_variable_get(space->scenario, space->varied[i]);
        values[space->varied[i]] = variable->values[index / space->strides[i] % variable->value_count];
    }
}
