/* SPDX-License-Identifier: GPL-3.0-or-later
 * Tables of Inductor's autotuning in a log: "AUTOTUNE mm(8x2048, 2048x3072)" and below it, fastest first, what was
 * tried. Rows of other processes and log prefixes may stand between. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text_buffer.h"
#include "evidence/profiles/autotune_log_private.h"

#define US_PER_MS 1e3

enum {
    STRANGERS_MAX = 64, /* lines that are no row, until a table is taken to have ended */
    DIMENSIONS_MAX = 6,
    NAME_BYTES_MAX = 200
};

/* --- sizes of a product --------------------------------------------------------------------------------------------
 */

/* "16x128x64": the number of its sides, 0 where one is no number ("s0x2048"). *at moves behind it. */
static size_t read_shape(const char **at, double sides[DIMENSIONS_MAX])
{
    size_t count = 0;
    for (;;) {
        char digits[16];
        const size_t length = strspn(*at, "0123456789");
        if (length == 0 || length >= sizeof digits || count == DIMENSIONS_MAX) {
            return 0;
        }
        memcpy(digits, *at, length);
        digits[length] = '\0';
        *at += length;
        if (number_parse(digits, &sides[count++]) != STATUS_OK) {
            return 0;
        }
        if (**at != 'x') {
            return count;
        }
        (*at)++;
    }
}

/* M, N, K of the first two operands that fit together: behind the added one of addmm, before scales. */
static void find_sizes(const char *operands, double sizes[3])
{
    double left[DIMENSIONS_MAX] = {0}, right[DIMENSIONS_MAX];
    size_t left_count = 0;
    sizes[0] = sizes[1] = sizes[2] = 0;
    for (const char *at = operands; *at != '\0' && *at != ')';) {
        const size_t count = read_shape(&at, right);
        if (left_count >= 2 && count >= 2 && left[left_count - 1] == right[count - 2]) {
            sizes[0] = left[left_count - 2];
            sizes[1] = right[count - 1];
            sizes[2] = right[count - 2];
            return;
        }
        memcpy(left, right, sizeof left);
        left_count = count;
        at += strcspn(at, ",)");
        at += strspn(at, ", ");
    }
}

/* --- lines ---------------------------------------------------------------------------------------------------------
 */

/* Behind "AUTOTUNE "; false: no table begins here. */
static bool begin(struct inductor_table *table, const char *operation)
{
    const size_t name = strspn(operation, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    if (name == 0 || operation[name] != '(') {
        return false;
    }
    *table = (struct inductor_table){.is_open = true};
    const char *end = strchr(operation, ')');
    const size_t length = end != NULL ? (size_t)(end - operation) + 1 : strlen(operation);
    (void)snprintf(table->operation, sizeof table->operation, "%.*s", (int)(length < 190 ? length : 190), operation);
    if (strstr(table->operation, "mm(") != NULL) {
        find_sizes(operation + name + 1, table->sizes);
    }
    return true;
}

/* "  triton_mm_4 0.0130 ms 100.0% ACC_TYPE='tl.float32', ..." */
struct table_line {
    const char *name;
    size_t name_length;
    double time_ms; /* not finite: it did not run */
    const char *knobs;
};

static bool parse_time(const char *text, size_t length, double *time_ms)
{
    char digits[32];
    if (length == 0 || length >= sizeof digits) {
        return false;
    }
    memcpy(digits, text, length);
    digits[length] = '\0';
    if (strcmp(digits, "inf") == 0 || strcmp(digits, "nan") == 0) {
        *time_ms = INFINITY;
        return true;
    }
    return number_parse(digits, time_ms) == STATUS_OK && *time_ms >= 0;
}

static bool parse_row(const char *line, struct table_line *row)
{
    const char *unit = strstr(line, " ms ");
    if (unit == NULL) {
        return false;
    }
    const char *time = unit, *name;
    while (time > line && time[-1] != ' ') {
        time--;
    }
    for (name = time; name > line && name[-1] == ' ';) {
        name--;
    }
    row->name = name;
    while (row->name > line && row->name[-1] != ' ') {
        row->name--;
    }
    row->name_length = (size_t)(name - row->name);
    const char *share = unit + 4;
    const size_t digits = strspn(share, "0123456789.");
    if (digits == 0 || share[digits] != '%' || row->name_length == 0 || row->name_length > NAME_BYTES_MAX) {
        return false;
    }
    row->knobs = share + digits + 1;
    row->knobs += strspn(row->knobs, " ");
    return parse_time(time, (size_t)(unit - time), &row->time_ms);
}

static enum status add_sizes(struct log_reader *self, struct kernel_claim *claim)
{
    static const char *const names[] = {"M", "N", "K"};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < 3 && status == STATUS_OK && self->table.sizes[i] > 0; i++) {
        char digits[32];
        (void)number_format(self->table.sizes[i], digits);
        status = kernel_claim_parameter(self->list, claim, names[i], 1, digits, strlen(digits), self->error);
    }
    return status;
}

static enum status take_row(struct log_reader *self, const struct table_line *row)
{
    struct kernel_claim *claim;
    enum status status = autotune_log_add(self, CLAIM_SOURCE_INDUCTOR_LOG, row->name, row->name_length, &claim);
    if (status != STATUS_OK || claim == NULL) {
        return status;
    }
    if (isfinite(row->time_ms)) {
        claim->time.count = 1; /* how many runs it is of is not printed */
        claim->time.median_us = row->time_ms * US_PER_MS;
    } else {
        claim->is_failed = true;
        kernel_claim_remark(self->list, claim, "did not run");
    }
    kernel_claim_remark(self->list, claim, "%s%s%s%s", self->table.operation, self->table.types[0] != '\0' ? ", " : "",
                        self->table.types, self->table.rows == 0 && isfinite(row->time_ms) ? ": the fastest" : "");
    self->table.rows++;
    status = add_sizes(self, claim);
    return status == STATUS_OK ? autotune_log_knobs(self, claim, row->knobs, row->knobs + strlen(row->knobs), '=')
                               : status;
}

enum status inductor_table_take(struct log_reader *self, const char *line, bool *is_taken)
{
    static const char head[] = "AUTOTUNE ", types[] = "dtypes: ";
    struct inductor_table *table = &self->table;
    struct table_line row;
    const char *found = strstr(line, head);
    *is_taken = found != NULL && begin(table, found + sizeof head - 1);
    if (*is_taken || !table->is_open) {
        self->has_any = self->has_any || *is_taken;
        return STATUS_OK;
    }
    if (found != NULL) { /* "SingleProcess AUTOTUNE benchmarking takes ..." */
        table->is_open = false;
    } else if (parse_row(line, &row)) {
        *is_taken = true;
        return take_row(self, &row);
    } else if ((found = strstr(line, types)) != NULL) {
        found += sizeof types - 1;
        (void)snprintf(table->types, sizeof table->types, "%.*s", (int)(strlen(found) < 190 ? strlen(found) : 190),
                       found);
    } else {
        table->is_open = ++table->strangers < STRANGERS_MAX;
    }
    return STATUS_OK;
}
