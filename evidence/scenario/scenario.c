/* SPDX-License-Identifier: GPL-3.0-or-later
 * Scenario: reading the file, and access to what was read. Sections are parsed in scenario_parse.c and its neighbours,
 * evaluation is in scenario_evaluate.c. */
#include "evidence/scenario/scenario.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/checked.h"
#include "base/hash.h"
#include "base/text_buffer.h"
#include "evidence/embedded_data.h"
#include "evidence/scenario/scenario_internal.h"

const char *const scenario_constant_names[SCENARIO_CONSTANT_COUNT] = {
    "sm_count", "smem_per_cta_optin_bytes", "l2_capacity_bytes", "compute_capability", "grid_ctas"};

/* --- files ---------------------------------------------------------------------------------------------------------
 */

static bool is_regular_file(const char *path)
{
    struct stat state;
    return stat(path, &state) == 0 && !S_ISDIR(state.st_mode);
}

static const struct embedded_file *find_shipped(const char *name)
{
    char path[256];
    int length = snprintf(path, sizeof path, "scenarios/%s%s", name, strchr(name, '.') != NULL ? "" : ".yaml");
    return length > 0 && (size_t)length < sizeof path ? embedded_file_find(path) : NULL;
}

static enum status no_such_scenario(const char *name, struct error *error)
{
    const char *names[64] = {NULL};
    char copies[64][64], near[300];
    size_t count = 0;
    for (size_t i = 0; i < embedded_file_count && count < 64; i++) {
        const char *path = embedded_files[i].path, *prefix = "scenarios/";
        if (strncmp(path, prefix, strlen(prefix)) == 0) {
            snprintf(copies[count], sizeof copies[count], "%.60s", path + strlen(prefix));
            copies[count][strcspn(copies[count], ".")] = '\0';
            names[count] = copies[count];
            count++;
        }
    }
    scenario_near_names(names, count, name, near, sizeof near);
    if (near[0] == '\0' && count > 0) {
        scenario_list_names(names, count, "shipped are", near, sizeof near);
    }
    return error_set(error, STATUS_MISSING, "there is no file and no shipped scenario '%.200s'%s", name, near);
}

/* What messages call the scenario, and the folder that tables are looked for in. */
static enum status place(struct scenario *scenario, const char *shown, const char *directory, size_t directory_length,
                         struct error *error)
{
    scenario->path = arena_copy_text(&scenario->arena, shown, strlen(shown));
    scenario->directory =
        directory != NULL ? arena_copy_text(&scenario->arena, directory, directory_length) : scenario->directory;
    return scenario->path != NULL && (directory == NULL || scenario->directory != NULL)
               ? STATUS_OK
               : error_set(error, STATUS_NO_MEMORY, "no memory for the scenario");
}

/* The bytes of a scenario: *text is borrowed (embedded) or *owned by the caller. */
static enum status load_text(struct scenario *scenario, const char *path, const char **text, size_t *length,
                             char **owned, struct error *error)
{
    bool bare = strchr(path, '/') == NULL;
    const struct embedded_file *shipped = bare && !is_regular_file(path) ? find_shipped(path) : NULL;
    if (shipped != NULL) {
        char name[300];
        *text = shipped->begin;
        *length = shipped->length;
        snprintf(name, sizeof name, "built in: %s", shipped->path);
        return place(scenario, name, NULL, 0, error);
    }
    struct stat state;
    if (bare && stat(path, &state) != 0) {
        return no_such_scenario(path, error);
    }
    enum status status = file_read_text(path, SCENARIO_FILE_BYTES_MAX, owned, length, error);
    const char *slash = strrchr(path, '/');
    *text = *owned;
    return status == STATUS_OK ? place(scenario, path, path, slash != NULL ? (size_t)(slash - path) + 1 : 0, error)
                               : status;
}

/* A table that the scenario itself carries, as a block of text under its name; NULL: none of that name. */
static const struct yaml_node *own_table(const struct scenario_reader *reader, const char *name)
{
    return reader->tables != NULL ? yaml_find(reader->tables, name) : NULL;
}

static enum status parse_own_table(const struct scenario_reader *reader, const struct yaml_node *own,
                                   struct csv_table *table)
{
    char shown[1024];
    (void)snprintf(shown, sizeof shown, "%.800s, table %.200s", reader->scenario->path, own->key);
    const char *kept = arena_copy_text(&reader->scenario->arena, shown, strlen(shown));
    return kept != NULL ? csv_parse(own->text, strlen(own->text), kept, table, reader->error)
                        : reader_no_memory(reader);
}

enum status scenario_read_table(const struct scenario_reader *reader, const struct yaml_node *node,
                                struct csv_table *table)
{
    const struct scenario *scenario = reader->scenario;
    const struct yaml_node *own = own_table(reader, node->text);
    if (own != NULL) {
        return parse_own_table(reader, own, table);
    }
    char path[1024];
    const char *prefix = scenario->directory != NULL && node->text[0] != '/' ? scenario->directory : "";
    int length = snprintf(path, sizeof path, "%s%s", prefix, node->text);
    if (length < 0 || (size_t)length >= sizeof path) {
        return reader_fail(reader, STATUS_LIMIT, node, "the table's path is too long");
    }
    enum status status;
    const struct embedded_file *shipped = embedded_file_find(node->text);
    if (shipped != NULL && (scenario->directory == NULL || !is_regular_file(path))) {
        status = csv_parse(shipped->begin, shipped->length, shipped->path, table, reader->error);
    } else if (scenario->directory == NULL) {
        return reader_fail(reader, STATUS_MISSING, node, "there is no built-in table '%.200s'", node->text);
    } else {
        status = csv_read(path, SCENARIO_FILE_BYTES_MAX, table, reader->error);
    }
    if (status == STATUS_MISSING) {
        return reader_fail(reader, status, node, "the resource table '%.200s' cannot be opened", path);
    }
    return status;
}

static enum status create(struct scenario **scenario, struct error *error)
{
    *scenario = calloc(1, sizeof **scenario);
    if (*scenario == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for the scenario");
    }
    (*scenario)->title = "";
    (*scenario)->concurrency_variable = -1;
    return STATUS_OK;
}

static enum status parse(struct scenario *scenario, const char *text, size_t length,
                         const struct device_catalogue *catalogue, const char *device_override, struct error *error)
{
    struct yaml_node *root = NULL;
    struct scenario_reader reader = {.scenario = scenario, .error = error};
    size_t mark = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    scenario->hash = hash_bytes(HASH_START, text, length);
    enum status status =
        yaml_tree_parse(text + mark, length - mark, scenario->path, scenario->hash, &scenario->arena, &root, error);
    return status == STATUS_OK ? scenario_read_document(&reader, root, catalogue, device_override) : status;
}

enum status scenario_read(const char *path, const struct device_catalogue *catalogue, const char *device_override,
                          struct scenario **scenario, struct error *error)
{
    struct scenario *made = NULL;
    const char *text = NULL;
    char *owned = NULL;
    size_t length = 0;
    *scenario = NULL;
    enum status status = create(&made, error);
    status = status == STATUS_OK ? load_text(made, path, &text, &length, &owned, error) : status;
    status = status == STATUS_OK ? parse(made, text, length, catalogue, device_override, error) : status;
    free(owned);
    if (status == STATUS_OK) {
        *scenario = made;
    } else {
        scenario_free(made);
    }
    return status;
}

enum status scenario_read_text(const char *text, size_t length, const char *name,
                               const struct device_catalogue *catalogue, const char *device_override,
                               struct scenario **scenario, struct error *error)
{
    struct scenario *made = NULL;
    *scenario = NULL;
    enum status status = create(&made, error);
    status = status == STATUS_OK ? place(made, name, "", 0, error) : status;
    status = status == STATUS_OK ? parse(made, text, length, catalogue, device_override, error) : status;
    if (status == STATUS_OK) {
        *scenario = made;
    } else {
        scenario_free(made);
    }
    return status;
}

void scenario_free(struct scenario *scenario)
{
    if (scenario == NULL) {
        return;
    }
    for (uint32_t i = 0; i < scenario->table_count; i++) {
        resource_index_release(scenario->tables[i]);
    }
    arena_release(&scenario->arena);
    free(scenario);
}

/* --- access --------------------------------------------------------------------------------------------------------
 */

const char *scenario_name(const struct scenario *scenario)
{
    return scenario->name;
}
const char *scenario_calibration(const struct scenario *scenario)
{
    return scenario->calibration;
}

const char *scenario_title(const struct scenario *scenario)
{
    return scenario->title;
}
const char *scenario_path(const struct scenario *scenario)
{
    return scenario->path;
}
const struct gpu_device *scenario_device(const struct scenario *scenario)
{
    return scenario->device;
}
uint64_t scenario_hash(const struct scenario *scenario)
{
    return scenario->hash;
}
size_t scenario_variable_count(const struct scenario *scenario)
{
    return scenario->variable_count;
}
size_t scenario_knob_count(const struct scenario *scenario)
{
    return scenario->knob_count;
}

/* An index out of range is the caller's mistake, never the user's. */
static void check_index(size_t index, size_t count)
{
    if (index >= count) {
        BUG("index %zu of %zu", index, count);
    }
}

const struct scenario_variable *scenario_variable_get(const struct scenario *scenario, size_t index)
{
    check_index(index, scenario->variable_count);
    return &scenario->variables[index];
}

long scenario_variable_find(const struct scenario *scenario, const char *name)
{
    for (uint32_t i = 0; i < scenario->variable_count; i++) {
        if (strcmp(scenario->variables[i].name, name) == 0) {
            return (long)i;
        }
    }
    return -1;
}

size_t scenario_let_count(const struct scenario *scenario)
{
    return scenario->let_count;
}
const char *scenario_let_name(const struct scenario *scenario, size_t index)
{
    check_index(index, scenario->let_count);
    return scenario->lets[index].name;
}
size_t scenario_kernel_count(const struct scenario *scenario)
{
    return scenario->kernel_count;
}
const char *scenario_kernel_name(const struct scenario *scenario, size_t index)
{
    check_index(index, scenario->kernel_count);
    return scenario->kernels[index].name;
}
long scenario_concurrency_variable(const struct scenario *scenario)
{
    return scenario->concurrency_variable;
}
const struct serving_model *scenario_serving(const struct scenario *scenario)
{
    return &scenario->serving;
}
size_t scenario_layer_group_count(const struct scenario *scenario)
{
    return scenario->layer_group_count;
}
const char *scenario_layer_group_text(const struct scenario *scenario, size_t group)
{
    if (group >= scenario->layer_group_count) {
        BUG("layer group %zu of %u", group, (unsigned)scenario->layer_group_count);
    }
    return scenario->layer_groups[group].text;
}

double scenario_layer_group_layers(const struct scenario *scenario, size_t group)
{
    check_index(group, scenario->layer_group_count);
    return scenario->layer_groups[group].count;
}
size_t scenario_constraint_count(const struct scenario *scenario)
{
    return scenario->require_count;
}
const struct scenario_constraint *scenario_constraint_get(const struct scenario *scenario, size_t index)
{
    check_index(index, scenario->require_count);
    return &scenario->requires[index];
}
size_t scenario_note_count(const struct scenario *scenario)
{
    return scenario->note_count;
}
const struct scenario_note *scenario_note_get(const struct scenario *scenario, size_t index)
{
    check_index(index, scenario->note_count);
    return &scenario->notes[index];
}

enum status scenario_config_count(const struct scenario *scenario, uint64_t *count, struct error *error)
{
    uint64_t product = 1;
    for (uint32_t i = 0; i < scenario->knob_count; i++) {
        if (!checked_multiply(product, scenario->variables[i].value_count, &product) || product > INT64_MAX) {
            return error_set_at(error, STATUS_LIMIT, scenario->path, 0, 0,
                                "the knobs span more than 2^63 configurations; list fewer values");
        }
    }
    *count = product;
    return STATUS_OK;
}

void scenario_base_values(const struct scenario *scenario, double *values)
{
    for (uint32_t i = 0; i < scenario->variable_count; i++) {
        values[i] = scenario->variables[i].base;
    }
}

static enum status not_listed(const struct scenario_variable *variable, const char *text, struct error *error)
{
    char list[300], number[32];
    size_t length = 0;
    list[0] = '\0';
    for (uint32_t i = 0; i < variable->value_count; i++) {
        if (length > sizeof list - 60) {
            snprintf(list + length, sizeof list - length, ", ... %s",
                     number_format(variable->values[variable->value_count - 1], number));
            break;
        }
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", i > 0 ? ", " : "",
                                   number_format(variable->values[i], number));
    }
    return error_set(error, STATUS_USAGE, "%.40s is not among the values of the knob '%s': %s", text, variable->name,
                     list);
}

/* All listed values are whole: the knob counts something, and half of it does not exist. */
static bool is_whole(const struct scenario_variable *variable)
{
    bool whole = variable->value_count > 0;
    for (uint32_t i = 0; i < variable->value_count; i++) {
        whole = whole && variable->values[i] == floor(variable->values[i]);
    }
    return whole;
}

enum status scenario_unknown_variable(const struct scenario *scenario, const char *name, struct error *error)
{
    const char *names[SCENARIO_KNOBS_MAX + SCENARIO_WORKLOAD_MAX];
    char near[256];
    for (uint32_t i = 0; i < scenario->variable_count; i++) {
        names[i] = scenario->variables[i].name;
    }
    scenario_near_names(names, scenario->variable_count, name, near, sizeof near);
    if (near[0] == '\0') {
        scenario_list_names(names, scenario->variable_count, "there are", near, sizeof near);
    }
    return error_set(error, STATUS_USAGE, "the scenario %s has no knob or workload variable '%s'%s", scenario->name,
                     name, near);
}

bool scenario_variable_lists(const struct scenario_variable *variable, double value)
{
    for (uint32_t i = 0; i < variable->value_count; i++) {
        if (variable->values[i] == value) {
            return true;
        }
    }
    return false;
}

static bool is_never_negative(const struct scenario_variable *variable)
{
    for (uint32_t i = 0; i < variable->value_count; i++) {
        if (variable->values[i] < 0) {
            return false;
        }
    }
    return true;
}

enum status scenario_set_value(const struct scenario *scenario, const char *assignment, bool free_values,
                               double *values, struct error *error)
{
    const char *equals = strchr(assignment, '=');
    if (equals == NULL || equals == assignment) {
        return error_set(error, STATUS_USAGE, "'%.100s' is not of the form name=value", assignment);
    }
    char name[SCENARIO_NAME_LENGTH_MAX + 2];
    snprintf(name, sizeof name, "%.*s", (int)(equals - assignment < 64 ? equals - assignment : 64), assignment);
    long index = scenario_variable_find(scenario, name);
    if (index < 0) {
        return scenario_unknown_variable(scenario, name, error);
    }
    double value;
    if (number_parse(equals + 1, &value) != STATUS_OK) {
        return error_set(error, STATUS_USAGE, "'%.60s' is not a finite number for '%s'", equals + 1, name);
    }
    const struct scenario_variable *variable = &scenario->variables[index];
    if (variable->is_knob && free_values && value != floor(value) && is_whole(variable)) {
        return error_set(error, STATUS_USAGE,
                         "'%s' counts in whole numbers, as those that the scenario lists: %.40s is none", name,
                         equals + 1);
    }
    if (value < 0 && is_never_negative(variable) && (!variable->is_knob || free_values)) {
        return error_set(error, STATUS_USAGE, "%s is %.40s: nothing that the scenario lists for it is below 0", name,
                         equals + 1);
    }
    if (variable->is_knob && !free_values && !scenario_variable_lists(variable, value)) {
        return not_listed(variable, equals + 1, error);
    }
    values[index] = value;
    return STATUS_OK;
}
