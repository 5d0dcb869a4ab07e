/* SPDX-License-Identifier: GPL-3.0-or-later
 * The text form of a campaign: lists of settings, multiplied out. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/campaign.h"

enum {
    LIST_MAX = 256,
    WORDS_MAX = MEASURE_SETTINGS_MAX + 1
};

struct word_list {
    char name[MEASURE_NAME_SIZE];
    size_t count;
    long long values[LIST_MAX];
};

struct plan_line {
    const char *file;
    unsigned line;
    char kernel[MEASURE_NAME_SIZE];
    size_t word_count;
    struct word_list words[WORDS_MAX];
};

static bool read_number(const char **text, long long *value)
{
    char *end;
    if (!isdigit((unsigned char)**text) && **text != '-')
        return false;
    *value = strtoll(*text, &end, 10);
    bool good = end != *text;
    *text = end;
    return good;
}

/* One item of a list: a number, or first..last, or first..last*factor. */
static bool read_item(const char **text, struct word_list *list)
{
    long long first, last, factor = 0;
    if (!read_number(text, &first))
        return false;
    last = first;
    if (strncmp(*text, "..", 2) == 0) {
        *text += 2;
        if (!read_number(text, &last) || last < first)
            return false;
        if (**text == '*') {
            (*text)++;
            if (!read_number(text, &factor) || factor < 2 || first < 1)
                return false;
        }
    }
    for (long long value = first; value <= last; value = factor ? value * factor : value + 1) {
        if (list->count >= LIST_MAX)
            return false;
        list->values[list->count++] = value;
    }
    return true;
}

static enum status read_word(const char *word, size_t length, struct plan_line *line, struct error *error)
{
    char copy[512];
    int shown = length > 60 ? 60 : (int)length;
    const char *equals = memchr(word, '=', length);
    if (line->word_count >= WORDS_MAX)
        return error_set_at(error, STATUS_LIMIT, line->file, line->line, 0, "more than %d settings", WORDS_MAX);
    struct word_list *list = &line->words[line->word_count++];
    list->count = 0;
    if (!equals || equals == word || (size_t)(equals - word) >= sizeof list->name || length >= sizeof copy)
        return error_set_at(error, STATUS_BAD_DATA, line->file, line->line, 0, "'%.*s' is not name=value[,value...]",
                            shown, word);
    snprintf(list->name, sizeof list->name, "%.*s", (int)(equals - word), word);
    snprintf(copy, sizeof copy, "%.*s", (int)(length - (size_t)(equals + 1 - word)), equals + 1);
    const char *at = copy;
    do {
        if (at != copy)
            at++;
        if (!read_item(&at, list))
            return error_set_at(error, STATUS_BAD_DATA, line->file, line->line, 0,
                                "'%.*s': expected whole numbers like 1,2,4 or 1..8 or 1..64*2, at most %d", shown, word,
                                LIST_MAX);
    } while (*at == ',');
    if (*at)
        return error_set_at(error, STATUS_BAD_DATA, line->file, line->line, 0, "'%.*s': '%c' is not expected", shown,
                            word, *at);
    return STATUS_OK;
}

static enum status read_line(const char *text, size_t length, struct plan_line *line, struct error *error)
{
    line->word_count = 0;
    line->kernel[0] = '\0';
    for (size_t i = 0; i < length;) {
        size_t start = i;
        while (i < length && text[i] != ' ' && text[i] != '\t')
            i++;
        if (i > start && !line->kernel[0])
            snprintf(line->kernel, sizeof line->kernel, "%.*s", (int)(i - start > 31 ? 31 : i - start), text + start);
        else if (i > start) {
            enum status status = read_word(text + start, i - start, line, error);
            if (status != STATUS_OK)
                return status;
        }
        while (i < length && (text[i] == ' ' || text[i] == '\t'))
            i++;
    }
    return STATUS_OK;
}

static enum status append(struct measure_config **configs, size_t *count, const struct measure_config *config,
                          size_t limit, struct error *error)
{
    if (*count >= limit)
        return error_set(error, STATUS_LIMIT, "the plan has more than %zu configurations", limit);
    if ((*count & (*count - 1)) == 0) { /* grow at powers of two */
        size_t capacity = *count ? *count * 2 : 1;
        struct measure_config *grown = realloc(*configs, capacity * sizeof **configs);
        if (!grown)
            return error_set(error, STATUS_NO_MEMORY, "no memory for %zu configurations", capacity);
        *configs = grown;
    }
    (*configs)[(*count)++] = *config;
    return STATUS_OK;
}

/* Every combination, the last list fastest. */
static enum status multiply(const struct plan_line *line, struct measure_config **configs, size_t *count, size_t limit,
                            struct error *error)
{
    size_t at[WORDS_MAX] = {0};
    for (;;) {
        char text[1024];
        struct measure_config config;
        size_t used = (size_t)snprintf(text, sizeof text, "%s", line->kernel);
        for (size_t i = 0; i < line->word_count && used < sizeof text; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, " %s=%lld", line->words[i].name,
                                     line->words[i].values[at[i]]);
        struct error reason = {0};
        enum status status = measure_config_parse(text, &config, &reason);
        if (status != STATUS_OK)
            return error_set_at(error, status, line->file, line->line, 0, "%s", reason.text);
        status = append(configs, count, &config, limit, error);
        if (status != STATUS_OK)
            return status;
        size_t i = line->word_count;
        while (i > 0 && ++at[i - 1] == line->words[i - 1].count)
            at[--i] = 0;
        if (i == 0)
            return STATUS_OK;
    }
}

enum status campaign_plan_parse(const char *text, const char *name, size_t limit, struct campaign_plan *plan,
                                struct error *error)
{
    static const char reference[] = "reference ";
    struct plan_line *line = calloc(1, sizeof *line);
    memset(plan, 0, sizeof *plan);
    if (!line)
        return error_set(error, STATUS_NO_MEMORY, "no memory for a plan");
    line->file = name;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && *text) {
        size_t whole = strcspn(text, "\n"), length = strcspn(text, "#\n");
        const char *start = text;
        line->line++;
        text += whole + (text[whole] == '\n');
        while (length > 0 && isspace((unsigned char)start[length - 1]))
            length--;
        while (length > 0 && isspace((unsigned char)*start)) {
            start++;
            length--;
        }
        if (length == 0)
            continue;
        bool is_reference = length > strlen(reference) && strncmp(start, reference, strlen(reference)) == 0;
        size_t skip = is_reference ? strlen(reference) : 0;
        status = read_line(start + skip, length - skip, line, error);
        if (status == STATUS_OK)
            status = is_reference ? multiply(line, &plan->references, &plan->reference_count, limit, error)
                                  : multiply(line, &plan->configs, &plan->count, limit, error);
    }
    free(line);
    if (status == STATUS_OK && plan->count == 0)
        status = error_set_at(error, STATUS_BAD_DATA, name, 0, 0, "the plan names no configuration");
    if (status != STATUS_OK)
        campaign_plan_release(plan);
    return status;
}

void campaign_plan_release(struct campaign_plan *plan)
{
    free(plan->configs);
    free(plan->references);
    memset(plan, 0, sizeof *plan);
}
