/* SPDX-License-Identifier: GPL-3.0-or-later
 * Nsight Systems export. The file is somebody else's: it is opened read-only and immutable (no journal is looked for,
 * nothing is locked or written), its schema is not trusted, only plain tables and columns are read, and a budget of
 * work ends what takes too long. */
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text_buffer.h"
#include "evidence/profiles/launch_groups.h"
#include "evidence/profiles/nsys_export_private.h"
#include "evidence/profiles/profile_readers.h"

#define KERNEL_TABLE "CUPTI_ACTIVITY_KIND_KERNEL"

enum {
    TEXT_BYTES_MAX = 1 << 20, /* of one value */
    DEVICES_MAX = 64,
    STEPS_PER_CALL = 100000, /* of SQLite's machine between two looks at the budget */
    NAME_BYTES_TOTAL_MAX = 64 << 20
};

struct named_id {
    int64_t id;
    const char *name; /* NULL: not found yet */
};

struct device {
    int64_t id;
    char name[128];
    uint32_t arch;
    double sm_count; /* NaN unknown */
};

struct sqlite_reader {
    const char *path;
    struct kernel_claim_list *list;
    struct launch_groups *groups;
    sqlite3 *database;
    uint64_t steps, steps_max; /* work done and allowed */
    size_t device_count;
    struct device devices[DEVICES_MAX];
    size_t first_claim;
    uint64_t row_count;
    struct error *error;
};

static enum status fail(const struct sqlite_reader *self)
{
    int code = sqlite3_errcode(self->database);
    if (code == SQLITE_NOMEM) {
        return error_set(self->error, STATUS_NO_MEMORY, "no memory to read %s", self->path);
    }
    if (code == SQLITE_INTERRUPT) {
        return error_set_at(self->error, STATUS_LIMIT, self->path, 0, 0,
                            "reading it takes more work than a file of its size should");
    }
    if (code == SQLITE_CANTOPEN || code == SQLITE_PERM || code == SQLITE_IOERR) {
        return error_set_at(self->error, STATUS_IO, self->path, 0, 0, "%s", sqlite3_errmsg(self->database));
    }
    return error_set_at(self->error, STATUS_BAD_DATA, self->path, 0, 0, "SQLite: %s", sqlite3_errmsg(self->database));
}

/* --- opening -------------------------------------------------------------------------------------------------------
 */

static int count_work(void *data)
{
    struct sqlite_reader *self = data;
    self->steps += STEPS_PER_CALL;
    return self->steps > self->steps_max;
}

/* The file's name as a URI: everything but letters, digits and a few marks is escaped. */
static void write_uri(const char *path, struct text_buffer *uri)
{
    text_buffer_append(uri, path[0] == '/' ? "file://" : "file:");
    for (const char *at = path; *at != '\0'; at++) {
        bool is_plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9') ||
                        strchr("/._-", *at) != NULL;
        if (is_plain) {
            text_buffer_append_bytes(uri, at, 1);
        } else {
            text_buffer_append_format(uri, "%%%02X", (unsigned)(unsigned char)*at);
        }
    }
    text_buffer_append(uri, "?mode=ro&immutable=1");
}

/* Settings for files that nobody vouches for (https://www.sqlite.org/security.html). */
static enum status harden(struct sqlite_reader *self)
{
    static const struct {
        int limit, value;
    } limits[] = {
        {SQLITE_LIMIT_LENGTH, TEXT_BYTES_MAX}, {SQLITE_LIMIT_SQL_LENGTH, 100000}, {SQLITE_LIMIT_COLUMN, 500},
        {SQLITE_LIMIT_EXPR_DEPTH, 20},         {SQLITE_LIMIT_COMPOUND_SELECT, 2}, {SQLITE_LIMIT_VDBE_OP, 25000},
        {SQLITE_LIMIT_FUNCTION_ARG, 8},        {SQLITE_LIMIT_ATTACHED, 0},        {SQLITE_LIMIT_VARIABLE_NUMBER, 10},
        {SQLITE_LIMIT_TRIGGER_DEPTH, 1},       {SQLITE_LIMIT_WORKER_THREADS, 0}};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        (void)sqlite3_limit(self->database, limits[i].limit, limits[i].value);
    }
    if (sqlite3_db_config(self->database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL) != SQLITE_OK ||
        sqlite3_db_config(self->database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL) != SQLITE_OK ||
        sqlite3_db_config(self->database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL) != SQLITE_OK ||
        sqlite3_db_config(self->database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL) != SQLITE_OK ||
        sqlite3_exec(self->database, "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA cache_size=-4096", NULL,
                     NULL, NULL) != SQLITE_OK) {
        return fail(self);
    }
    return STATUS_OK;
}

static enum status open_database(struct sqlite_reader *self)
{
    struct stat facts;
    if (stat(self->path, &facts) != 0) {
        return error_set_at(self->error, STATUS_MISSING, self->path, 0, 0, "cannot be opened");
    }
    if (!S_ISREG(facts.st_mode)) {
        return error_set_at(self->error, STATUS_BAD_DATA, self->path, 0, 0, "not a regular file");
    }
    /* Twenty steps of SQLite's machine per byte are far above what reading rows takes (about one). */
    self->steps_max = 50u * 1000u * 1000u + 20u * (uint64_t)facts.st_size;
    struct text_buffer uri = {0};
    write_uri(self->path, &uri);
    if (uri.failed) {
        text_buffer_release(&uri);
        return error_set(self->error, STATUS_NO_MEMORY, "no memory to read %s", self->path);
    }
    int code =
        sqlite3_open_v2(uri.text, &self->database,
                        SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE, NULL);
    text_buffer_release(&uri);
    if (self->database == NULL) {
        return error_set(self->error, STATUS_NO_MEMORY, "no memory to read %s", self->path);
    }
    if (code != SQLITE_OK) {
        return fail(self);
    }
    sqlite3_progress_handler(self->database, STEPS_PER_CALL, count_work, self);
    return harden(self);
}

/* --- the schema ----------------------------------------------------------------------------------------------------
 */

/* Prepares text; *statement NULL with STATUS_OK never happens. */
static enum status prepare(struct sqlite_reader *self, const char *text, sqlite3_stmt **statement)
{
    if (sqlite3_prepare_v2(self->database, text, -1, statement, NULL) != SQLITE_OK || *statement == NULL) {
        return fail(self);
    }
    return STATUS_OK;
}

/* A plain table of that name: views, and virtual tables (which have no root page), run whatever they say. */
static enum status has_table(struct sqlite_reader *self, const char *name, bool *is_there)
{
    sqlite3_stmt *statement = NULL;
    enum status status =
        prepare(self, "SELECT 1 FROM sqlite_schema WHERE type='table' AND name=?1 AND rootpage>0 LIMIT 1", &statement);
    if (status == STATUS_OK) {
        (void)sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
        int code = sqlite3_step(statement);
        *is_there = code == SQLITE_ROW;
        status = code == SQLITE_ROW || code == SQLITE_DONE ? STATUS_OK : fail(self);
    }
    sqlite3_finalize(statement);
    return status;
}

/* Sets has[i] for each of names[] that is a column kept in the table; computed ones are left out by the pragma. */
static enum status find_columns(struct sqlite_reader *self, const char *table, const char *const *names,
                                size_t name_count, bool *has)
{
    sqlite3_stmt *statement = NULL;
    enum status status = prepare(self, "SELECT name FROM pragma_table_info(?1)", &statement);
    int code = SQLITE_DONE;
    if (status == STATUS_OK) {
        (void)sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
        while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
            const char *column = (const char *)sqlite3_column_text(statement, 0);
            for (size_t i = 0; i < name_count && column != NULL; i++) {
                has[i] = has[i] || strcmp(column, names[i]) == 0;
            }
        }
        status = code == SQLITE_DONE ? STATUS_OK : fail(self);
    }
    sqlite3_finalize(statement);
    return status;
}

/* SELECT of the columns that are there, NULL for the others. */
static enum status select_columns(struct sqlite_reader *self, const char *table, const char *const *names,
                                  const bool *has, size_t count, sqlite3_stmt **statement)
{
    struct text_buffer query = {0};
    text_buffer_append(&query, "SELECT ");
    for (size_t i = 0; i < count; i++) {
        text_buffer_append_format(&query, has[i] ? "%s\"%s\"" : "%sNULL", i > 0 ? "," : "", names[i]);
    }
    text_buffer_append_format(&query, " FROM \"%s\"", table);
    enum status status = query.failed ? error_set(self->error, STATUS_NO_MEMORY, "no memory to read %s", self->path)
                                      : prepare(self, query.text, statement);
    text_buffer_release(&query);
    return status;
}

/* --- devices -------------------------------------------------------------------------------------------------------
 */

static struct device *find_device(struct sqlite_reader *self, int64_t id)
{
    for (size_t i = 0; i < self->device_count; i++) {
        if (self->devices[i].id == id) {
            return &self->devices[i];
        }
    }
    return NULL;
}

static bool column_integer(sqlite3_stmt *statement, int column, int64_t *value)
{
    *value = sqlite3_column_int64(statement, column);
    return sqlite3_column_type(statement, column) == SQLITE_INTEGER;
}

static void take_device(struct sqlite_reader *self, sqlite3_stmt *statement)
{
    struct device device = {.sm_count = NAN};
    int64_t major, minor, sm_count;
    size_t bad;
    const char *name = (const char *)sqlite3_column_text(statement, 1);
    if (!column_integer(statement, 0, &device.id) || self->device_count == DEVICES_MAX ||
        find_device(self, device.id) != NULL) {
        return;
    }
    if (name != NULL && utf8_check(name, strlen(name), &bad) == STATUS_OK && strlen(name) < sizeof device.name) {
        (void)snprintf(device.name, sizeof device.name, "%s", name);
    }
    if (column_integer(statement, 2, &sm_count) && sm_count > 0 && sm_count < 100000) {
        device.sm_count = (double)sm_count;
    }
    if (column_integer(statement, 3, &major) && column_integer(statement, 4, &minor) && major > 0 && major < 100 &&
        minor >= 0 && minor < 10) {
        device.arch = (uint32_t)(major * 10 + minor);
    }
    self->devices[self->device_count++] = device;
}

/* TARGET_INFO_GPU, where it is there; nothing depends on it. */
static enum status read_devices(struct sqlite_reader *self)
{
    static const char *const names[] = {"id", "name", "smCount", "computeMajor", "computeMinor"};
    bool has[5] = {false}, is_there = false;
    sqlite3_stmt *statement = NULL;
    enum status status = has_table(self, "TARGET_INFO_GPU", &is_there);
    if (status != STATUS_OK || !is_there) {
        return status;
    }
    status = find_columns(self, "TARGET_INFO_GPU", names, 5, has);
    status =
        status == STATUS_OK && has[0] ? select_columns(self, "TARGET_INFO_GPU", names, has, 5, &statement) : status;
    int code = SQLITE_DONE;
    while (statement != NULL && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        take_device(self, statement);
    }
    status = status == STATUS_OK && code != SQLITE_DONE ? fail(self) : status;
    sqlite3_finalize(statement);
    return status;
}

/* --- launches ------------------------------------------------------------------------------------------------------
 */

/* The name's number stands for it until all launches are read: "#12". */
static enum status take_launch(struct sqlite_reader *self, sqlite3_stmt *statement)
{
    struct nsys_row row = {0};
    struct launch launch;
    const char *reason = "";
    for (int column = 0; column < NSYS_COLUMN_COUNT; column++) {
        row.is_known[column] = column_integer(statement, column, &row.values[column]);
    }
    self->row_count++;
    if (!row.is_known[NSYS_START] || !row.is_known[NSYS_END]) {
        reason = "a launch without start and end";
    }
    if (reason[0] != '\0' || !nsys_row_launch(&row, &launch, &reason)) {
        kernel_claim_skip(self->list, "%s: row %llu of " KERNEL_TABLE ": %s", self->path,
                          (unsigned long long)self->row_count, reason);
        return STATUS_OK;
    }
    char name[32] = "";
    enum nsys_column named = row.is_known[NSYS_DEMANGLED] ? NSYS_DEMANGLED : NSYS_SHORT_NAME;
    if (row.is_known[named]) {
        (void)snprintf(name, sizeof name, "#%lld", (long long)row.values[named]);
    }
    launch.name = name;
    launch.name_length = strlen(name);
    launch.ordinal = self->row_count;
    const struct device *device = row.is_known[NSYS_DEVICE] ? find_device(self, row.values[NSYS_DEVICE]) : NULL;
    if (device != NULL) {
        launch.device = device->name;
        launch.device_length = strlen(device->name);
        launch.arch = device->arch;
        if (!isnan(device->sm_count)) {
            launch.figures[CLAIM_SM_COUNT] = (struct claim_value){true, device->sm_count, device->sm_count};
        }
    }
    return launch_groups_add(self->groups, &launch, NULL, NULL, self->error);
}

static enum status read_launches(struct sqlite_reader *self)
{
    const char *names[NSYS_COLUMN_COUNT];
    bool has[NSYS_COLUMN_COUNT] = {false}, is_there = false;
    sqlite3_stmt *statement = NULL;
    for (size_t i = 0; i < NSYS_COLUMN_COUNT; i++) {
        names[i] = nsys_column_name((enum nsys_column)i);
    }
    enum status status = has_table(self, KERNEL_TABLE, &is_there);
    if (status == STATUS_OK && !is_there) {
        return error_set_at(self->error, STATUS_BAD_DATA, self->path, 0, 0,
                            "no table " KERNEL_TABLE ": not an export of Nsight Systems, or one without GPU kernels");
    }
    status = status == STATUS_OK ? find_columns(self, KERNEL_TABLE, names, NSYS_COLUMN_COUNT, has) : status;
    if (status == STATUS_OK && (!has[NSYS_START] || !has[NSYS_END])) {
        return error_set_at(self->error, STATUS_BAD_DATA, self->path, 0, 0,
                            "table " KERNEL_TABLE " has no columns start and end");
    }
    status =
        status == STATUS_OK ? select_columns(self, KERNEL_TABLE, names, has, NSYS_COLUMN_COUNT, &statement) : status;
    int code = SQLITE_DONE;
    while (status == STATUS_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        status = take_launch(self, statement);
    }
    status = status == STATUS_OK && code != SQLITE_DONE ? fail(self) : status;
    sqlite3_finalize(statement);
    return status;
}

/* --- names ---------------------------------------------------------------------------------------------------------
 */

static int compare_ids(const void *left, const void *right)
{
    const struct named_id *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

/* Numbers of the names that claims use, ascending, each once. */
static enum status collect_ids(const struct sqlite_reader *self, struct named_id **ids, size_t *count)
{
    size_t claims = self->list->count - self->first_claim;
    *count = 0;
    *ids = malloc((claims + 1) * sizeof **ids);
    if (*ids == NULL) {
        return error_set(self->error, STATUS_NO_MEMORY, "no memory for the names in %s", self->path);
    }
    for (size_t i = 0; i < claims; i++) {
        const char *name = self->list->items[self->first_claim + i].name;
        if (name[0] == '#') {
            (*ids)[(*count)++] = (struct named_id){strtoll(name + 1, NULL, 10), NULL};
        }
    }
    qsort(*ids, *count, sizeof **ids, compare_ids);
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        if (kept == 0 || (*ids)[kept - 1].id != (*ids)[i].id) {
            (*ids)[kept++] = (*ids)[i];
        }
    }
    *count = kept;
    return STATUS_OK;
}

static enum status take_name(struct sqlite_reader *self, sqlite3_stmt *statement, struct named_id *ids, size_t count,
                             size_t *name_bytes)
{
    struct named_id key = {0};
    size_t bad;
    if (!column_integer(statement, 0, &key.id)) {
        return STATUS_OK;
    }
    struct named_id *found = bsearch(&key, ids, count, sizeof *ids, compare_ids);
    if (found == NULL || found->name != NULL) {
        return STATUS_OK;
    }
    const char *text = (const char *)sqlite3_column_text(statement, 1);
    size_t length = text != NULL ? (size_t)sqlite3_column_bytes(statement, 1) : 0;
    if (text == NULL || strlen(text) != length || utf8_check(text, length, &bad) != STATUS_OK ||
        *name_bytes + length > NAME_BYTES_TOTAL_MAX) {
        kernel_claim_skip(self->list, "%s: name %lld of StringIds is no text that can be taken", self->path,
                          (long long)key.id);
        return STATUS_OK;
    }
    *name_bytes += length;
    found->name = arena_copy_text(&self->list->arena, text, length);
    return found->name != NULL ? STATUS_OK
                               : error_set(self->error, STATUS_NO_MEMORY, "no memory for the names in %s", self->path);
}

/* One pass over StringIds, whether or not it has an index. */
static enum status find_names(struct sqlite_reader *self, struct named_id *ids, size_t count)
{
    static const char *const names[] = {"id", "value"};
    bool has[2] = {false}, is_there = false;
    sqlite3_stmt *statement = NULL;
    size_t name_bytes = 0;
    enum status status = has_table(self, "StringIds", &is_there);
    if (status == STATUS_OK && is_there) {
        status = find_columns(self, "StringIds", names, 2, has);
    }
    if (status != STATUS_OK || !has[0] || !has[1]) {
        return status;
    }
    status = select_columns(self, "StringIds", names, has, 2, &statement);
    int code = SQLITE_DONE;
    while (status == STATUS_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        status = take_name(self, statement, ids, count, &name_bytes);
    }
    status = status == STATUS_OK && code != SQLITE_DONE ? fail(self) : status;
    sqlite3_finalize(statement);
    return status;
}

static enum status name_claims(struct sqlite_reader *self)
{
    struct named_id *ids = NULL;
    size_t count = 0;
    enum status status = collect_ids(self, &ids, &count);
    status = status == STATUS_OK && count > 0 ? find_names(self, ids, count) : status;
    for (size_t i = self->first_claim; i < self->list->count && status == STATUS_OK; i++) {
        struct kernel_claim *claim = &self->list->items[i];
        if (claim->name[0] == '#') {
            struct named_id key = {strtoll(claim->name + 1, NULL, 10), NULL};
            struct named_id *found = bsearch(&key, ids, count, sizeof *ids, compare_ids);
            if (found != NULL && found->name != NULL) {
                claim->name = found->name;
            } else {
                kernel_claim_remark(self->list, claim, "its name, number %lld of StringIds, is not in the file",
                                    (long long)key.id);
                claim->name = "";
            }
        }
    }
    free(ids);
    return status;
}

enum status nsys_sqlite_read(const char *path, struct kernel_claim_list *list, struct error *error)
{
    struct sqlite_reader reader = {.path = path, .list = list, .first_claim = list->count, .error = error};
    enum status status = launch_groups_create(list, CLAIM_SOURCE_NSYS_SQLITE, path, &reader.groups, error);
    status = status == STATUS_OK ? open_database(&reader) : status;
    status = status == STATUS_OK ? read_devices(&reader) : status;
    status = status == STATUS_OK ? read_launches(&reader) : status;
    if (status == STATUS_OK) {
        launch_groups_finish(reader.groups, false);
        reader.groups = NULL;
        status = name_claims(&reader);
    }
    launch_groups_free(reader.groups);
    (void)sqlite3_close(reader.database);
    return status;
}
