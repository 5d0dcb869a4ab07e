/* SPDX-License-Identifier: GPL-3.0-or-later
 * The text form of a campaign: lists of settings, multiplied out. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
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
    errno = 0;
    *value = strtoll(*text, &end, 10);
    bool good = end != *text && errno == 0; /* ERANGE: the nearest that fits is not what was written */
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
    for (long long value = first;; value = factor ? value * factor : value + 1) {
        if (list->count >= LIST_MAX)
            return false;
        list->values[list->count++] = value;
        if (factor ? value > last / factor : value >= last) /* asked before: the next may be no number */
            return true;
    }
}

/* A value that is named twice would be measured twice; repeats are asked for in another way. */
static enum status check_once(const struct plan_line *line, const struct word_list *list, struct error *error)
{
    for (size_t i = 1; i < list->count; i++)
        for (size_t k = 0; k < i; k++)
            if (list->values[i] == list->values[k])
                return error_set_at(error, STATUS_BAD_DATA, line->file, line->line, 0,
                                    "%s names %lld twice; --repeats measures more than once", list->name,
                                    list->values[i]);
    return STATUS_OK;
}

static enum status read_word(const char *word, size_t length, struct plan_line *line, struct error *error)
{
    char copy[4096];
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
    return check_once(line, list, error);
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

/* What becomes of a plan's lines: all configurations, their number, or a sample. */
struct plan_reading {
    struct campaign_plan *plan;
    size_t limit;
    bool counts;           /* count only */
    uint64_t total;        /* counted so far */
    uint64_t keep, of;     /* sampling: keep out of `of`; 0 = all are kept */
    uint64_t picked, next; /* taken so far, and the index of the one to come */
    struct random_stream random;
};
#define COUNT_MAX ((uint64_t)1 << 53)

static enum status line_count(const struct plan_line *line, uint64_t *count, struct error *error)
{
    *count = 1;
    for (size_t i = 0; i < line->word_count; i++) {
        *count *= line->words[i].count;
        if (*count > COUNT_MAX)
            return error_set_at(error, STATUS_LIMIT, line->file, line->line, 0, "more than 2^53 configurations");
    }
    return STATUS_OK;
}

/* Combination `index` of a line; the last list is the fastest. */
static enum status config_at(const struct plan_line *line, uint64_t index, struct measure_config *config,
                             struct error *error)
{
    char text[1024];
    size_t at[WORDS_MAX] = {0}, used = (size_t)snprintf(text, sizeof text, "%s", line->kernel);
    for (size_t i = line->word_count; i-- > 0;) {
        at[i] = (size_t)(index % line->words[i].count);
        index /= line->words[i].count;
    }
    for (size_t i = 0; i < line->word_count && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, " %s=%lld", line->words[i].name,
                                 line->words[i].values[at[i]]);
    struct error reason = {0};
    enum status status = measure_config_parse(text, config, &reason);
    return status == STATUS_OK ? STATUS_OK : error_set_at(error, status, line->file, line->line, 0, "%s", reason.text);
}

/* Every combination. */
static enum status multiply(const struct plan_line *line, struct measure_config **configs, size_t *count, size_t limit,
                            struct error *error)
{
    uint64_t combinations;
    enum status status = line_count(line, &combinations, error);
    for (uint64_t i = 0; status == STATUS_OK && i < combinations; i++) {
        struct measure_config config;
        status = config_at(line, i, &config, error);
        if (status == STATUS_OK)
            status = append(configs, count, &config, limit, error);
    }
    return status;
}

/* One index is drawn from each of `keep` equal parts of the plan. */
static void draw_next(struct plan_reading *reading)
{
    double part = ((double)reading->picked + random_uniform(&reading->random)) / (double)reading->keep;
    uint64_t index = (uint64_t)(part * (double)reading->of);
    uint64_t least = reading->picked ? reading->next + 1 : 0;
    reading->next = index < least ? least : index;
}

static enum status sample(struct plan_reading *reading, const struct plan_line *line, uint64_t combinations,
                          struct error *error)
{
    enum status status = STATUS_OK;
    while (status == STATUS_OK && reading->picked < reading->keep && reading->next < reading->total + combinations) {
        struct measure_config config;
        status = config_at(line, reading->next - reading->total, &config, error);
        if (status == STATUS_OK)
            status = append(&reading->plan->configs, &reading->plan->count, &config, reading->keep, error);
        reading->picked++;
        draw_next(reading);
    }
    return status;
}

static enum status take_line(struct plan_reading *reading, const struct plan_line *line, bool is_reference,
                             struct error *error)
{
    struct campaign_plan *plan = reading->plan;
    struct measure_config first;
    uint64_t combinations;
    if (is_reference)
        return reading->counts ? STATUS_OK
                               : multiply(line, &plan->references, &plan->reference_count, reading->limit, error);
    enum status status = line_count(line, &combinations, error);
    if (status == STATUS_OK && reading->counts)
        status = config_at(line, 0, &first, error); /* names of the kernel and its settings */
    else if (status == STATUS_OK)
        status = reading->keep ? sample(reading, line, combinations, error)
                               : multiply(line, &plan->configs, &plan->count, reading->limit, error);
    reading->total += combinations;
    if (status == STATUS_OK && reading->total > COUNT_MAX)
        status = error_set_at(error, STATUS_LIMIT, line->file, line->line, 0, "more than 2^53 configurations");
    return status;
}

/* The line's text without comment and surrounding space; false if nothing is left. *text goes on to the next line. */
static bool next_line(const char **text, const char **start, size_t *length)
{
    size_t whole = strcspn(*text, "\n");
    *start = *text;
    *length = strcspn(*text, "#\n");
    *text += whole + ((*text)[whole] == '\n');
    while (*length > 0 && isspace((unsigned char)(*start)[*length - 1]))
        (*length)--;
    while (*length > 0 && isspace((unsigned char)**start)) {
        (*start)++;
        (*length)--;
    }
    return *length > 0;
}

static enum status read_plan(const char *text, const char *name, struct plan_reading *reading, struct error *error)
{
    static const char reference[] = "reference ";
    struct plan_line *line = calloc(1, sizeof *line);
    if (!line)
        return error_set(error, STATUS_NO_MEMORY, "no memory for a plan");
    line->file = name;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && *text) {
        const char *start;
        size_t length;
        line->line++;
        if (!next_line(&text, &start, &length))
            continue;
        bool is_reference = length > strlen(reference) && strncmp(start, reference, strlen(reference)) == 0;
        size_t skip = is_reference ? strlen(reference) : 0;
        status = read_line(start + skip, length - skip, line, error);
        if (status == STATUS_OK)
            status = take_line(reading, line, is_reference, error);
    }
    free(line);
    if (status == STATUS_OK && reading->total == 0)
        status = error_set_at(error, STATUS_BAD_DATA, name, 0, 0, "the plan names no configuration");
    return status;
}

enum status campaign_plan_parse(const char *text, const char *name, size_t limit, struct campaign_plan *plan,
                                struct error *error)
{
    struct plan_reading reading = {.plan = plan, .limit = limit};
    memset(plan, 0, sizeof *plan);
    enum status status = read_plan(text, name, &reading, error);
    if (status != STATUS_OK)
        campaign_plan_release(plan);
    return status;
}

enum status campaign_plan_count(const char *text, const char *name, uint64_t *count, struct error *error)
{
    struct plan_reading reading = {.counts = true};
    enum status status = read_plan(text, name, &reading, error);
    *count = reading.total;
    return status;
}

enum status campaign_plan_sample(const char *text, const char *name, size_t keep, uint64_t seed,
                                 struct campaign_plan *plan, struct error *error)
{
    struct plan_reading reading = {.plan = plan, .limit = keep};
    memset(plan, 0, sizeof *plan);
    enum status status = campaign_plan_count(text, name, &reading.of, error);
    if (status != STATUS_OK)
        return status;
    if (reading.of > keep) {
        reading.keep = keep;
        random_init(&reading.random, seed, 2);
        draw_next(&reading);
    }
    status = read_plan(text, name, &reading, error);
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
