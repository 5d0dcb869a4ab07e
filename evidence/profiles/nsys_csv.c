/* SPDX-License-Identifier: GPL-3.0-or-later
 * Nsight Systems as CSV: `nsys stats` tables of kernel launches and of kernels, and rows of the export's table as
 * sqlite3 prints them. Several tables may follow each other in one file; those of other things are passed over. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "evidence/profiles/launch_groups.h"
#include "evidence/profiles/nsys_export_private.h"
#include "evidence/profiles/profile_number.h"
#include "evidence/profiles/profile_readers.h"
#include "evidence/profiles/table_rows.h"

enum nsys_table {
    TABLE_OTHER,
    TABLE_TRACE,   /* cuda_gpu_trace, gputrace: a launch or a copy per row */
    TABLE_SUMMARY, /* cuda_gpu_kern_sum and its relatives: a kernel per row, no resources */
    TABLE_EXPORT   /* rows of CUPTI_ACTIVITY_KIND_KERNEL */
};

/* Columns of `nsys stats` without their units; aliases of older versions follow. */
enum stats_column {
    STATS_DURATION,
    STATS_GRID_X,
    STATS_GRID_Y,
    STATS_GRID_Z,
    STATS_BLOCK_X,
    STATS_BLOCK_Y,
    STATS_BLOCK_Z,
    STATS_REGISTERS,
    STATS_STATIC,
    STATS_DYNAMIC,
    STATS_DEVICE,
    STATS_NAME,
    STATS_TOTAL,
    STATS_INSTANCES,
    STATS_MEAN,
    STATS_MEDIAN,
    STATS_MINIMUM,
    STATS_MAXIMUM,
    STATS_DEVIATION,
    STATS_GRID,
    STATS_BLOCK,
    STATS_COLUMN_COUNT
};
static const struct {
    const char *name;
    enum stats_column column;
} stats_names[] = {
    {"Duration", STATS_DURATION}, {"GrdX", STATS_GRID_X},         {"GrdY", STATS_GRID_Y},
    {"GrdZ", STATS_GRID_Z},       {"BlkX", STATS_BLOCK_X},        {"BlkY", STATS_BLOCK_Y},
    {"BlkZ", STATS_BLOCK_Z},      {"Reg/Trd", STATS_REGISTERS},   {"StcSMem", STATS_STATIC},
    {"DymSMem", STATS_DYNAMIC},   {"Device", STATS_DEVICE},       {"Name", STATS_NAME},
    {"Total Time", STATS_TOTAL},  {"Instances", STATS_INSTANCES}, {"Avg", STATS_MEAN},
    {"Average", STATS_MEAN},      {"Med", STATS_MEDIAN},          {"Median", STATS_MEDIAN},
    {"Min", STATS_MINIMUM},       {"Minimum", STATS_MINIMUM},     {"Max", STATS_MAXIMUM},
    {"Maximum", STATS_MAXIMUM},   {"StdDev", STATS_DEVIATION},    {"GridXYZ", STATS_GRID},
    {"BlockXYZ", STATS_BLOCK},
};

struct nsys_reader {
    const char *path;
    struct kernel_claim_list *list;
    struct launch_groups *groups;
    enum nsys_table table;
    bool has_table; /* any that is read */
    size_t column_count;
    long stats[STATS_COLUMN_COUNT]; /* columns, -1: not there */
    struct unit units[STATS_COLUMN_COUNT];
    long export[NSYS_COLUMN_COUNT];
    long name; /* TABLE_EXPORT: of the name as text */
    uint64_t row_count;
    struct error *error;
};

/* --- headers -------------------------------------------------------------------------------------------------------
 */

/* "Duration (ns)", "Duration(nsec)", "StcSMem:mem_B": name and unit apart. */
static size_t split_unit(const char *text, char unit[16])
{
    size_t length = strcspn(text, "(:");
    const char *from = text + length, *end = from + strlen(from);
    unit[0] = '\0';
    if (*from == '(') {
        from++;
        end = strchr(from, ')') != NULL ? strchr(from, ')') : end;
    } else if (*from == ':') {
        from = strrchr(from, '_') != NULL ? strrchr(from, '_') + 1 : end;
    }
    if (end - from < 16) {
        (void)snprintf(unit, 16, "%.*s", (int)(end - from), from);
    }
    while (length > 0 && text[length - 1] == ' ') {
        length--;
    }
    return length;
}

static void find_stats_columns(struct nsys_reader *self, const struct table_row *row)
{
    for (size_t i = 0; i < STATS_COLUMN_COUNT; i++) {
        self->stats[i] = -1;
    }
    for (size_t i = 0; i < row->count; i++) {
        char unit[16];
        size_t length = split_unit(row->fields[i], unit);
        for (size_t n = 0; n < sizeof stats_names / sizeof stats_names[0]; n++) {
            if (strlen(stats_names[n].name) == length && strncmp(stats_names[n].name, row->fields[i], length) == 0) {
                self->stats[stats_names[n].column] = (long)i;
                self->units[stats_names[n].column] = unit_parse(unit);
            }
        }
    }
}

static bool find_export_columns(struct nsys_reader *self, const struct table_row *row)
{
    self->name = -1;
    for (size_t column = 0; column < NSYS_COLUMN_COUNT; column++) {
        self->export[column] = -1;
    }
    for (size_t i = 0; i < row->count; i++) {
        self->name = strcmp(row->fields[i], "name") == 0 ? (long)i : self->name;
        for (size_t column = 0; column < NSYS_COLUMN_COUNT; column++) {
            if (strcmp(row->fields[i], nsys_column_name((enum nsys_column)column)) == 0) {
                self->export[column] = (long)i;
            }
        }
    }
    return self->export[NSYS_START] >= 0 && self->export[NSYS_END] >= 0 &&
           (self->export[NSYS_REGISTERS] >= 0 || self->export[NSYS_GRID_X] >= 0);
}

static bool has_text(const struct table_row *row, const char *text)
{
    for (size_t i = 0; i < row->count; i++) {
        if (strncmp(row->fields[i], text, strlen(text)) == 0) {
            return true;
        }
    }
    return false;
}

/* True if the row is the header of a table that is read; the reader is then set to it. */
static bool take_header(struct nsys_reader *self, const struct table_row *row)
{
    enum nsys_table table = TABLE_OTHER;
    if (has_text(row, "GrdX") || has_text(row, "Instances")) {
        find_stats_columns(self, row);
        const long *stats = self->stats;
        if (stats[STATS_NAME] >= 0 && stats[STATS_GRID_X] >= 0 && stats[STATS_DURATION] >= 0) {
            table = TABLE_TRACE;
        } else if (stats[STATS_NAME] >= 0 && stats[STATS_INSTANCES] >= 0 && stats[STATS_MEAN] >= 0) {
            table = TABLE_SUMMARY;
        }
    } else if ((has_text(row, "gridX") || has_text(row, "registersPerThread")) && find_export_columns(self, row)) {
        table = TABLE_EXPORT;
    }
    if (table == TABLE_OTHER) {
        return false;
    }
    self->table = table;
    self->has_table = true;
    self->column_count = row->count;
    return true;
}

/* --- fields --------------------------------------------------------------------------------------------------------
 */

static const char *stats_field(const struct nsys_reader *self, const struct table_row *row, enum stats_column column)
{
    return self->stats[column] >= 0 ? row->fields[self->stats[column]] : "";
}

/* A time in microseconds, NaN where there is none. A column that does not name its unit has that of the total. */
static double stats_time(const struct nsys_reader *self, const struct table_row *row, enum stats_column column)
{
    struct printed_number number;
    struct unit unit = self->units[column];
    if (unit.kind != UNIT_TIME) {
        unit = self->stats[STATS_TOTAL] >= 0 ? self->units[STATS_TOTAL] : unit;
        unit = unit.kind == UNIT_TIME ? unit : unit_parse("ns");
    }
    return printed_number_parse(stats_field(self, row, column), '.', &number) && number.value >= 0.0
               ? number.value * unit.low_scale
               : (double)NAN;
}

static bool parse_count(const char *text, uint64_t maximum, uint64_t *value)
{
    char *end;
    errno = 0;
    if (*text < '0' || *text > '9') {
        return false;
    }
    *value = strtoull(text, &end, 10);
    return *end == '\0' && errno == 0 && *value <= maximum;
}

/* Megabytes with three decimals: an interval. Trailing zeros may have been dropped. */
static void take_smem(const struct nsys_reader *self, const struct table_row *row, enum stats_column column,
                      struct launch *launch, enum claim_figure figure)
{
    struct printed_number number;
    struct unit unit = self->units[column];
    if (printed_number_parse(stats_field(self, row, column), '.', &number) && number.value >= 0.0) {
        unit = unit.kind == UNIT_BYTES ? unit : unit_parse("MB");
        number.decimals = number.decimals < 3 ? 3 : number.decimals;
        launch->figures[figure] = printed_interval(&number, &unit);
    }
}

/* "NVIDIA B200 (0)": the number is the device's place in the machine. */
static size_t device_length(const char *text)
{
    size_t length = strlen(text);
    if (length > 3 && text[length - 1] == ')') {
        size_t at = length - 1;
        while (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9') {
            at--;
        }
        if (at >= 2 && at < length - 1 && text[at - 1] == '(' && text[at - 2] == ' ') {
            return at - 2;
        }
    }
    return length;
}

/* --- rows ----------------------------------------------------------------------------------------------------------
 */

static enum status add_launch(struct nsys_reader *self, const struct table_row *row, const char *name,
                              struct launch *launch)
{
    launch->name = name;
    launch->name_length = strlen(name);
    launch->line = row->line;
    launch->ordinal = self->row_count;
    return launch_groups_add(self->groups, launch, NULL, NULL, self->error);
}

static enum status take_trace_row(struct nsys_reader *self, const struct table_row *row)
{
    const char *name = stats_field(self, row, STATS_NAME);
    if (name[0] == '[') { /* [CUDA memcpy Host-to-Device], [CUDA memset] */
        return STATUS_OK;
    }
    struct launch launch = {.device = "", .time_us = stats_time(self, row, STATS_DURATION)};
    uint64_t value;
    bool is_good = !isnan(launch.time_us);
    for (unsigned i = 0; i < 6 && is_good; i++) {
        uint32_t *sides = i < 3 ? launch.grid : launch.block;
        is_good =
            parse_count(stats_field(self, row, (enum stats_column)(STATS_GRID_X + i)), UINT32_MAX, &value) && value > 0;
        sides[i % 3] = is_good ? (uint32_t)value : 0;
    }
    if (!is_good) {
        kernel_claim_skip(self->list, "%s:%u: a launch without duration, grid and block", self->path, row->line);
        return STATUS_OK;
    }
    if (parse_count(stats_field(self, row, STATS_REGISTERS), 65536, &value)) {
        launch.figures[CLAIM_REGISTERS] = (struct claim_value){true, (double)value, (double)value};
    }
    take_smem(self, row, STATS_STATIC, &launch, CLAIM_STATIC_SMEM);
    take_smem(self, row, STATS_DYNAMIC, &launch, CLAIM_DYNAMIC_SMEM);
    const struct claim_value *fixed = &launch.figures[CLAIM_STATIC_SMEM];
    const struct claim_value *dynamic = &launch.figures[CLAIM_DYNAMIC_SMEM];
    if (fixed->is_known && dynamic->is_known) {
        launch.figures[CLAIM_LAUNCH_SMEM] =
            (struct claim_value){true, fixed->low + dynamic->low, fixed->high + dynamic->high};
    }
    launch.device = stats_field(self, row, STATS_DEVICE);
    launch.device_length = device_length(launch.device);
    launch_set_sides(&launch);
    return add_launch(self, row, name, &launch);
}

static void take_sides(const char *text, uint32_t sides[3])
{
    char *end = (char *)(uintptr_t)text;
    uint32_t values[3] = {0};
    for (size_t i = 0; i < 3; i++) {
        end += strspn(end, " ,(x");
        uint64_t value = *end >= '0' && *end <= '9' ? strtoull(end, &end, 10) : 0;
        if (value == 0 || value > UINT32_MAX) {
            return;
        }
        values[i] = (uint32_t)value;
    }
    memcpy(sides, values, sizeof values);
}

static enum status take_summary_row(struct nsys_reader *self, const struct table_row *row)
{
    const char *name = stats_field(self, row, STATS_NAME);
    uint64_t count;
    double mean_us = stats_time(self, row, STATS_MEAN);
    if (name[0] == '[') {
        return STATUS_OK;
    }
    if (!parse_count(stats_field(self, row, STATS_INSTANCES), UINT64_MAX, &count) || count == 0 || isnan(mean_us)) {
        kernel_claim_skip(self->list, "%s:%u: a kernel without instances and mean time", self->path, row->line);
        return STATUS_OK;
    }
    struct launch sides = {.time_us = NAN};
    struct kernel_claim *claim;
    enum status status =
        kernel_claim_list_add(self->list, CLAIM_SOURCE_NSYS_TABLE, self->path, name, strlen(name), &claim, self->error);
    if (status != STATUS_OK) {
        return status;
    }
    take_sides(stats_field(self, row, STATS_GRID), sides.grid);
    take_sides(stats_field(self, row, STATS_BLOCK), sides.block);
    launch_set_sides(&sides);
    memcpy(claim->grid, sides.grid, sizeof claim->grid);
    memcpy(claim->block, sides.block, sizeof claim->block);
    memcpy(claim->figures, sides.figures, sizeof claim->figures);
    claim->line = row->line;
    claim->ordinal = self->row_count;
    claim->time = (struct claim_time){.count = count,
                                      .median_us = stats_time(self, row, STATS_MEDIAN),
                                      .mean_us = mean_us,
                                      .minimum_us = stats_time(self, row, STATS_MINIMUM),
                                      .maximum_us = stats_time(self, row, STATS_MAXIMUM),
                                      .deviation_us = stats_time(self, row, STATS_DEVIATION),
                                      .last_us = NAN};
    return STATUS_OK;
}

static enum status take_export_row(struct nsys_reader *self, const struct table_row *row)
{
    struct nsys_row values = {0};
    struct launch launch;
    const char *reason = "";
    for (size_t column = 0; column < NSYS_COLUMN_COUNT; column++) {
        uint64_t value;
        if (self->export[column] >= 0 && parse_count(row->fields[self->export[column]], INT64_MAX, &value)) {
            values.is_known[column] = true;
            values.values[column] = (int64_t)value;
        }
    }
    if (!values.is_known[NSYS_START] || !values.is_known[NSYS_END]) {
        reason = "a launch without start and end";
    }
    if (reason[0] != '\0' || !nsys_row_launch(&values, &launch, &reason)) {
        kernel_claim_skip(self->list, "%s:%u: %s", self->path, row->line, reason);
        return STATUS_OK;
    }
    /* Without a join the names are numbers of another table. */
    long columns[] = {self->name, self->export[NSYS_DEMANGLED], self -> export[NSYS_SHORT_NAME]};
    const char *name = "";
    for (size_t i = 0; i < 3 && name[0] == '\0'; i++) {
        uint64_t number;
        const char *text = columns[i] >= 0 ? row->fields[columns[i]] : "";
        name = parse_count(text, UINT64_MAX, &number) ? "" : text;
    }
    return add_launch(self, row, name, &launch);
}

/* --- the file ------------------------------------------------------------------------------------------------------
 */

static bool is_number(const char *text)
{
    struct printed_number number;
    return printed_number_parse(text, '.', &number);
}

/* Text between tables, or the header of a table of something else, which may have as many columns. */
static bool leaves_table(const struct nsys_reader *self, const struct table_row *row)
{
    return self->table != TABLE_EXPORT && !is_number(row->fields[0]) &&
           (row->count != self->column_count || row->count < 2 || !is_number(row->fields[1]));
}

static enum status take_row(struct nsys_reader *self, const struct table_row *row)
{
    self->row_count++;
    bool may_be_header = self->table == TABLE_OTHER || self->table == TABLE_EXPORT || !is_number(row->fields[0]);
    if (may_be_header && row->damage[0] == '\0' && take_header(self, row)) {
        self->row_count = 0;
        return STATUS_OK;
    }
    if (self->table == TABLE_OTHER || leaves_table(self, row)) {
        self->table = TABLE_OTHER;
        return STATUS_OK;
    }
    if (row->damage[0] != '\0' || row->count != self->column_count) {
        kernel_claim_skip(self->list, "%s:%u: %s", self->path, row->line,
                          row->damage[0] != '\0' ? row->damage : "more or fewer fields than the header has");
        return STATUS_OK;
    }
    switch (self->table) {
    case TABLE_TRACE:
        return take_trace_row(self, row);
    case TABLE_SUMMARY:
        return take_summary_row(self, row);
    case TABLE_EXPORT:
        return take_export_row(self, row);
    case TABLE_OTHER:
        break;
    }
    return STATUS_OK;
}

/* While no table is open, lines are taken one by one: quotes in other programs' text mean nothing. */
static enum status read_rows(struct nsys_reader *self, struct table_rows *rows)
{
    for (;;) {
        struct table_row row = {.damage = ""};
        enum status status;
        if (self->table == TABLE_OTHER) {
            char *text;
            size_t length;
            unsigned line;
            status = table_rows_line(rows, &text, &length, &line, self->error);
            if (status != STATUS_OK || text == NULL) {
                return status;
            }
            if (strchr(text, ',') == NULL) {
                continue;
            }
            status = table_rows_split_line(rows, &row, self->error);
        } else {
            status = table_rows_next(rows, &row, self->error);
        }
        if (status != STATUS_OK || row.count == 0) {
            return status;
        }
        status = take_row(self, &row);
        if (status != STATUS_OK) {
            return status;
        }
    }
}

enum status nsys_csv_read(const char *path, struct kernel_claim_list *list, struct error *error)
{
    struct nsys_reader reader = {.path = path, .list = list, .error = error};
    struct table_rows *rows = NULL;
    enum status status = table_rows_open(path, &rows, error);
    if (status == STATUS_OK) {
        status = launch_groups_create(list, CLAIM_SOURCE_NSYS_TABLE, path, &reader.groups, error);
    }
    status = status == STATUS_OK ? read_rows(&reader, rows) : status;
    if (status == STATUS_OK && !reader.has_table) {
        status = error_set_at(error, STATUS_BAD_DATA, path, 0, 0,
                              "no table of GPU kernels as Nsight Systems prints it (nsys stats --report cuda_gpu_trace "
                              "--format csv)");
    }
    if (status == STATUS_OK && table_rows_damage(rows)[0] != '\0') {
        (void)snprintf(list->remark, sizeof list->remark, "%.200s: %s", path, table_rows_damage(rows));
    }
    if (status == STATUS_OK) {
        launch_groups_finish(reader.groups, false);
    } else {
        launch_groups_free(reader.groups);
    }
    table_rows_free(rows);
    return status;
}
