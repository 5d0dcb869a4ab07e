/* SPDX-License-Identifier: GPL-3.0-or-later
 * Claims of a tuner's file into a table, column by column. */
#include "calibrate/experiment/search_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "evidence/profiles/profile_readers.h"

static enum status allocate(struct search_table *table, size_t configs, size_t variables, struct error *error)
{
    *table = (struct search_table){.variable_count = variables};
    table->names = calloc(variables, sizeof *table->names);
    table->values = malloc(configs * variables * sizeof *table->values);
    table->is_category = calloc(variables, sizeof *table->is_category);
    table->times_s = malloc(configs * sizeof *table->times_s);
    if (!table->names || !table->values || !table->is_category || !table->times_s) {
        search_table_release(table);
        return error_set(error, STATUS_NO_MEMORY, "no memory for a table of %zu configurations", configs);
    }
    return STATUS_OK;
}

void search_table_release(struct search_table *table)
{
    free(table->names);
    free(table->values);
    free(table->is_category);
    free(table->times_s);
    *table = (struct search_table){0};
}

/* The parameter of this name; tuners write them in one order, so the place is tried first. */
static const struct claim_parameter *find_parameter(const struct kernel_claim *claim, size_t place, const char *name)
{
    if (place < claim->parameter_count && strcmp(claim->parameters[place].name, name) == 0) {
        return &claim->parameters[place];
    }
    for (size_t p = 0; p < claim->parameter_count; p++) {
        if (strcmp(claim->parameters[p].name, name) == 0) {
            return &claim->parameters[p];
        }
    }
    return NULL;
}

enum {
    TEXTS_MAX = 1000
};

/* Number of a text among those seen so far. */
static enum status category_of(const char *text, const char **texts, size_t *count, const char *name, double *number,
                               struct error *error)
{
    size_t i = 0;
    while (i < *count && strcmp(texts[i], text) != 0) {
        i++;
    }
    if (i == TEXTS_MAX) {
        return error_set(error, STATUS_LIMIT, "parameter %s has more than %d different texts", name, TEXTS_MAX);
    }
    if (i == *count) {
        texts[(*count)++] = text;
    }
    *number = (double)i;
    return STATUS_OK;
}

static enum status missing_parameter(const struct kernel_claim *claim, const char *name, struct error *error)
{
    return error_set_at(error, STATUS_BAD_DATA, claim->file, claim->line, 0, "entry %llu has no parameter %s",
                        (unsigned long long)claim->ordinal, name);
}

static enum status fill_column(struct search_table *table, const struct kernel_claim_list *claims, size_t column,
                               struct error *error)
{
    const char *texts[TEXTS_MAX];
    size_t row = 0, text_count = 0;
    for (size_t c = 0; c < claims->count; c++) {
        const struct claim_parameter *parameter = find_parameter(&claims->items[c], column, table->names[column]);
        if (claims->items[c].parameter_count > 0 && !parameter) {
            return missing_parameter(&claims->items[c], table->names[column], error);
        }
        table->is_category[column] = table->is_category[column] || (parameter && !isfinite(parameter->value));
    }
    for (size_t c = 0; c < claims->count; c++) {
        const struct claim_parameter *parameter = find_parameter(&claims->items[c], column, table->names[column]);
        if (!parameter) {
            continue;
        }
        double *value = &table->values[row++ * table->variable_count + column];
        *value = parameter->value;
        const enum status status = table->is_category[column] ? category_of(parameter->text, texts, &text_count,
                                                                            table->names[column], value, error)
                                                              : STATUS_OK;
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

static void take_times(struct search_table *table, const struct kernel_claim_list *claims)
{
    for (size_t c = 0; c < claims->count; c++) {
        const struct kernel_claim *claim = &claims->items[c];
        if (claim->parameter_count > 0) {
            const double time_us = isfinite(claim->time.mean_us) ? claim->time.mean_us : claim->time.median_us;
            const bool ran = !claim->is_failed && claim->time.count > 0 && time_us > 0;
            table->times_s[table->config_count++] = ran ? time_us * SECONDS_PER_US : (double)NAN;
        }
    }
}

enum status search_table_from_claims(const struct kernel_claim_list *claims, struct search_table *table,
                                     struct error *error)
{
    const struct kernel_claim *first = NULL;
    *table = (struct search_table){0};
    for (size_t c = 0; c < claims->count && !first; c++) {
        first = claims->items[c].parameter_count > 0 ? &claims->items[c] : NULL;
    }
    if (!first) {
        return error_set(error, STATUS_BAD_DATA, "no entry names a configuration");
    }
    enum status status = allocate(table, claims->count, first->parameter_count, error);
    for (size_t v = 0; v < table->variable_count && status == STATUS_OK; v++) {
        (void)snprintf(table->names[v], sizeof table->names[v], "%s", first->parameters[v].name);
        status = strlen(first->parameters[v].name) < sizeof table->names[v]
                     ? fill_column(table, claims, v, error)
                     : error_set(error, STATUS_LIMIT, "parameter name %s is too long", first->parameters[v].name);
    }
    if (status == STATUS_OK) {
        take_times(table, claims);
    } else {
        search_table_release(table);
    }
    return status;
}

enum status search_table_read(const char *path, struct search_table *table, struct error *error)
{
    struct kernel_claim_list claims = {0};
    enum status status = tuner_results_read(path, &claims, error);
    *table = (struct search_table){0};
    if (status == STATUS_OK) {
        status = search_table_from_claims(&claims, table, error);
    }
    kernel_claim_list_release(&claims);
    return status;
}
