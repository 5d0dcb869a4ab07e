/* SPDX-License-Identifier: GPL-3.0-or-later
 * Nsight Compute tables. The details page has a row per figure, the raw page a column per figure and a row of units;
 * both end in the same figures of one launch. Launches alike become one claim. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "evidence/profiles/launch_groups.h"
#include "evidence/profiles/profile_number.h"
#include "evidence/profiles/profile_readers.h"
#include "evidence/profiles/table_rows.h"

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
    LIMITS_NEEDED = 4, /* rows of NCU_LIMIT */
    NO_METRIC = -1
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

static int find_metric(const char *name)
{
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++) {
        if (strcmp(name, metrics[i].id) == 0 || (metrics[i].label != NULL && strcmp(name, metrics[i].label) == 0)) {
            return (int)i;
        }
    }
    return NO_METRIC;
}

/* --- one launch ----------------------------------------------------------------------------------------------------
 */

struct ncu_launch {
    struct launch launch;
    struct text_buffer name, device;
    char id[64]; /* process and ID: what tells launches apart */
    bool is_begun;
    unsigned limits_seen;
    double least_limit, major, minor;
    struct claim_value block_smem;
    char doubt[256]; /* the first figure that could not be taken */
};

struct ncu_reader {
    const char *path;
    struct kernel_claim_list *list;
    struct launch_groups *groups;
    struct table_rows *rows;
    char decimal;
    bool is_details;
    long id, process, name, block, grid, capability, metric, unit, value; /* columns, -1: not there */
    size_t column_count;
    int *column_metrics; /* raw page: NO_METRIC or index of metrics */
    struct unit *column_units;
    struct ncu_launch launch;
    uint64_t launch_count;
    struct error *error;
};

static const char *field(const struct table_row *row, long column)
{
    return column >= 0 && (size_t)column < row->count ? row->fields[column] : "";
}

static void doubt(struct ncu_launch *self, const char *metric, const char *text)
{
    if (self->doubt[0] == '\0') {
        (void)snprintf(self->doubt, sizeof self->doubt, "%.80s: '%.60s' is not taken", metric, text);
    }
}

/* "(128, 1, 1)" */
static bool parse_sides(const char *text, uint32_t sides[3])
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

static void take_metric(struct ncu_reader *self, const struct ncu_metric *metric, const char *text,
                        const struct unit *unit)
{
    struct ncu_launch *launch = &self->launch;
    struct printed_number number;
    if (metric->target == NCU_DEVICE) {
        text_buffer_clear(&launch->device);
        text_buffer_append(&launch->device, is_no_value(text) ? "" : text);
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

static void begin_launch(struct ncu_launch *self)
{
    struct text_buffer name = self->name, device = self->device;
    *self = (struct ncu_launch){.name = name, .device = device, .is_begun = true};
    self->launch.time_us = NAN;
    self->least_limit = INFINITY;
    self->major = self->minor = NAN;
    text_buffer_clear(&self->name);
    text_buffer_clear(&self->device);
}

static void write_id(const struct ncu_reader *self, const struct table_row *row, char id[64])
{
    (void)snprintf(id, 64, "%.30s/%.30s", field(row, self->process), field(row, self->id));
}

/* "9.0"; the user's locale may have given it a comma. */
static void take_capability(struct ncu_launch *self, const char *text)
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

/* Columns that both pages have. */
static void take_identity(struct ncu_reader *self, const struct table_row *row)
{
    struct ncu_launch *launch = &self->launch;
    text_buffer_append(&launch->name, field(row, self->name));
    write_id(self, row, launch->id);
    launch->launch.line = row->line;
    launch->launch.ordinal = ++self->launch_count;
    (void)parse_sides(field(row, self->block), launch->launch.block);
    (void)parse_sides(field(row, self->grid), launch->launch.grid);
    take_capability(launch, field(row, self->capability));
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

static enum status end_launch(struct ncu_reader *self)
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

/* --- rows ----------------------------------------------------------------------------------------------------------
 */

static long find_column(const struct table_row *row, const char *name)
{
    for (size_t i = 0; i < row->count; i++) {
        if (strcmp(row->fields[i], name) == 0) {
            return (long)i;
        }
    }
    return -1;
}

static bool is_header(const struct table_row *row)
{
    return row->count > 1 && strcmp(row->fields[0], "ID") == 0 && find_column(row, "Kernel Name") >= 0;
}

/* Another header may follow in one file: several programs, or files put together. */
static enum status take_header(struct ncu_reader *self, const struct table_row *row)
{
    self->id = 0;
    self->process = find_column(row, "Process ID");
    self->name = find_column(row, "Kernel Name");
    self->block = find_column(row, "Block Size");
    self->grid = find_column(row, "Grid Size");
    self->capability = find_column(row, "CC");
    self->metric = find_column(row, "Metric Name");
    self->unit = find_column(row, "Metric Unit");
    self->value = find_column(row, "Metric Value");
    self->is_details = self->metric >= 0 && self->value >= 0;
    self->column_count = row->count;
    free(self->column_metrics);
    free(self->column_units);
    self->column_metrics = malloc(row->count * sizeof *self->column_metrics);
    self->column_units = malloc(row->count * sizeof *self->column_units);
    if (self->column_metrics == NULL || self->column_units == NULL) {
        return error_set(self->error, STATUS_NO_MEMORY, "no memory for the columns of %s", self->path);
    }
    for (size_t i = 0; i < row->count; i++) {
        bool is_metric = (long)i != self->block && (long)i != self->grid && !self->is_details;
        self->column_metrics[i] = is_metric ? find_metric(row->fields[i]) : NO_METRIC;
        self->column_units[i] = unit_parse("");
    }
    return STATUS_OK;
}

static enum status take_details_row(struct ncu_reader *self, const struct table_row *row)
{
    struct ncu_launch *launch = &self->launch;
    if (row->count <= (size_t)self->value) {
        kernel_claim_skip(self->list, "%s:%u: a row of %zu fields, the header has %zu", self->path, row->line,
                          row->count, self->column_count);
        return STATUS_OK;
    }
    char id[64];
    write_id(self, row, id);
    if (!launch->is_begun || strcmp(launch->id, id) != 0) {
        enum status status = end_launch(self);
        if (status != STATUS_OK) {
            return status;
        }
        begin_launch(launch);
        take_identity(self, row);
    }
    int metric = find_metric(field(row, self->metric)); /* "" in rows of rules */
    if (metric != NO_METRIC) {
        struct unit unit = unit_parse(field(row, self->unit));
        take_metric(self, &metrics[metric], field(row, self->value), &unit);
    }
    return STATUS_OK;
}

static enum status take_raw_row(struct ncu_reader *self, const struct table_row *row)
{
    if (row->count != self->column_count) {
        kernel_claim_skip(self->list, "%s:%u: a row of %zu fields, the header has %zu", self->path, row->line,
                          row->count, self->column_count);
        return STATUS_OK;
    }
    if (row->fields[0][0] == '\0') {
        for (size_t i = 0; i < row->count; i++) {
            self->column_units[i] = unit_parse(row->fields[i]);
        }
        return STATUS_OK;
    }
    begin_launch(&self->launch);
    take_identity(self, row);
    for (size_t i = 0; i < row->count; i++) {
        if (self->column_metrics[i] != NO_METRIC) {
            take_metric(self, &metrics[self->column_metrics[i]], row->fields[i], &self->column_units[i]);
        }
    }
    return end_launch(self);
}

static enum status take_row(struct ncu_reader *self, const struct table_row *row)
{
    if (strncmp(row->fields[0], "==", 2) == 0) { /* ==PROF==, ==WARNING== between the rows */
        return STATUS_OK;
    }
    if (row->damage[0] != '\0') {
        kernel_claim_skip(self->list, "%s:%u: %s", self->path, row->line, row->damage);
        return STATUS_OK;
    }
    if (is_header(row)) {
        enum status status = end_launch(self);
        return status == STATUS_OK ? take_header(self, row) : status;
    }
    return self->is_details ? take_details_row(self, row) : take_raw_row(self, row);
}

/* --- the file ------------------------------------------------------------------------------------------------------
 */

enum {
    VOTE_ROWS_MAX = 2000
};

/* Goes to the header; text of the profiled program and of Nsight Compute may stand before it. */
static enum status find_header(struct ncu_reader *self)
{
    for (;;) {
        char *text;
        size_t length;
        unsigned line;
        enum status status = table_rows_line(self->rows, &text, &length, &line, self->error);
        if (status != STATUS_OK) {
            return status;
        }
        if (text == NULL) {
            return error_set_at(self->error, STATUS_BAD_DATA, self->path, 0, 0,
                                "no table of Nsight Compute: no line begins with \"ID\",\"Process ID\" (ncu --csv)");
        }
        text += strspn(text, " \t");
        if (strncmp(text, "\"ID\"", 4) == 0 || strncmp(text, "ID,", 3) == 0) {
            struct table_row row;
            status = table_rows_split_line(self->rows, &row, self->error);
            if (status != STATUS_OK || is_header(&row)) {
                return status == STATUS_OK ? take_header(self, &row) : status;
            }
        }
    }
}

/* The decimal sign is the file's: the first rows are read once for it alone. */
static enum status sniff_decimal(struct ncu_reader *self)
{
    struct number_votes votes = {0};
    enum status status = table_rows_open(self->path, &self->rows, self->error);
    status = status == STATUS_OK ? find_header(self) : status;
    for (int i = 0; i < VOTE_ROWS_MAX && status == STATUS_OK; i++) {
        struct table_row row;
        status = table_rows_next(self->rows, &row, self->error);
        if (status != STATUS_OK || row.count == 0) {
            break;
        }
        for (size_t column = 0; column < row.count; column++) {
            bool is_value = self->is_details ? (long)column == self->value
                                             : (long)column > self->name && (long)column != self->capability;
            if (is_value) {
                number_votes_add(&votes, row.fields[column]);
            }
        }
    }
    self->decimal = number_votes_decimal(&votes);
    table_rows_free(self->rows);
    self->rows = NULL;
    return status;
}

static enum status read_rows(struct ncu_reader *self)
{
    enum status status = sniff_decimal(self);
    status = status == STATUS_OK ? table_rows_open(self->path, &self->rows, self->error) : status;
    status = status == STATUS_OK ? find_header(self) : status;
    while (status == STATUS_OK) {
        struct table_row row;
        status = table_rows_next(self->rows, &row, self->error);
        if (status != STATUS_OK || row.count == 0) {
            break;
        }
        status = take_row(self, &row);
    }
    status = status == STATUS_OK ? end_launch(self) : status;
    if (status == STATUS_OK && table_rows_damage(self->rows)[0] != '\0') {
        (void)snprintf(self->list->remark, sizeof self->list->remark, "%.200s: %s", self->path,
                       table_rows_damage(self->rows));
    }
    return status;
}

enum status ncu_csv_read(const char *path, struct kernel_claim_list *list, struct error *error)
{
    struct ncu_reader reader = {.path = path, .list = list, .error = error};
    enum status status = launch_groups_create(list, CLAIM_SOURCE_NCU, path, &reader.groups, error);
    status = status == STATUS_OK ? read_rows(&reader) : status;
    if (status == STATUS_OK) {
        launch_groups_finish(reader.groups, true);
    } else {
        launch_groups_free(reader.groups);
    }
    table_rows_free(reader.rows);
    free(reader.column_metrics);
    free(reader.column_units);
    text_buffer_release(&reader.launch.name);
    text_buffer_release(&reader.launch.device);
    return status;
}
