/* SPDX-License-Identifier: GPL-3.0-or-later
 * The catalogue of GPUs: reads device files, keeps them sorted, finds them by forgiving names. Created once by cli/ and
 * by whoever else needs a GPU by its name. */
#include "evidence/device_catalogue.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/text_buffer.h"
#include "evidence/embedded_data.h"

enum {
    DEVICE_FILE_LIMIT_BYTES = 1 << 20,
    PATH_SIZE = 4096,
    NORMALIZED_SIZE = 256
};

/* One file. The device's texts point into table; entries are never moved or freed before the catalogue is. */
struct device_entry {
    struct gpu_device device;
    struct csv_table table;
    char *origin;
    struct text_buffer limits_note; /* of a compute capability */
};

struct entry_list {
    struct device_entry **items;
    size_t count, capacity;
};

struct device_catalogue {
    struct entry_list products;     /* by cc, then name */
    struct entry_list capabilities; /* by cc */
    struct entry_list replaced;     /* kept because callers may hold borrowed pointers */
};

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
static bool parse_capability(const char *text, unsigned *major, unsigned *minor)
{
    size_t digits = strspn(text, "0123456789");
    if (digits < 1 || digits > 2 || text[digits] != '.' || !isdigit((unsigned char)text[digits + 1]) ||
        text[digits + 2] != '\0')
        return false;
    *major = (unsigned)strtoul(text, NULL, 10);
    *minor = (unsigned)(text[digits + 1] - '0');
    return true;
}

static const struct device_entry *find_capability(const struct device_catalogue *catalogue, unsigned major,
                                                  unsigned minor)
{
    for (size_t i = 0; i < catalogue->capabilities.count; i++) {
        const struct gpu_limits *limits = &catalogue->capabilities.items[i]->device.limits;
        if (limits->cc_major == major && limits->cc_minor == minor)
            return catalogue->capabilities.items[i];
    }
    return NULL;
}

static void list_capabilities(const struct device_catalogue *catalogue, struct text_buffer *out)
{
    for (size_t i = 0; i < catalogue->capabilities.count; i++) {
        const struct gpu_limits *limits = &catalogue->capabilities.items[i]->device.limits;
        text_buffer_append_format(out, "%s%u.%u", i ? ", " : "", limits->cc_major, limits->cc_minor);
    }
}

static enum status read_capability_row(const struct device_reader *reader, const struct file_row *row, unsigned *major,
                                       unsigned *minor)
{
    if (!parse_capability(row->text[COLUMN_VALUE], major, minor))
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
    const struct device_entry *capability = find_capability(reader->catalogue, major, minor);
    if (capability) {
        reader->entry->device.limits = capability->device.limits;
        return STATUS_OK;
    }
    struct text_buffer known = {0};
    list_capabilities(reader->catalogue, &known);
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

static enum status read_product_row(const struct device_reader *reader, const struct file_row *row)
{
    const char *names[GPU_FIGURE_COUNT + 4] = {"title", "cc", "chip", "memory_type"};
    bool known;
    enum status status = read_text_row(reader, row, &known);
    if (known || status != STATUS_OK)
        return status;
    if (strcmp(row->text[COLUMN_FIELD], "cc") == 0) {
        status = expect_unit(reader, row, "text");
        return status == STATUS_OK ? apply_capability(reader, row) : status;
    }
    for (int id = 0; id < GPU_FIGURE_COUNT; id++) {
        names[4 + id] = gpu_figure_column((enum gpu_figure_id)id);
        if (strcmp(row->text[COLUMN_FIELD], names[4 + id]) == 0)
            return read_figure(reader, row, (enum gpu_figure_id)id);
    }
    return unknown_field(reader, row, names, sizeof names / sizeof names[0]);
}

/* "0;8;16;32": a semicolon list keeps one row per field. */
static enum status read_carveouts(const struct device_reader *reader, const struct file_row *row)
{
    struct gpu_limits *limits = &reader->entry->device.limits;
    const char *at = row->text[COLUMN_VALUE];
    for (limits->carveout_count = 0;; at++) {
        size_t digits = strspn(at, "0123456789");
        if (digits < 1 || digits > 5 || (at[digits] != ';' && at[digits] != '\0') ||
            limits->carveout_count == GPU_CARVEOUT_MAX)
            return bad_row(reader, row, "expected at most 12 whole numbers between semicolons, not ",
                           row->text[COLUMN_VALUE]);
        limits->carveout_kib[limits->carveout_count++] = (uint32_t)strtoul(at, NULL, 10);
        at += digits;
        if (*at == '\0')
            return STATUS_OK;
    }
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
        return status == STATUS_OK ? read_carveouts(reader, row) : status;
    }
    for (size_t i = 0; i < LIMIT_FIELD_COUNT; i++) {
        names[3 + i] = limit_fields[i].name;
        if (strcmp(row->text[COLUMN_FIELD], names[3 + i]) == 0)
            return read_limit(reader, row, &limit_fields[i]);
    }
    return unknown_field(reader, row, names, sizeof names / sizeof names[0]);
}

/* ---- whole files ------------------------------------------------------------------------------------------------ */

static void entry_free(struct device_entry *entry)
{
    if (!entry)
        return;
    csv_table_release(&entry->table);
    text_buffer_release(&entry->limits_note);
    free(entry->origin);
    free(entry);
}

static struct device_entry *entry_create(const char *origin)
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

/* ---- lists ------------------------------------------------------------------------------------------------------ */

static int compare_entries(const struct device_entry *left, const struct device_entry *right)
{
    const struct gpu_limits *a = &left->device.limits, *b = &right->device.limits;
    if (a->cc_major != b->cc_major)
        return a->cc_major < b->cc_major ? -1 : 1;
    if (a->cc_minor != b->cc_minor)
        return a->cc_minor < b->cc_minor ? -1 : 1;
    return strcmp(left->device.name, right->device.name);
}

static enum status reserve_one(struct entry_list *list, struct error *error)
{
    if (list->count < list->capacity)
        return STATUS_OK;
    size_t capacity = list->capacity ? list->capacity * 2 : 64;
    struct device_entry **grown = realloc(list->items, capacity * sizeof *grown);
    if (!grown)
        return error_set(error, STATUS_NO_MEMORY, "no memory for the device catalogue");
    list->items = grown;
    list->capacity = capacity;
    return STATUS_OK;
}

/* The place was reserved. */
static void insert_sorted(struct entry_list *list, struct device_entry *entry)
{
    size_t place = list->count++;
    for (; place > 0 && compare_entries(entry, list->items[place - 1]) < 0; place--)
        list->items[place] = list->items[place - 1];
    list->items[place] = entry;
}

/* Takes over entry when it succeeds. A product of the same name goes to `replaced`. */
static enum status insert_product(struct device_catalogue *catalogue, struct device_entry *entry, struct error *error)
{
    struct entry_list *products = &catalogue->products;
    enum status status = reserve_one(products, error);
    if (status == STATUS_OK)
        status = reserve_one(&catalogue->replaced, error);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < products->count; i++)
        if (strcmp(products->items[i]->device.name, entry->device.name) == 0) {
            catalogue->replaced.items[catalogue->replaced.count++] = products->items[i];
            memmove(&products->items[i], &products->items[i + 1],
                    (products->count - i - 1) * sizeof(struct device_entry *));
            products->count--;
            break;
        }
    insert_sorted(products, entry);
    return STATUS_OK;
}

/* "sm_120", "sm120", "sm_120a", "12.0". */
static bool parse_capability_name(const char *name, unsigned *major, unsigned *minor)
{
    if (parse_capability(name, major, minor))
        return true;
    if (tolower((unsigned char)name[0]) != 's' || tolower((unsigned char)name[1]) != 'm')
        return false;
    name += 2;
    if (*name == '_' || *name == '-' || *name == ' ')
        name++;
    size_t digits = strspn(name, "0123456789");
    if (digits < 2 || digits > 3)
        return false;
    char suffix = (char)tolower((unsigned char)name[digits]);
    if (suffix != '\0' && ((suffix != 'a' && suffix != 'f') || name[digits + 1] != '\0'))
        return false;
    unsigned number = (unsigned)strtoul(name, NULL, 10);
    *major = number / 10;
    *minor = number % 10;
    return true;
}

/* The device is called after its file: "dir/nvidia-h200.csv" is nvidia-h200. */
static enum status set_name_from_path(struct gpu_device *device, const char *path, struct error *error)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    size_t length = strlen(base);
    if (length > 4 && strcmp(base + length - 4, ".csv") == 0)
        length -= 4;
    if (length == 0 || length >= sizeof device->name)
        return error_set_at(error, STATUS_BAD_DATA, path, 0, 0, "the file's name names the device: 1 to %zu bytes",
                            sizeof device->name - 1);
    memcpy(device->name, base, length);
    device->name[length] = '\0';
    size_t bad_offset;
    unsigned major, minor;
    bool control = false;
    for (size_t i = 0; i < length; i++)
        control = control || iscntrl((unsigned char)device->name[i]);
    if (control || utf8_check(device->name, length, &bad_offset) != STATUS_OK)
        return error_set_at(error, STATUS_BAD_DATA, path, 0, 0, "the file's name must be printable UTF-8");
    if (parse_capability_name(device->name, &major, &minor))
        return error_set_at(error, STATUS_BAD_DATA, path, 0, 0,
                            "a device cannot be called after a compute capability, rename the file");
    return STATUS_OK;
}

static enum status add_product(struct device_catalogue *catalogue, struct device_entry *entry, const char *path,
                               struct error *error)
{
    struct device_reader reader = {.catalogue = catalogue, .entry = entry, .error = error};
    enum status status = set_name_from_path(&entry->device, path, error);
    if (status == STATUS_OK)
        status = read_product(&reader);
    return status == STATUS_OK ? insert_product(catalogue, entry, error) : status;
}

enum status device_catalogue_add_file(struct device_catalogue *catalogue, const char *path,
                                      const struct gpu_device **device, struct error *error)
{
    struct device_entry *entry = entry_create(path);
    if (!entry)
        return error_set(error, STATUS_NO_MEMORY, "no memory for the device catalogue");
    enum status status = csv_read(path, DEVICE_FILE_LIMIT_BYTES, &entry->table, error);
    if (status == STATUS_OK)
        status = add_product(catalogue, entry, path, error);
    if (status != STATUS_OK)
        entry_free(entry);
    else if (device)
        *device = &entry->device;
    return status;
}

static enum status add_embedded(struct device_catalogue *catalogue, const struct embedded_file *file, bool limits,
                                struct error *error)
{
    struct device_entry *entry = entry_create("built in");
    if (!entry)
        return error_set(error, STATUS_NO_MEMORY, "no memory for the device catalogue");
    char name[PATH_SIZE];
    snprintf(name, sizeof name, "built-in %s", file->path);
    enum status status = csv_parse(file->begin, file->length, name, &entry->table, error);
    struct device_reader reader = {.catalogue = catalogue, .entry = entry, .error = error};
    if (status == STATUS_OK && limits) {
        status = read_limits(&reader);
        if (status == STATUS_OK)
            status = reserve_one(&catalogue->capabilities, error);
        if (status == STATUS_OK)
            insert_sorted(&catalogue->capabilities, entry);
    } else if (status == STATUS_OK) {
        status = add_product(catalogue, entry, file->path, error);
    }
    if (status != STATUS_OK)
        entry_free(entry);
    return status;
}

static enum status read_embedded(struct device_catalogue *catalogue, const char *directory, bool limits,
                                 struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < embedded_file_count && status == STATUS_OK; i++)
        if (strncmp(embedded_files[i].path, directory, strlen(directory)) == 0)
            status = add_embedded(catalogue, &embedded_files[i], limits, error);
    return status;
}

/* ---- the user's directory --------------------------------------------------------------------------------------- */

static int is_device_file(const struct dirent *file)
{
    size_t length = strlen(file->d_name);
    return length > 4 && file->d_name[0] != '.' && strcmp(file->d_name + length - 4, ".csv") == 0;
}

/* strcoll of alphasort would make the order, and so the first error, depend on the locale. */
static int compare_file_names(const struct dirent **left, const struct dirent **right)
{
    return strcmp((*left)->d_name, (*right)->d_name);
}

static enum status read_directory(struct device_catalogue *catalogue, const char *directory, bool must_exist,
                                  struct error *error)
{
    struct dirent **files = NULL;
    int count = scandir(directory, &files, is_device_file, compare_file_names);
    if (count < 0 && (errno == ENOENT || errno == ENOTDIR) && !must_exist)
        return STATUS_OK;
    if (count < 0)
        return error_set_at(error, STATUS_MISSING, directory, 0, 0, "cannot be read as a directory of devices: %s",
                            strerror(errno));
    enum status status = STATUS_OK;
    for (int i = 0; i < count; i++) {
        char path[PATH_SIZE];
        int length = snprintf(path, sizeof path, "%s/%s", directory, files[i]->d_name);
        if (status == STATUS_OK && (length < 0 || (size_t)length >= sizeof path))
            status = error_set_at(error, STATUS_LIMIT, directory, 0, 0, "the path is too long");
        if (status == STATUS_OK)
            status = device_catalogue_add_file(catalogue, path, NULL, error);
        free(files[i]);
    }
    free(files);
    return status;
}

static enum status read_user_directory(struct device_catalogue *catalogue, struct error *error)
{
    const char *own = getenv("OCCAM_DEVICE_DIR"), *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (own && own[0])
        return read_directory(catalogue, own, true, error);
    char path[PATH_SIZE];
    int length = -1;
    if (config && config[0])
        length = snprintf(path, sizeof path, "%s/occam/devices", config);
    else if (home && home[0])
        length = snprintf(path, sizeof path, "%s/.config/occam/devices", home);
    else
        return STATUS_OK;
    if (length < 0 || (size_t)length >= sizeof path)
        return error_set(error, STATUS_LIMIT, "the path of the directory of user devices is too long");
    return read_directory(catalogue, path, false, error);
}

enum status device_catalogue_create(struct device_catalogue **catalogue, struct error *error)
{
    struct device_catalogue *created = calloc(1, sizeof *created);
    if (!created)
        return error_set(error, STATUS_NO_MEMORY, "no memory for the device catalogue");
    enum status status = read_embedded(created, "compute_capabilities/", true, error);
    if (status == STATUS_OK)
        status = read_embedded(created, "devices/", false, error);
    if (status == STATUS_OK)
        status = read_user_directory(created, error);
    if (status == STATUS_OK)
        *catalogue = created;
    else
        device_catalogue_free(created);
    return status;
}

static void entry_list_release(struct entry_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        entry_free(list->items[i]);
    free(list->items);
}

void device_catalogue_free(struct device_catalogue *catalogue)
{
    if (!catalogue)
        return;
    entry_list_release(&catalogue->products);
    entry_list_release(&catalogue->capabilities);
    entry_list_release(&catalogue->replaced);
    free(catalogue);
}

/* ---- looking up ------------------------------------------------------------------------------------------------- */

/* Lower case letters and digits only, without a leading vendor or brand word. Longer names are cut: they match nothing
 * and are far from everything either way. */
static void normalize_name(const char *name, char out[NORMALIZED_SIZE])
{
    size_t length = 0;
    for (; *name && length < NORMALIZED_SIZE - 1; name++)
        if (!strchr("-_ ()/", *name))
            out[length++] = (char)tolower((unsigned char)*name);
    out[length] = '\0';
    static const char *const prefixes[] = {"nvidia", "geforce"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        size_t prefix_length = strlen(prefixes[i]);
        if (strncmp(out, prefixes[i], prefix_length) == 0 && out[prefix_length])
            memmove(out, out + prefix_length, strlen(out + prefix_length) + 1);
    }
}

enum match {
    MATCH_EXACT,
    MATCH_START,
    MATCH_PART,
    MATCH_NONE
};

static enum match match_text(const char *candidate, const char *wanted)
{
    char normalized[NORMALIZED_SIZE];
    normalize_name(candidate, normalized);
    const char *found = strstr(normalized, wanted);
    if (!found)
        return MATCH_NONE;
    if (found != normalized)
        return MATCH_PART;
    return found[strlen(wanted)] == '\0' ? MATCH_EXACT : MATCH_START;
}

static enum match match_device(const struct gpu_device *device, const char *wanted)
{
    enum match by_name = match_text(device->name, wanted), by_title = match_text(device->title, wanted);
    return by_name < by_title ? by_name : by_title;
}

struct candidate {
    unsigned distance;
    const char *name;
};

static unsigned name_distance(const struct gpu_device *device, const char *wanted)
{
    char name[NORMALIZED_SIZE], title[NORMALIZED_SIZE];
    normalize_name(device->name, name);
    normalize_name(device->title, title);
    unsigned by_name = text_distance(name, wanted), by_title = text_distance(title, wanted);
    return by_name < by_title ? by_name : by_title;
}

enum {
    CANDIDATES_MAX = 5
};

/* The nearest names, best first; equal distances keep the catalogue's order. */
static size_t nearest_names(const struct device_catalogue *catalogue, const char *wanted,
                            struct candidate nearest[CANDIDATES_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < catalogue->products.count; i++) {
        const struct gpu_device *device = &catalogue->products.items[i]->device;
        struct candidate candidate = {name_distance(device, wanted), device->name};
        size_t place = count < CANDIDATES_MAX ? count++ : CANDIDATES_MAX;
        for (; place > 0 && candidate.distance < nearest[place - 1].distance; place--)
            if (place < CANDIDATES_MAX)
                nearest[place] = nearest[place - 1];
        if (place < CANDIDATES_MAX)
            nearest[place] = candidate;
    }
    return count;
}

static enum status not_found(const struct device_catalogue *catalogue, const char *name, const char *wanted,
                             struct error *error)
{
    struct candidate nearest[CANDIDATES_MAX];
    struct text_buffer list = {0};
    size_t count = nearest_names(catalogue, wanted, nearest);
    for (size_t i = 0; i < count; i++)
        text_buffer_append_format(&list, "%s%s", i ? ", " : "", nearest[i].name);
    enum status status =
        error_set(error, STATUS_NOT_FOUND, "no device '%.80s'; near names: %s", name, list.text ? list.text : "none");
    text_buffer_release(&list);
    return status;
}

static enum status ambiguous(const struct device_catalogue *catalogue, const char *name, const char *wanted,
                             enum match level, struct error *error)
{
    struct text_buffer list = {0};
    for (size_t i = 0; i < catalogue->products.count; i++) {
        const struct gpu_device *device = &catalogue->products.items[i]->device;
        if (match_device(device, wanted) <= level)
            text_buffer_append_format(&list, "%s%s", list.length ? ", " : "", device->name);
    }
    enum status status = error_set(error, STATUS_NOT_FOUND, "'%.80s' could be %s", name, list.text ? list.text : "");
    text_buffer_release(&list);
    return status;
}

static enum status find_limits(const struct device_catalogue *catalogue, const char *name, unsigned major,
                               unsigned minor, const struct gpu_device **device, struct error *error)
{
    const struct device_entry *entry = find_capability(catalogue, major, minor);
    if (entry) {
        *device = &entry->device;
        return STATUS_OK;
    }
    struct text_buffer known = {0};
    list_capabilities(catalogue, &known);
    enum status status = error_set(error, STATUS_NOT_FOUND, "no compute capability '%.80s'; known are %s", name,
                                   known.text ? known.text : "none");
    text_buffer_release(&known);
    return status;
}

enum status device_catalogue_find(const struct device_catalogue *catalogue, const char *name,
                                  const struct gpu_device **device, struct error *error)
{
    unsigned major, minor;
    if (parse_capability_name(name, &major, &minor))
        return find_limits(catalogue, name, major, minor, device, error);
    char wanted[NORMALIZED_SIZE];
    normalize_name(name, wanted);
    if (wanted[0] == '\0')
        return error_set(error, STATUS_NOT_FOUND, "an empty device name");
    const struct gpu_device *found = NULL;
    enum match best = MATCH_NONE;
    size_t count = 0;
    /* The name as it is spelt wins, so that a user's "h200" beside "nvidia-h200" can be meant. */
    for (size_t i = 0; i < catalogue->products.count; i++)
        if (strcmp(catalogue->products.items[i]->device.name, name) == 0) {
            *device = &catalogue->products.items[i]->device;
            return STATUS_OK;
        }
    for (size_t i = 0; i < catalogue->products.count; i++) {
        const struct gpu_device *candidate = &catalogue->products.items[i]->device;
        enum match match = match_device(candidate, wanted);
        if (match < best) {
            best = match;
            count = 0;
        }
        if (match == best && match != MATCH_NONE) {
            found = candidate;
            count++;
        }
    }
    if (best == MATCH_NONE)
        return not_found(catalogue, name, wanted, error);
    if (count > 1)
        return ambiguous(catalogue, name, wanted, best, error);
    *device = found;
    return STATUS_OK;
}

size_t device_catalogue_count(const struct device_catalogue *catalogue)
{
    return catalogue->products.count + catalogue->capabilities.count;
}

const struct gpu_device *device_catalogue_get(const struct device_catalogue *catalogue, size_t index)
{
    if (index < catalogue->products.count)
        return &catalogue->products.items[index]->device;
    index -= catalogue->products.count;
    if (index >= catalogue->capabilities.count)
        BUG("device %zu of a catalogue with %zu", index + catalogue->products.count, device_catalogue_count(catalogue));
    return &catalogue->capabilities.items[index]->device;
}

const char *device_catalogue_origin(const struct device_catalogue *catalogue, const struct gpu_device *device)
{
    const struct entry_list *lists[] = {&catalogue->products, &catalogue->capabilities, &catalogue->replaced};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        for (size_t j = 0; j < lists[i]->count; j++)
            if (&lists[i]->items[j]->device == device)
                return lists[i]->items[j]->origin;
    BUG("device %s is not of this catalogue", device->name);
}

const char *device_catalogue_limits_note(const struct device_catalogue *catalogue, unsigned cc_major, unsigned cc_minor)
{
    const struct device_entry *entry = find_capability(catalogue, cc_major, cc_minor);
    return entry && entry->limits_note.text ? entry->limits_note.text : "";
}
