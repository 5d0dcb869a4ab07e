/* SPDX-License-Identifier: GPL-3.0-or-later
 * One device file: a table of figures with unit, kind and source into a GPU, or into the limits of a compute
 * capability. Used by evidence/device_catalogue.c. */
#include "evidence/device_catalogue_private.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- fields of the two kinds of file ---------------------------------------------------------------------------- */

enum limit_type {
    LIMIT_COUNT,
    LIMIT_FLAG
};

struct limit_field {
    const char *name, *unit;
    enum limit_type type;
    size_t offset;
};

#define COUNT_FIELD(member, unit)                                                                                      \
    {                                                                                                                  \
#member, unit, LIMIT_COUNT, offsetof(struct gpu_limits, member)                                                \
    }
#define FLAG_FIELD(member)                                                                                             \
    {                                                                                                                  \
#member, "yes/no", LIMIT_FLAG, offsetof(struct gpu_limits, member)                                             \
    }
static const struct limit_field limit_fields[] = {
    COUNT_FIELD(max_warps_per_sm, "warps"),
    COUNT_FIELD(max_ctas_per_sm, "CTAs"),
    COUNT_FIELD(registers_per_sm, "registers"),
    COUNT_FIELD(max_registers_per_thread, "registers"),
    COUNT_FIELD(max_registers_per_cta, "registers"),
    COUNT_FIELD(register_allocation_unit, "registers"),
    COUNT_FIELD(warp_allocation_granularity, "warps"),
    COUNT_FIELD(sub_cores_per_sm, "sub-cores"),
    COUNT_FIELD(max_threads_per_cta, "threads"),
    COUNT_FIELD(smem_per_sm_bytes, "bytes"),
    COUNT_FIELD(smem_per_cta_optin_bytes, "bytes"),
    COUNT_FIELD(smem_per_cta_default_bytes, "bytes"),
    COUNT_FIELD(smem_reserved_per_cta_bytes, "bytes"),
    COUNT_FIELD(smem_allocation_unit_bytes, "bytes"),
    COUNT_FIELD(named_barriers_per_sm, "barriers"),
    COUNT_FIELD(max_cluster_portable, "CTAs"),
    COUNT_FIELD(max_cluster, "CTAs"),
    COUNT_FIELD(max_clustered_ctas_per_sm, "CTAs"),
    FLAG_FIELD(has_cp_async),
    FLAG_FIELD(has_tma),
    FLAG_FIELD(has_wgmma),
    FLAG_FIELD(has_tcgen05),
    FLAG_FIELD(has_pdl),
};
#undef COUNT_FIELD
#undef FLAG_FIELD
enum {
    LIMIT_FIELD_COUNT = sizeof limit_fields / sizeof limit_fields[0]
};

/* The columns of a device file, in any order; other columns are a mistake in the file. */
enum file_column {
    COLUMN_FIELD,
    COLUMN_VALUE,
    COLUMN_UNIT,
    COLUMN_SOURCE,
    COLUMN_KIND,
    COLUMN_NOTE,
    COLUMN_COUNT
};
static const char *const column_names[COLUMN_COUNT] = {"field", "value", "unit", "source", "kind", "note"};

/* One row, its texts borrowed from the table. */
struct file_row {
    const char *text[COLUMN_COUNT];
    enum input_source kind;
    unsigned line;
};

struct device_reader {
    const struct device_catalogue *catalogue;
    struct device_entry *entry;
    size_t columns[COLUMN_COUNT];
    struct error *error;
};

static enum status bad_row(const struct device_reader *reader, const struct file_row *row, const char *what,
                           const char *expected)
{
    return error_set_at(reader->error, STATUS_BAD_DATA, reader->entry->table.file, row->line, 0, "%.80s: %s%.200s",
                        row->text[COLUMN_FIELD], what, expected);
}

static enum status find_columns(struct device_reader *reader)
{
    const struct csv_table *table = &reader->entry->table;
    for (int i = 0; i < COLUMN_COUNT; i++) {
        long column = csv_column(table, column_names[i]);
        if (column < 0)
            return error_set_at(reader->error, STATUS_BAD_DATA, table->file, 0, 0,
                                "no column '%s'; a device file has field,value,unit,source,kind,note", column_names[i]);
        reader->columns[i] = (size_t)column;
    }
    if (table->column_count != COLUMN_COUNT)
        return error_set_at(reader->error, STATUS_BAD_DATA, table->file, 0, 0,
                            "%zu columns; a device file has field,value,unit,source,kind,note", table->column_count);
    if (table->row_count == 0)
        return error_set_at(reader->error, STATUS_BAD_DATA, table->file, 0, 0, "no rows below the header");
    return STATUS_OK;
}

static enum status parse_kind(const struct device_reader *reader, struct file_row *row)
{
    static const enum input_source kinds[] = {INPUT_SOURCE_MEASURED, INPUT_SOURCE_DATASHEET, INPUT_SOURCE_LITERATURE,
                                              INPUT_SOURCE_ASSUMED};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(row->text[COLUMN_KIND], input_source_name(kinds[i])) == 0) {
            row->kind = kinds[i];
            return STATUS_OK;
        }
    return error_set_at(reader->error, STATUS_BAD_DATA, reader->entry->table.file, row->line, 0,
                        "%.80s: kind '%.80s', expected measured, datasheet, literature or assumed",
                        row->text[COLUMN_FIELD], row->text[COLUMN_KIND]);
}

static enum status read_row(const struct device_reader *reader, size_t index, struct file_row *row)
{
    const struct csv_table *table = &reader->entry->table;
    row->line = table->lines[index];
    for (int i = 0; i < COLUMN_COUNT; i++)
        row->text[i] = csv_cell(table, index, reader->columns[i]);
    for (size_t earlier = 0; earlier < index; earlier++)
        if (strcmp(csv_cell(table, earlier, reader->columns[COLUMN_FIELD]), row->text[COLUMN_FIELD]) == 0)
            return error_set_at(reader->error, STATUS_BAD_DATA, table->file, row->line, 0,
                                "field '%.80s' again, first on line %u", row->text[COLUMN_FIELD],
                                table->lines[earlier]);
    for (int i = 0; i < COLUMN_NOTE; i++)
        if (row->text[i][0] == '\0')
            return bad_row(reader, row, "no ",
                           i == COLUMN_VALUE ? "value; leave the row out if it is unknown" : column_names[i]);
    return parse_kind(reader, row);
}

static enum status expect_unit(const struct device_reader *reader, const struct file_row *row, const char *unit)
{
    if (strcmp(row->text[COLUMN_UNIT], unit) == 0)
        return STATUS_OK;
    return error_set_at(reader->error, STATUS_BAD_DATA, reader->entry->table.file, row->line, 0,
                        "%.80s: unit '%.80s', expected '%s'", row->text[COLUMN_FIELD], row->text[COLUMN_UNIT], unit);
}

static enum status row_number(const struct device_reader *reader, const struct file_row *row, double *value)
{
    if (number_parse(row->text[COLUMN_VALUE], value) == STATUS_OK)
        return STATUS_OK;
    return error_set_at(reader->error, STATUS_BAD_DATA, reader->entry->table.file, row->line, 0,
                        "%.80s: value '%.80s', a finite decimal number is expected", row->text[COLUMN_FIELD],
                        row->text[COLUMN_VALUE]);
}

static enum status row_count(const struct device_reader *reader, const struct file_row *row, uint32_t *count)
{
    double value = 0.0;
    enum status status = row_number(reader, row, &value);
    if (status != STATUS_OK)
        return status;
    if (!(value >= 0.0 && value <= (double)UINT32_MAX) || value != floor(value))
        return error_set_at(reader->error, STATUS_BAD_DATA, reader->entry->table.file, row->line, 0,
                            "%.80s: value '%.80s', expected a whole number from 0", row->text[COLUMN_FIELD],
                            row->text[COLUMN_VALUE]);
    *count = (uint32_t)value;
    return STATUS_OK;
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

/* "12.0" exactly; returns false for anything else. */
bool compute_capability_parse(const char *text, unsigned *major, unsigned *minor)
{
    size_t digits = strspn(text, "0123456789");
    if (digits < 1 || digits > 2 || text[digits] != '.' || !isdigit((unsigned char)text[digits + 1]) ||
        text[digits + 2] != '\0')
        return false;
    *major = (unsigned)strtoul(text, NULL, 10);
    *minor = (unsigned)(text[digits + 1] - '0');
    return true;
}

const struct device_entry *compute_capability_find(const struct device_catalogue *catalogue, unsigned major,
                                                   unsigned minor)
{
    for (size_t i = 0; i < catalogue->capabilities.count; i++) {
        const struct gpu_limits *limits = &catalogue->capabilities.items[i]->device.limits;
        if (limits->cc_major == major && limits->cc_minor == minor)
            return catalogue->capabilities.items[i];
    }
    return NULL;
}

void compute_capability_list(const struct device_catalogue *catalogue, struct text_buffer *out)
{
    for (size_t i = 0; i < catalogue->capabilities.count; i++) {
        const struct gpu_limits *limits = &catalogue->capabilities.items[i]->device.limits;
        text_buffer_append_format(out, "%s%u.%u", i ? ", " : "", limits->cc_major, limits->cc_minor);
    }
}

static enum status read_capability_row(const struct device_reader *reader, const struct file_row *row, unsigned *major,
                                       unsigned *minor)
{
    if (!compute_capability_parse(row->text[COLUMN_VALUE], major, minor))
        return bad_row(reader, row, "expected a compute capability such as 12.0, not ", row->text[COLUMN_VALUE]);
    return STATUS_OK;
}

/* A product takes the limits of its compute capability. */
static enum status apply_capability(const struct device_reader *reader, const struct file_row *row)
{
    unsigned major = 0, minor = 0;
    enum status status = read_capability_row(reader, row, &major, &minor);
    if (status != STATUS_OK)
        return status;
    const struct device_entry *capability = compute_capability_find(reader->catalogue, major, minor);
    if (capability) {
        reader->entry->device.limits = capability->device.limits;
        return STATUS_OK;
    }
    struct text_buffer known = {0};
    compute_capability_list(reader->catalogue, &known);
    status = error_set_at(reader->error, STATUS_BAD_DATA, reader->entry->table.file, row->line, 0,
                          "cc: compute capability %u.%u is unknown, known are %s", major, minor,
                          known.text ? known.text : "none");
    text_buffer_release(&known);
    return status;
}

static enum status read_figure(const struct device_reader *reader, const struct file_row *row, enum gpu_figure_id id)
{
    double value = 0.0;
    enum status status = expect_unit(reader, row, gpu_figure_unit(id));
    if (status == STATUS_OK)
        status = row_number(reader, row, &value);
    if (status != STATUS_OK)
        return status;
    reader->entry->device.figures[id] = (struct gpu_figure){value * gpu_figure_si_factor(id), row->kind,
                                                            row->text[COLUMN_SOURCE], row->text[COLUMN_NOTE]};
    return STATUS_OK;
}

/* Names the known field that is spelt most like the given one. */
static enum status unknown_field(const struct device_reader *reader, const struct file_row *row,
                                 const char *const *names, size_t count)
{
    const char *given = row->text[COLUMN_FIELD];
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        if (text_distance(given, names[i]) < text_distance(given, names[best]))
            best = i;
    return error_set_at(reader->error, STATUS_BAD_DATA, reader->entry->table.file, row->line, 0,
                        "unknown field '%.80s'; the nearest known one is '%s'", given, names[best]);
}

/* Fields that both kinds of file share. *known says whether the row was one of them. */
static enum status read_text_row(const struct device_reader *reader, const struct file_row *row, bool *known)
{
    struct gpu_device *device = &reader->entry->device;
    const char *field = row->text[COLUMN_FIELD];
    const char **target = strcmp(field, "title") == 0         ? &device->title
                          : strcmp(field, "chip") == 0        ? &device->chip
                          : strcmp(field, "memory_type") == 0 ? &device->memory_type
                                                              : NULL;
    *known = target != NULL;
    if (!target)
        return STATUS_OK;
    *target = row->text[COLUMN_VALUE];
    return expect_unit(reader, row, "text");
}

/* "0;8;16;32": a semicolon list keeps one row per field. */
static enum status read_counts(const struct device_reader *reader, const struct file_row *row, uint32_t most,
                               uint32_t *items, uint32_t *count)
{
    const char *at = row->text[COLUMN_VALUE];
    for (*count = 0;; at++) {
        size_t digits = strspn(at, "0123456789");
        if (digits < 1 || digits > 5 || (at[digits] != ';' && at[digits] != '\0') || *count == most) {
            char expected[80];
            (void)snprintf(expected, sizeof expected, "expected at most %u whole numbers between semicolons, not ",
                           (unsigned)most);
            return bad_row(reader, row, expected, row->text[COLUMN_VALUE]);
        }
        items[(*count)++] = (uint32_t)strtoul(at, NULL, 10);
        at += digits;
        if (*at == '\0')
            return STATUS_OK;
    }
}

static enum status read_gpcs(const struct device_reader *reader, const struct file_row *row)
{
    struct gpu_gpcs *gpcs = &reader->entry->device.gpcs;
    const enum status status = expect_unit(reader, row, "SMs");
    gpcs->source = row->kind;
    gpcs->citation = row->text[COLUMN_SOURCE];
    gpcs->note = row->text[COLUMN_NOTE];
    return status == STATUS_OK ? read_counts(reader, row, GPU_GPCS_MAX, gpcs->sms, &gpcs->count) : status;
}

static enum status read_product_row(const struct device_reader *reader, const struct file_row *row)
{
    const char *names[GPU_FIGURE_COUNT + 5] = {"title", "cc", "chip", "memory_type", "gpc_sms"};
    bool known;
    enum status status = read_text_row(reader, row, &known);
    if (known || status != STATUS_OK)
        return status;
    if (strcmp(row->text[COLUMN_FIELD], "cc") == 0) {
        status = expect_unit(reader, row, "text");
        return status == STATUS_OK ? apply_capability(reader, row) : status;
    }
    if (strcmp(row->text[COLUMN_FIELD], "gpc_sms") == 0)
        return read_gpcs(reader, row);
    for (int id = 0; id < GPU_FIGURE_COUNT; id++) {
        names[5 + id] = gpu_figure_column((enum gpu_figure_id)id);
        if (strcmp(row->text[COLUMN_FIELD], names[5 + id]) == 0)
            return read_figure(reader, row, (enum gpu_figure_id)id);
    }
    return unknown_field(reader, row, names, sizeof names / sizeof names[0]);
}

static enum status read_limit(const struct device_reader *reader, const struct file_row *row,
                              const struct limit_field *field)
{
    char *member = (char *)&reader->entry->device.limits + field->offset;
    enum status status = expect_unit(reader, row, field->unit);
    if (status != STATUS_OK)
        return status;
    if (field->type == LIMIT_COUNT)
        return row_count(reader, row, (uint32_t *)(void *)member);
    bool yes = strcmp(row->text[COLUMN_VALUE], "yes") == 0;
    if (!yes && strcmp(row->text[COLUMN_VALUE], "no") != 0)
        return bad_row(reader, row, "expected yes or no, not ", row->text[COLUMN_VALUE]);
    *(bool *)(void *)member = yes;
    return STATUS_OK;
}

static enum status read_capability_file_row(const struct device_reader *reader, const struct file_row *row)
{
    const char *names[LIMIT_FIELD_COUNT + 3] = {"title", "cc", "carveout_kib"};
    struct gpu_limits *limits = &reader->entry->device.limits;
    bool known;
    enum status status = read_text_row(reader, row, &known);
    if (known || status != STATUS_OK)
        return status;
    if (strcmp(row->text[COLUMN_FIELD], "cc") == 0) {
        status = expect_unit(reader, row, "text");
        return status == STATUS_OK ? read_capability_row(reader, row, &limits->cc_major, &limits->cc_minor) : status;
    }
    if (strcmp(row->text[COLUMN_FIELD], "carveout_kib") == 0) {
        status = expect_unit(reader, row, "KiB");
        return status == STATUS_OK
                   ? read_counts(reader, row, GPU_CARVEOUT_MAX, limits->carveout_kib, &limits->carveout_count)
                   : status;
    }
    for (size_t i = 0; i < LIMIT_FIELD_COUNT; i++) {
        names[3 + i] = limit_fields[i].name;
        if (strcmp(row->text[COLUMN_FIELD], names[3 + i]) == 0)
            return read_limit(reader, row, &limit_fields[i]);
    }
    return unknown_field(reader, row, names, sizeof names / sizeof names[0]);
}

/* ---- whole files ------------------------------------------------------------------------------------------------ */

void device_entry_free(struct device_entry *entry)
{
    if (!entry)
        return;
    csv_table_release(&entry->table);
    text_buffer_release(&entry->limits_note);
    free(entry->origin);
    free(entry);
}

struct device_entry *device_entry_create(const char *origin)
{
    struct device_entry *entry = calloc(1, sizeof *entry);
    if (!entry)
        return NULL;
    entry->origin = strdup(origin);
    if (!entry->origin) {
        free(entry);
        return NULL;
    }
    entry->device.chip = entry->device.memory_type = "";
    entry->device.gpcs = (struct gpu_gpcs){.source = INPUT_SOURCE_ABSENT, .citation = "", .note = ""};
    for (int id = 0; id < GPU_FIGURE_COUNT; id++)
        entry->device.figures[id] = (struct gpu_figure){(double)NAN, INPUT_SOURCE_ABSENT, "", ""};
    return entry;
}

static bool has_field(const struct device_reader *reader, const char *field)
{
    const struct csv_table *table = &reader->entry->table;
    for (size_t i = 0; i < table->row_count; i++)
        if (strcmp(csv_cell(table, i, reader->columns[COLUMN_FIELD]), field) == 0)
            return true;
    return false;
}

static enum status require_field(const struct device_reader *reader, const char *field)
{
    if (has_field(reader, field))
        return STATUS_OK;
    return error_set_at(reader->error, STATUS_BAD_DATA, reader->entry->table.file, 0, 0, "field '%s' is missing",
                        field);
}

/* Validation speaks of figures by their column name, which is the first word of its text; the line is known here. */
static enum status place_error(const struct device_reader *reader, enum status status, const struct error *found)
{
    size_t length = strcspn(found->text, " ");
    const struct csv_table *table = &reader->entry->table;
    unsigned line = 0;
    for (size_t i = 0; i < table->row_count && line == 0; i++) {
        const char *field = csv_cell(table, i, reader->columns[COLUMN_FIELD]);
        if (strlen(field) == length && strncmp(field, found->text, length) == 0)
            line = table->lines[i];
    }
    return error_set_at(reader->error, status, table->file, line, 0, "%s", found->text);
}

static enum status validate_entry(const struct device_reader *reader)
{
    struct error found = {0};
    enum status status = gpu_device_validate(&reader->entry->device, &found);
    return status == STATUS_OK ? STATUS_OK : place_error(reader, status, &found);
}

static enum status read_entry(struct device_reader *reader,
                              enum status (*read_one)(const struct device_reader *, const struct file_row *))
{
    enum status status = find_columns(reader);
    for (size_t i = 0; i < reader->entry->table.row_count && status == STATUS_OK; i++) {
        struct file_row row;
        status = read_row(reader, i, &row);
        if (status == STATUS_OK)
            status = read_one(reader, &row);
    }
    if (status == STATUS_OK)
        status = require_field(reader, "title");
    return status == STATUS_OK ? require_field(reader, "cc") : status;
}

static enum status read_product(struct device_reader *reader)
{
    enum status status = read_entry(reader, read_product_row);
    if (status == STATUS_OK)
        status = require_field(reader, "sm_count"); /* identity is the name plus the SM count */
    return status == STATUS_OK ? validate_entry(reader) : status;
}

/* Citation of the whole, then what the notes of single limits say. */
static enum status write_limits_note(const struct device_reader *reader)
{
    struct text_buffer *note = &reader->entry->limits_note;
    const struct csv_table *table = &reader->entry->table;
    for (size_t i = 0; i < table->row_count; i++) {
        const char *field = csv_cell(table, i, reader->columns[COLUMN_FIELD]);
        const char *text = csv_cell(table, i, reader->columns[COLUMN_NOTE]);
        if (strcmp(field, "title") == 0)
            text_buffer_append_format(note, "%s%s%s", csv_cell(table, i, reader->columns[COLUMN_SOURCE]),
                                      text[0] ? "; " : "", text);
    }
    for (size_t i = 0; i < table->row_count; i++) {
        const char *field = csv_cell(table, i, reader->columns[COLUMN_FIELD]);
        const char *text = csv_cell(table, i, reader->columns[COLUMN_NOTE]);
        if (strcmp(field, "title") != 0 && text[0])
            text_buffer_append_format(note, "; %s: %s", field, text);
    }
    return note->failed ? error_set(reader->error, STATUS_NO_MEMORY, "no memory for the device catalogue") : STATUS_OK;
}

static enum status read_limits(struct device_reader *reader)
{
    enum status status = read_entry(reader, read_capability_file_row);
    for (size_t i = 0; i < LIMIT_FIELD_COUNT && status == STATUS_OK; i++)
        status = require_field(reader, limit_fields[i].name);
    if (status == STATUS_OK)
        status = require_field(reader, "carveout_kib");
    if (status == STATUS_OK)
        status = validate_entry(reader);
    if (status != STATUS_OK)
        return status;
    struct gpu_device *device = &reader->entry->device;
    snprintf(device->name, sizeof device->name, "sm_%u%u", device->limits.cc_major, device->limits.cc_minor);
    return write_limits_note(reader);
}

enum status device_file_read_product(const struct device_catalogue *catalogue, struct device_entry *entry,
                                     struct error *error)
{
    struct device_reader reader = {.catalogue = catalogue, .entry = entry, .error = error};
    return read_product(&reader);
}

enum status device_file_read_limits(const struct device_catalogue *catalogue, struct device_entry *entry,
                                    struct error *error)
{
    struct device_reader reader = {.catalogue = catalogue, .entry = entry, .error = error};
    return read_limits(&reader);
}
