/* SPDX-License-Identifier: GPL-3.0-or-later
 * Nsight Compute as it prints without --csv: a line for each launch, then a table for each section, framed by lines of
 * dashes. Rules and whatever else a program prints stand between. */
#include <stdio.h>
#include <string.h>

#include "base/text_buffer.h"
#include "evidence/profiles/ncu_launch_private.h"
#include "evidence/profiles/profile_readers.h"
#include "evidence/profiles/table_rows.h"

enum {
    VOTE_LINES_MAX = 20000
};

struct text_reader {
    struct ncu_launches launches;
    struct table_rows *rows;
    struct number_votes *votes; /* what the numbers are read for in the first pass; NULL: figures are taken */
    bool in_table, is_behind_head;
};

/* --- the line of a launch ------------------------------------------------------------------------------------------
 */

static const char *last_of(const char *text, const char *end, const char *wanted)
{
    const size_t length = strlen(wanted);
    for (const char *at = end - length; at >= text; at--) {
        if (memcmp(at, wanted, length) == 0) {
            return at;
        }
    }
    return NULL;
}

/* Where the name ends: before "(4, 1, 1)x(256, 1, 1)", which also gives the sides, or, in versions that have no sides
 * there, before ", 2021-Mar-05 12:00:00". */
static const char *name_end(const char *name, const char *context, struct launch *launch)
{
    const char *cross = last_of(name, context, ")x("), *grid = cross != NULL ? last_of(name, cross, " (") : NULL;
    char text[128];
    if (grid != NULL && grid > name && (size_t)(context - grid) < sizeof text) {
        (void)snprintf(text, sizeof text, "%.*s", (int)(cross + 1 - grid), grid);
        bool is_good = ncu_sides_parse(text, launch->grid);
        (void)snprintf(text, sizeof text, "%.*s", (int)(context - cross - 2), cross + 2);
        is_good = ncu_sides_parse(text, launch->block) && is_good;
        return is_good ? grid : NULL;
    }
    const char *date = last_of(name, context, ", ");
    const bool is_date = date != NULL && context - date == 22 && date[6] == '-' && date[10] == '-' && date[16] == ':';
    return is_date ? date : context;
}

/* "  name(int) (4, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 8.0": where its context begins; else NULL. */
static const char *context_of(const char *line, size_t length)
{
    const char *context = last_of(line, line + length, ", Context ");
    return context != NULL && context > line && strstr(context, ", Stream ") != NULL ? context : NULL;
}

static enum status take_launch(struct text_reader *self, const char *line, size_t length, const char *context,
                               unsigned number)
{
    struct launch sides = {0};
    size_t bad;
    enum status status = ncu_launch_end(&self->launches);
    self->in_table = false;
    if (status != STATUS_OK || self->votes != NULL) {
        return status;
    }
    const size_t indent = strspn(line, " \t");
    line += indent;
    const char *end = name_end(line, context, &sides), *capability = strstr(context, ", CC ");
    if (end == NULL || utf8_check(line, length - indent, &bad) != STATUS_OK) {
        kernel_claim_skip(self->launches.list, "%s:%u: the line of a launch cannot be read", self->launches.path,
                          number);
        return STATUS_OK;
    }
    ncu_launch_begin(&self->launches, line, (size_t)(end - line), number);
    memcpy(self->launches.launch.launch.grid, sides.grid, sizeof sides.grid);
    memcpy(self->launches.launch.launch.block, sides.block, sizeof sides.block);
    if (capability != NULL) {
        char text[8];
        (void)snprintf(text, sizeof text, "%.*s", (int)strcspn(capability + 5, " \t\r"), capability + 5);
        ncu_launch_capability(&self->launches.launch, text);
    }
    return STATUS_OK;
}

/* --- tables --------------------------------------------------------------------------------------------------------
 */

/* "-------- ----- ------": the frame of a table of at least two columns. */
static bool is_frame(const char *line)
{
    return strncmp(line, "---", 3) == 0 && line[strspn(line, "- \t\r")] == '\0' && strchr(line, ' ') != NULL;
}

/* A table begins with a frame, ends with one, and where it has a head, one stands behind that too. */
static void take_frame(struct text_reader *self)
{
    self->in_table = !self->in_table || self->is_behind_head;
    self->is_behind_head = false;
}

/* "Registers Per Thread   register/thread   16": unit and value behind the name; many figures have no unit. */
static void take_row(struct text_reader *self, char *line)
{
    static const char numeric[] = "0123456789+-.(";
    size_t name_length;
    const int metric = ncu_metric_begins(line, &name_length);
    self->is_behind_head = strncmp(line, "Metric Name", 11) == 0;
    if (metric == NCU_NO_METRIC || (self->votes == NULL && !self->launches.launch.is_begun)) {
        return;
    }
    char *value = line + name_length;
    const char *unit = "";
    value += strspn(value, " \t");
    value[strcspn(value, "\r")] = '\0';
    const size_t first = strcspn(value, " \t");
    if (value[0] != '\0' && strchr(numeric, value[0]) == NULL && value[first] != '\0') {
        unit = value;
        value[first] = '\0';
        value += first + 1;
        value += strspn(value, " \t");
    }
    for (size_t length = strlen(value); length > 0 && (value[length - 1] == ' ' || value[length - 1] == '\t');) {
        value[--length] = '\0';
    }
    if (self->votes != NULL) {
        number_votes_add(self->votes, value);
        return;
    }
    const struct unit parsed = unit_parse(unit);
    ncu_launch_metric(&self->launches, metric, value, &parsed);
}

/* --- the file ------------------------------------------------------------------------------------------------------
 */

static enum status take_line(struct text_reader *self, char *line, size_t length, unsigned number)
{
    const char *context = context_of(line, length);
    if (context != NULL) {
        return take_launch(self, line, length, context, number);
    }
    line += strspn(line, " \t");
    if (strncmp(line, "Section: ", 9) == 0) {
        self->in_table = self->is_behind_head = false;
    } else if (is_frame(line)) {
        take_frame(self);
    } else if (self->in_table) {
        take_row(self, line);
    }
    return STATUS_OK;
}

static enum status read_lines(struct text_reader *self, unsigned lines_max)
{
    enum status status = table_rows_open(self->launches.path, &self->rows, self->launches.error);
    self->in_table = self->is_behind_head = false;
    for (unsigned number = 0; status == STATUS_OK && number < lines_max;) {
        char *line;
        size_t length;
        status = table_rows_line(self->rows, &line, &length, &number, self->launches.error);
        if (status != STATUS_OK || line == NULL) {
            break;
        }
        status = take_line(self, line, strlen(line), number);
    }
    return status == STATUS_OK ? ncu_launch_end(&self->launches) : status;
}

/* The decimal sign is the file's: its first lines are read once for it alone. */
static enum status find_decimal(struct text_reader *self)
{
    struct number_votes votes = {0};
    self->votes = &votes;
    enum status status = read_lines(self, VOTE_LINES_MAX);
    self->votes = NULL;
    self->launches.decimal = number_votes_decimal(&votes);
    table_rows_free(self->rows);
    self->rows = NULL;
    return status;
}

enum status ncu_text_read(const char *path, struct kernel_claim_list *list, struct error *error)
{
    struct text_reader reader = {0};
    enum status status = ncu_launches_init(&reader.launches, path, list, error);
    status = status == STATUS_OK ? find_decimal(&reader) : status;
    status = status == STATUS_OK ? read_lines(&reader, UINT32_MAX) : status;
    if (status == STATUS_OK && reader.launches.launch_count == 0) {
        status = error_set_at(error, STATUS_BAD_DATA, path, 0, 0,
                              "no output of Nsight Compute: no line of a launch ('..., Context 1, Stream 7, ...')");
    }
    if (status == STATUS_OK && table_rows_damage(reader.rows)[0] != '\0') {
        (void)snprintf(list->remark, sizeof list->remark, "%.200s: %s", path, table_rows_damage(reader.rows));
    }
    ncu_launches_finish(&reader.launches, status == STATUS_OK);
    table_rows_free(reader.rows);
    return status;
}
