/* SPDX-License-Identifier: GPL-3.0-or-later
 * From the operands of `occam measure` to one plan: kernels with settings, scenarios with their knob space, plan files.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text_buffer.h"
#include "cli/measure_request.h"
#include "evidence/scenario/measure_plan.h"
#include "evidence/scenario/scenario.h"

enum {
    NAMES_MAX = 64,
    SPACE_MAX = 1000000 /* configurations of a scenario that are looked at */
};
#define FILE_BYTES_MAX ((size_t)4 << 20)

void measure_source_release(struct measure_source *source)
{
    text_buffer_release(&source->plain);
}

/* ---- kernels ------------------------------------------------------------------------------------------------------
 */

static const struct measure_setting *find_setting(const struct measure_kernel *kernel, const char *name, size_t length)
{
    for (size_t i = 0; i < kernel->setting_count; i++)
        if (strlen(kernel->settings[i].name) == length && strncmp(kernel->settings[i].name, name, length) == 0)
            return &kernel->settings[i];
    return NULL;
}

static enum status unknown_setting(const struct measure_kernel *kernel, const char *text, struct error *error)
{
    const char *names[MEASURE_SETTINGS_MAX];
    char name[64];

    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "="), text);
    for (size_t i = 0; i < kernel->setting_count; i++)
        names[i] = kernel->settings[i].name;
    (void)error_set(error, STATUS_USAGE, "%s has no setting \"%s\" (occam measure --list)", kernel->name, name);
    near_names_append(error, name, names, kernel->setting_count);
    return STATUS_USAGE;
}

static enum status add_kernel(const struct measure_request *request, const struct measure_kernel *kernel,
                              struct measure_source *source, struct error *error)
{
    struct text_buffer line = {0};
    struct error reason = {0};
    enum status status = STATUS_OK;
    uint64_t count;

    text_buffer_append(&line, kernel->name);
    for (size_t i = 0; i < request->settings.count && status == STATUS_OK; i++) {
        const char *item = request->settings.items[i];

        if (strpbrk(item, " \t\n#") != NULL || strchr(item, '=') == NULL)
            status = error_set(error, STATUS_USAGE, "option --set: \"%.60s\" is not NAME=VALUE[,VALUE...]", item);
        else if (find_setting(kernel, item, strcspn(item, "=")) == NULL)
            status = unknown_setting(kernel, item, error);
        text_buffer_append_format(&line, " %s", item);
    }
    text_buffer_append(&line, "\n");
    if (status == STATUS_OK && line.failed)
        status = error_set(error, STATUS_NO_MEMORY, "no memory for a plan");
    if (status == STATUS_OK && campaign_plan_count(line.text, "", &count, &reason) != STATUS_OK)
        status = error_set(error, reason.status == STATUS_LIMIT ? STATUS_LIMIT : STATUS_USAGE, "%s", reason.text);
    if (status == STATUS_OK)
        text_buffer_append(&source->plain, line.text);
    text_buffer_release(&line);
    return status;
}

/* ---- scenarios ----------------------------------------------------------------------------------------------------
 */

/* The values each variable goes through: those of -s, else a knob's list, else the base. */
struct space {
    const struct scenario *scenario;
    struct scenario_evaluator *evaluator;
    size_t count;
    struct {
        const double *values;
        size_t count;
        double own[NUMBER_LIST_MAX];
    } axes[SCENARIO_KNOBS_MAX + SCENARIO_WORKLOAD_MAX];
};

static enum status set_axis(struct space *space, const char *item, struct error *error)
{
    double scratch[SCENARIO_KNOBS_MAX + SCENARIO_WORKLOAD_MAX];
    size_t name_length = strcspn(item, "=");
    char one[256];

    if (item[name_length] != '=')
        return error_set(error, STATUS_USAGE, "option --set: \"%.60s\" is not NAME=VALUE[,VALUE...]", item);
    long index = -1;
    size_t used = 0;
    scenario_base_values(space->scenario, scratch);
    for (const char *value = item + name_length + 1;; value += strcspn(value, ",") + 1) {
        (void)snprintf(one, sizeof one, "%.*s=%.*s", (int)name_length, item, (int)strcspn(value, ","), value);
        enum status status = scenario_set_value(space->scenario, one, false, scratch, error);

        if (status != STATUS_OK)
            return status;
        one[name_length < sizeof one ? name_length : 0] = '\0';
        index = scenario_variable_find(space->scenario, one);
        if (index < 0 || used == NUMBER_LIST_MAX)
            return error_set(error, STATUS_USAGE, "option --set: \"%.60s\" has too many values", item);
        for (size_t i = 0; i < used; i++)
            if (space->axes[index].own[i] == scratch[index])
                return error_set(error, STATUS_USAGE,
                                 "option --set: \"%.60s\" names a value twice; --repeats measures more than once",
                                 item);
        space->axes[index].own[used++] = scratch[index];
        if (value[strcspn(value, ",")] == '\0')
            break;
    }
    space->axes[index].values = space->axes[index].own;
    space->axes[index].count = used;
    return STATUS_OK;
}

static enum status open_space(const struct measure_request *request, struct space *space, struct error *error)
{
    enum status status = STATUS_OK;
    double total = 1.0;

    space->count = scenario_variable_count(space->scenario);
    for (size_t i = 0; i < space->count; i++) {
        const struct scenario_variable *variable = scenario_variable_get(space->scenario, i);

        space->axes[i].values = variable->is_knob ? variable->values : &variable->base;
        space->axes[i].count = variable->is_knob ? variable->value_count : 1;
    }
    for (size_t i = 0; i < request->settings.count && status == STATUS_OK; i++)
        status = set_axis(space, request->settings.items[i], error);
    for (size_t i = 0; i < space->count; i++)
        total *= (double)space->axes[i].count;
    if (status == STATUS_OK && total > SPACE_MAX)
        return error_set(error, STATUS_LIMIT, "%s has %.0f configurations, more than %d: fix some knobs with -s",
                         scenario_name(space->scenario), total, SPACE_MAX);
    return status;
}

static enum status write_config(struct space *space, const struct measure_kernel *kernel, struct text_buffer *plain,
                                struct error *error)
{
    enum status status = STATUS_OK;

    text_buffer_append(plain, kernel->name);
    for (size_t i = 0; i < scenario_measure_setting_count(space->scenario) && status == STATUS_OK; i++) {
        const char *name = scenario_measure_setting(space->scenario, i);
        int64_t value = 0;

        if (find_setting(kernel, name, strlen(name)) == NULL)
            return error_set_at(error, STATUS_BAD_DATA, scenario_path(space->scenario), 0, 0,
                                "%s has no setting \"%s\"", kernel->name, name);
        status = scenario_measure_value(space->evaluator, i, &value, error);
        text_buffer_append_format(plain, " %s=%lld", name, (long long)value);
    }
    text_buffer_append(plain, "\n");
    return status;
}

/* Every configuration of the space that no `require` line forbids. */
static enum status walk_space(struct space *space, const struct measure_kernel *kernel, struct text_buffer *plain,
                              size_t *written, struct error *error)
{
    size_t at[SCENARIO_KNOBS_MAX + SCENARIO_WORKLOAD_MAX] = {0};
    double values[SCENARIO_KNOBS_MAX + SCENARIO_WORKLOAD_MAX];

    for (;;) {
        enum config_verdict verdict;
        size_t constraint, i = space->count;
        struct layer_case layer;

        for (size_t v = 0; v < space->count; v++)
            values[v] = space->axes[v].values[at[v]];
        enum status status = scenario_evaluate(space->evaluator, values, &verdict, &constraint, &layer, error);
        if (status == STATUS_OK && verdict == CONFIG_OK) {
            status = write_config(space, kernel, plain, error);
            ++*written;
        }
        if (status != STATUS_OK)
            return status;
        while (i > 0 && ++at[i - 1] == space->axes[i - 1].count)
            at[--i] = 0;
        if (i == 0)
            return STATUS_OK;
    }
}

static enum status add_space(const struct measure_request *request, struct space *space, struct measure_source *source,
                             struct error *error)
{
    const char *name = scenario_measure_kernel(space->scenario);
    const struct measure_kernel *kernel = name != NULL ? measure_kernel_find(name) : NULL;
    struct text_buffer lines = {0};
    size_t written = 0;
    uint64_t count;

    if (name == NULL)
        return error_set_at(error, STATUS_BAD_DATA, scenario_path(space->scenario), 0, 0,
                            "the scenario names no verification kernel (measure: {kernel: ...}), so there is nothing "
                            "to measure");
    if (kernel == NULL)
        return error_set_at(error, STATUS_NOT_FOUND, scenario_path(space->scenario), 0, 0, "there is no kernel '%.40s'",
                            name);
    enum status status = open_space(request, space, error);
    if (status == STATUS_OK)
        status = scenario_evaluator_create(space->scenario, &space->evaluator, error);
    if (status == STATUS_OK)
        status = walk_space(space, kernel, &lines, &written, error);
    if (status == STATUS_OK && written == 0)
        status = error_set(error, STATUS_BAD_DATA, "no configuration of %s meets its requirements",
                           scenario_name(space->scenario));
    if (status == STATUS_OK && lines.failed)
        status = error_set(error, STATUS_NO_MEMORY, "no memory for a plan");
    if (status == STATUS_OK)
        status = campaign_plan_count(lines.text, scenario_path(space->scenario), &count, error);
    if (status != STATUS_OK && error->line != 0 && error->column == 0)
        error->line = 0; /* a line of the expansion, not of the file */
    if (status == STATUS_OK)
        text_buffer_append(&source->plain, lines.text);
    text_buffer_release(&lines);
    scenario_evaluator_free(space->evaluator);
    return status;
}

static enum status add_scenario(const struct measure_request *request, const char *operand,
                                struct measure_source *source, struct error *error)
{
    struct device_catalogue *catalogue = NULL;
    struct scenario *scenario = NULL;
    struct space *space = calloc(1, sizeof *space);
    enum status status = space != NULL ? device_catalogue_create(&catalogue, error)
                                       : error_set(error, STATUS_NO_MEMORY, "no memory for a scenario");

    if (status == STATUS_OK)
        status = scenario_read(operand, catalogue, NULL, &scenario, error);
    if (status == STATUS_OK) {
        space->scenario = scenario;
        status = add_space(request, space, source, error);
    }
    scenario_free(scenario);
    device_catalogue_free(catalogue);
    free(space);
    return status;
}

/* ---- plan files ---------------------------------------------------------------------------------------------------
 */

static bool has_ending(const char *name, const char *ending)
{
    size_t length = strlen(name), tail = strlen(ending);

    return length > tail && strcmp(name + length - tail, ending) == 0;
}

/* A line that begins with `kernels:` is what makes a YAML file a scenario. */
static bool is_scenario_text(const char *text)
{
    return strncmp(text, "kernels:", 8) == 0 || strstr(text, "\nkernels:") != NULL;
}

static enum status add_plan(const struct measure_request *request, const char *path, const char *text, size_t length,
                            struct measure_source *source, struct error *error)
{
    struct text_buffer plain = {0};
    enum status status = STATUS_OK;
    uint64_t count;

    if (request->settings.count > 0)
        return error_set(error, STATUS_USAGE, "option --set goes with a kernel or a scenario; %s is a plan", path);
    if (has_ending(path, ".plan"))
        text_buffer_append_bytes(&plain, text, length);
    else
        status = measure_plan_convert(text, length, path, &plain, error);
    if (status == STATUS_OK)
        status = campaign_plan_count(plain.text != NULL ? plain.text : "", path, &count, error);
    if (status == STATUS_OK) {
        text_buffer_append(&source->plain, plain.text);
        text_buffer_append(&source->plain, "\n");
    }
    text_buffer_release(&plain);
    return status;
}

static enum status unknown_operand(const char *operand, struct error *error)
{
    const char *names[NAMES_MAX];
    size_t count = measure_kernel_count() < NAMES_MAX ? measure_kernel_count() : NAMES_MAX;

    for (size_t i = 0; i < count; i++)
        names[i] = measure_kernel_get(i)->name;
    /* As a scenario that is neither built in nor a file: it may be a file that is missing. */
    (void)error_set(error, STATUS_MISSING, "there is no kernel, scenario or plan \"%.100s\" (occam measure --list)",
                    operand);
    near_names_append(error, operand, names, count);
    return STATUS_MISSING;
}

static enum status add_operand(const struct measure_request *request, const char *operand,
                               struct measure_source *source, struct error *error)
{
    const struct measure_kernel *kernel = measure_kernel_find(operand);
    struct stat info;
    char *text = NULL;
    size_t length;

    if (kernel != NULL)
        return add_kernel(request, kernel, source, error);
    if (stat(operand, &info) != 0 && (strchr(operand, '/') != NULL || has_ending(operand, ".plan")))
        return file_read_text(operand, FILE_BYTES_MAX, &text, &length, error);
    if (stat(operand, &info) != 0) {
        enum status status = add_scenario(request, operand, source, error);

        return status == STATUS_MISSING && error->file[0] == '\0' ? unknown_operand(operand, error) : status;
    }
    enum status status = file_read_text(operand, FILE_BYTES_MAX, &text, &length, error);

    if (status != STATUS_OK)
        return status;
    if (!has_ending(operand, ".plan") && is_scenario_text(text))
        status = add_scenario(request, operand, source, error);
    else
        status = add_plan(request, operand, text, length, source, error);
    free(text);
    return status;
}

enum status measure_source_read(const struct measure_request *request, struct measure_source *source,
                                struct error *error)
{
    enum status status = STATUS_OK;

    (void)snprintf(source->name, sizeof source->name, "%s", request->operands.items[0]);
    for (size_t i = 0; i < request->operands.count && status == STATUS_OK; i++)
        status = add_operand(request, request->operands.items[i], source, error);
    if (status == STATUS_OK && source->plain.failed)
        status = error_set(error, STATUS_NO_MEMORY, "no memory for a plan");
    return status == STATUS_OK ? campaign_plan_count(source->plain.text, source->name, &source->count, error) : status;
}

enum status measure_source_plan(const struct measure_source *source, const struct measure_request *request,
                                struct campaign_plan *plan, struct error *error)
{
    bool runs = !request->dry_run && !request->compile_only;

    if (runs && isinf(request->budget_s) && request->limit == 0 && source->count > MEASURE_WITHOUT_BUDGET_MAX)
        return error_set(error, STATUS_USAGE,
                         "%s has %llu configurations; say how long they may take, such as --budget 600s", source->name,
                         (unsigned long long)source->count);
    return campaign_plan_sample(source->plain.text, source->name, MEASURE_CONFIGS_MAX, request->seed, plan, error);
}
