/* SPDX-License-Identifier: GPL-3.0-or-later
 * What Nsight Compute says of one launch, whichever page it is printed on: names of figures, their units, and what
 * follows from them. */
#include "evidence/profiles/ncu_launch_private.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what is taken -------------------------------------------------------------------------------------------------
 */

enum ncu_target {
    NCU_FIGURE, /* figure says which */
    NCU_DURATION,
    NCU_LIMIT,         /* CTAs per SM that one resource allows; the least of them is resident */
    NCU_BARRIER_LIMIT, /* the same, not in tables of old versions */
    NCU_BLOCK_SMEM,
    NCU_DEVICE,
    NCU_MAJOR,
    NCU_MINOR
};

enum {
    LIMITS_NEEDED = 4 /* rows of NCU_LIMIT */
};

/* `label` is what the details page calls `id`; NULL: it does not show it. launch__stack_size is left out: it is the
 * limit set on the device (1,024 for kernels of any frame), not what the kernel takes. */
static const struct ncu_metric {
    const char *id, *label;
    enum ncu_target target;
    enum claim_figure figure;
} metrics[] = {
    {"launch__registers_per_thread", "Registers Per Thread", NCU_FIGURE, CLAIM_REGISTERS},
    {"launch__registers_per_thread_allocated", NULL, NCU_FIGURE, CLAIM_REGISTERS_ALLOCATED},
    {"launch__shared_mem_per_block_static", "Static Shared Memory Per Block", NCU_FIGURE, CLAIM_STATIC_SMEM},
    {"launch__shared_mem_per_block_dynamic", "Dynamic Shared Memory Per Block", NCU_FIGURE, CLAIM_DYNAMIC_SMEM},
    {"launch__shared_mem_per_block_driver", "Driver Shared Memory Per Block", NCU_FIGURE, CLAIM_RESERVED_SMEM},
    {"launch__shared_mem_config_size", "Shared Memory Configuration Size", NCU_FIGURE, CLAIM_SMEM_CONFIG},
    {"launch__shared_mem_per_block", NULL, NCU_BLOCK_SMEM, CLAIM_LAUNCH_SMEM},
    {"launch__block_size", "Block Size", NCU_FIGURE, CLAIM_THREADS},
    {"launch__grid_size", "Grid Size", NCU_FIGURE, CLAIM_GRID},
    {"launch__cluster_size", "Cluster Size", NCU_FIGURE, CLAIM_CLUSTER},
    {"launch__barrier_count", NULL, NCU_FIGURE, CLAIM_BARRIERS},
    {"launch__sm_count", "# SMs", NCU_FIGURE, CLAIM_SM_COUNT},
    {"launch__occupancy_limit_blocks", "Block Limit SM", NCU_LIMIT, CLAIM_CTAS_PER_SM},
    {"launch__occupancy_limit_registers", "Block Limit Registers", NCU_LIMIT, CLAIM_CTAS_PER_SM},
    {"launch__occupancy_limit_shared_mem", "Block Limit Shared Mem", NCU_LIMIT, CLAIM_CTAS_PER_SM},
    {"launch__occupancy_limit_warps", "Block Limit Warps", NCU_LIMIT, CLAIM_CTAS_PER_SM},
    {"launch__occupancy_limit_barriers", "Block Limit Barriers", NCU_BARRIER_LIMIT, CLAIM_CTAS_PER_SM},
    {"sm__maximum_warps_per_active_cycle_pct", "Theoretical Occupancy", NCU_FIGURE, CLAIM_OCCUPANCY},
    {"gpu__time_duration.sum", "Duration", NCU_DURATION, CLAIM_FIGURE_COUNT},
    {"gpu__time_duration.avg", NULL, NCU_DURATION, CLAIM_FIGURE_COUNT},
    {"gpu__time_duration.max", NULL, NCU_DURATION, CLAIM_FIGURE_COUNT},
    {"device__attribute_display_name", NULL, NCU_DEVICE, CLAIM_FIGURE_COUNT},
    {"device__attribute_compute_capability_major", NULL, NCU_MAJOR, CLAIM_FIGURE_COUNT},
    {"device__attribute_compute_capability_minor", NULL, NCU_MINOR, CLAIM_FIGURE_COUNT},
};

int ncu_metric_find(const char *name)
{
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++) {
        if (strcmp(name, metrics[i].id) == 0 || (metrics[i].label != NULL && strcmp(name, metrics[i].label) == 0)) {
            return (int)i;
        }
    }
    return NCU_NO_METRIC;
}

static const struct ncu_metric *begins(const char *line, size_t *length)
{
    const struct ncu_metric *found = NULL;
    *length = 0;
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++) {
        const char *const names[] = {metrics[i].id, metrics[i].label};
        for (size_t n = 0; n < 2; n++) {
            size_t wanted = names[n] != NULL ? strlen(names[n]) : 0;
            if (wanted > *length && strncmp(line, names[n], wanted) == 0 && line[wanted] == ' ') {
                found = &metrics[i];
                *length = wanted;
            }
        }
    }
    return found;
}

int ncu_metric_begins(const char *line, size_t *length)
{
    const struct ncu_metric *found = begins(line, length);
    return found != NULL ? (int)(found - metrics) : NCU_NO_METRIC;
}

/* --- one launch ----------------------------------------------------------------------------------------------------
 */

/* "(128, 1, 1)" */
bool ncu_sides_parse(const char *text, uint32_t sides[3])
{
    uint32_t values[3];
    int length = 0;
    char end = '\0';
    if (strlen(text) > 60 ||
        sscanf(text, " ( %10" SCNu32 " , %10" SCNu32 " , %10" SCNu32 " %c%n", &values[0], &values[1], &values[2], &end,
               &length) != 4 ||
        end != ')') {
        return false;
    }
    memcpy(sides, values, sizeof values);
    return values[0] > 0 && values[1] > 0 && values[2] > 0;
}

static void doubt(struct ncu_launch *self, const char *metric, const char *text)
{
    if (self->doubt[0] == '\0') {
        (void)snprintf(self->doubt, sizeof self->doubt, "%.80s: '%.60s' is not taken", metric, text);
    }
}

static void take_figure(struct ncu_launch *self, const struct ncu_metric *metric, const char *text,
                        const struct printed_number *number, const struct unit *unit)
{
    struct claim_value *figure = &self->launch.figures[metric->figure];
    bool is_bytes = metric->figure == CLAIM_STATIC_SMEM || metric->figure == CLAIM_DYNAMIC_SMEM ||
                    metric->figure == CLAIM_RESERVED_SMEM || metric->figure == CLAIM_SMEM_CONFIG ||
                    metric->figure == CLAIM_LAUNCH_SMEM;
    struct claim_value value = {true, number->value, number->value};
    if (is_bytes && unit->kind == UNIT_BYTES) {
        value = printed_interval(number, unit);
    }
    if (metric->figure == CLAIM_OCCUPANCY) {
        value = printed_interval(number, &(struct unit){UNIT_NONE, 0.01, 0.01});
        *figure = value.high <= 1.01 ? value : *figure;
        return;
    }
    bool is_exact = value.low == value.high;
    if (number->value < 0.0 || (is_exact && value.low != floor(value.low)) || (is_bytes && unit->kind != UNIT_BYTES)) {
        doubt(self, metric->id, text);
        return;
    }
    if (metric->figure == CLAIM_CLUSTER && value.low == 0.0) { /* launched without clusters: each CTA is one */
        value = (struct claim_value){true, 1.0, 1.0};
    }
    if (metric->target == NCU_BLOCK_SMEM) {
        self->block_smem = value;
    } else {
        *figure = value;
    }
}

static void take_limit(struct ncu_launch *self, const struct ncu_metric *metric, double value)
{
    if (value >= 1.0 && value == floor(value)) {
        self->least_limit = fmin(self->least_limit, value);
        self->limits_seen |= metric->target == NCU_LIMIT ? 1u << (unsigned)(metric - metrics) : 0u;
    }
}

static bool is_utf8(const char *text)
{
    size_t bad;
    return utf8_check(text, strlen(text), &bad) == STATUS_OK;
}

void ncu_launch_metric(struct ncu_launches *self, int index, const char *text, const struct unit *unit)
{
    const struct ncu_metric *metric = &metrics[index];
    struct ncu_launch *launch = &self->launch;
    struct printed_number number;
    if (metric->target == NCU_DEVICE) {
        text_buffer_clear(&launch->device);
        text_buffer_append(&launch->device, is_no_value(text) || !is_utf8(text) ? "" : text);
        return;
    }
    if (is_no_value(text)) {
        return;
    }
    if (!printed_number_parse(text, self->decimal, &number)) {
        doubt(launch, metric->id, text);
        return;
    }
    switch (metric->target) {
    case NCU_FIGURE:
    case NCU_BLOCK_SMEM:
        take_figure(launch, metric, text, &number, unit);
        break;
    case NCU_LIMIT:
    case NCU_BARRIER_LIMIT:
        take_limit(launch, metric, number.value);
        break;
    case NCU_DURATION:
        if (unit->kind != UNIT_TIME || number.value < 0.0) {
            doubt(launch, metric->id, text);
        } else if (isnan(launch->launch.time_us)) {
            launch->launch.time_us = number.value * unit->low_scale;
        }
        break;
    case NCU_MAJOR:
        launch->major = number.value;
        break;
    case NCU_MINOR:
        launch->minor = number.value;
        break;
    case NCU_DEVICE:
        break;
    }
}

/* --- from launch to claim ------------------------------------------------------------------------------------------
 */

static void begin(struct ncu_launch *self)
{
    struct text_buffer name = self->name, device = self->device;
    *self = (struct ncu_launch){.name = name, .device = device, .is_begun = true};
    self->launch.time_us = NAN;
    self->least_limit = INFINITY;
    self->major = self->minor = NAN;
    text_buffer_clear(&self->name);
    text_buffer_clear(&self->device);
}

void ncu_launch_begin(struct ncu_launches *self, const char *name, size_t name_length, unsigned line)
{
    begin(&self->launch);
    text_buffer_append_bytes(&self->launch.name, name, name_length);
    self->launch.launch.line = line;
    self->launch.launch.ordinal = ++self->launch_count;
}

/* "9.0"; the user's locale may have given it a comma. */
void ncu_launch_capability(struct ncu_launch *self, const char *text)
{
    size_t digits = strspn(text, "0123456789");
    if (digits >= 1 && digits <= 2 && (text[digits] == '.' || text[digits] == ',')) {
        const char *minor = text + digits + 1;
        if (*minor >= '0' && *minor <= '9' && minor[1] == '\0') {
            self->major = (double)strtol(text, NULL, 10);
            self->minor = *minor - '0';
        }
    }
}

static struct claim_value sum_of(const struct claim_value *left, const struct claim_value *right, double sign)
{
    if (!left->is_known || !right->is_known) {
        return (struct claim_value){0};
    }
    double low = left->low + sign * (sign > 0.0 ? right->low : right->high);
    double high = left->high + sign * (sign > 0.0 ? right->high : right->low);
    return (struct claim_value){low >= 0.0, low, high};
}

static void conclude(struct ncu_launch *self)
{
    struct launch *launch = &self->launch;
    struct claim_value *figures = launch->figures;
    launch->name = self->name.length > 0 ? self->name.text : "";
    launch->name_length = self->name.length;
    launch->device = self->device.length > 0 ? self->device.text : "";
    launch->device_length = self->device.length;
    if (self->major >= 1.0 && self->major <= 99.0 && self->minor >= 0.0 && self->minor <= 9.0) {
        launch->arch = (uint32_t)self->major * 10 + (uint32_t)self->minor;
    }
    figures[CLAIM_LAUNCH_SMEM] = sum_of(&figures[CLAIM_STATIC_SMEM], &figures[CLAIM_DYNAMIC_SMEM], 1.0);
    if (!figures[CLAIM_LAUNCH_SMEM].is_known) {
        figures[CLAIM_LAUNCH_SMEM] = sum_of(&self->block_smem, &figures[CLAIM_RESERVED_SMEM], -1.0);
    }
    if (__builtin_popcount(self->limits_seen) == LIMITS_NEEDED) {
        figures[CLAIM_CTAS_PER_SM] = (struct claim_value){true, self->least_limit, self->least_limit};
    }
    launch_set_sides(launch);
}

enum status ncu_launch_end(struct ncu_launches *self)
{
    struct ncu_launch *launch = &self->launch;
    if (!launch->is_begun) {
        return STATUS_OK;
    }
    size_t index = SIZE_MAX;
    bool is_new = false;
    launch->is_begun = false;
    if (launch->name.failed || launch->device.failed) {
        return error_set(self->error, STATUS_NO_MEMORY, "no memory to read %s", self->path);
    }
    conclude(launch);
    enum status status = launch_groups_add(self->groups, &launch->launch, &index, &is_new, self->error);
    if (status == STATUS_OK && is_new && launch->doubt[0] != '\0') {
        kernel_claim_remark(self->list, &self->list->items[index], "%s", launch->doubt);
    }
    return status;
}

/* --- all of a file -------------------------------------------------------------------------------------------------
 */

enum status ncu_launches_init(struct ncu_launches *launches, const char *path, struct kernel_claim_list *list,
                              struct error *error)
{
    *launches = (struct ncu_launches){.path = path, .list = list, .decimal = '.', .error = error};
    return launch_groups_create(list, CLAIM_SOURCE_NCU, path, &launches->groups, error);
}

void ncu_launches_finish(struct ncu_launches *launches, bool is_good)
{
    if (is_good) {
        launch_groups_finish(launches->groups, true);
    } else {
        launch_groups_free(launches->groups);
    }
    text_buffer_release(&launches->launch.name);
    text_buffer_release(&launches->launch.device);
}
