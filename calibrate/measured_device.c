/* SPDX-License-Identifier: GPL-3.0-or-later
 * What a column `device` says, held against the GPU that a scenario is read for. Names are compared by their words: the
 * one that is a model (H200, 3090, MI300X) decides, so that GPUs without a device file are told apart too. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "calibrate/measured_rows_private.h"

enum {
    WORDS_MAX = 24,
    WORD_SIZE = 16,
    UUID_LENGTH = 36
};

struct words {
    char items[WORDS_MAX][WORD_SIZE]; /* in capitals; longer ones are cut */
    size_t count;
};

static bool is_one_of(const char *word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(word, list[i]) == 0) {
            return true;
        }
    }
    return false;
}
#define IS_ONE_OF(word, list) is_one_of(word, list, sizeof(list) / sizeof(list)[0])

static bool has(const struct words *words, const char *word)
{
    for (size_t i = 0; i < words->count; i++) {
        if (strcmp(words->items[i], word) == 0) {
            return true;
        }
    }
    return false;
}

/* Words that another product of the same number has or lacks. */
static bool is_variant(const char *word)
{
    static const char *const variants[] = {"TI", "SUPER", "PRO", "ADA", "XT", "XTX", "QUADRO", "LAPTOP"};
    return IS_ONE_OF(word, variants);
}

static void add(struct words *words, const char *at, size_t length)
{
    if (length == 0 || words->count == WORDS_MAX) {
        return;
    }
    char *word = words->items[words->count];
    size_t kept = 0;
    for (; kept < length && kept + 1 < WORD_SIZE; kept++) {
        word[kept] = (char)toupper((unsigned char)at[kept]);
    }
    word[kept] = '\0';
    words->count++;
}

/* RTX3090 is two words, and so is 5070Ti. */
static void add_parts(struct words *words, const char *at, size_t length)
{
    static const char *const series[] = {"RTX", "GTX"};
    for (size_t i = 0; i < sizeof series / sizeof series[0]; i++) {
        if (length > 3 && strncasecmp(at, series[i], 3) == 0) {
            add(words, at, 3);
            at += 3;
            length -= 3;
        }
    }
    size_t digits = 0;
    while (digits < length && isdigit((unsigned char)at[digits])) {
        digits++;
    }
    char ending[WORD_SIZE] = "";
    if (digits > 2 && length - digits < sizeof ending) {
        memcpy(ending, at + digits, length - digits);
    }
    if (is_variant(ending)) {
        add(words, at, digits);
        add(words, at + digits, length - digits);
    } else {
        add(words, at, length);
    }
}

static void split(const char *text, struct words *words)
{
    while (*text) {
        size_t length = 0;
        while (isalnum((unsigned char)text[length])) {
            length++;
        }
        add_parts(words, text, length);
        text += length + (text[length] != '\0');
    }
}

/* Up to three letters, digits, up to three letters: H200, L40S, 3090, MI300X; no memory, socket or running number. */
static bool is_model(const char *word)
{
    static const char *const parts[] = {"SXM", "HBM", "NVL", "GEN", "PCI", "GPU",
                                        "DGX", "HGX", "DEV", "SM",  "CC",  "VM"};
    static const char *const sizes[] = {"G", "GB", "GIB", "MB", "MIB", "TB", "W", "MHZ", "GHZ"};
    char before[WORD_SIZE] = "";
    size_t letters = 0, digits = 0, after = 0;
    while (isalpha((unsigned char)word[letters])) {
        before[letters] = word[letters];
        letters++;
    }
    while (isdigit((unsigned char)word[letters + digits])) {
        digits++;
    }
    const char *rest = word + letters + digits;
    while (isalpha((unsigned char)rest[after])) {
        after++;
    }
    return digits > 0 && digits < 6 && letters < 4 && after < 4 && rest[after] == '\0' && !IS_ONE_OF(before, parts) &&
           (letters > 0 || (digits > 2 && !IS_ONE_OF(rest, sizes)));
}

static size_t count_models(const struct words *words)
{
    size_t count = 0;
    for (size_t i = 0; i < words->count; i++) {
        count += is_model(words->items[i]);
    }
    return count;
}

static bool have_model_in_common(const struct words *left, const struct words *right)
{
    for (size_t i = 0; i < left->count; i++) {
        if (is_model(left->items[i]) && has(right, left->items[i])) {
            return true;
        }
    }
    return false;
}

/* Every variant, or every word but the maker's, of `part` is in `whole`. */
static bool holds(const struct words *whole, const struct words *part, bool variants_only)
{
    static const char *const makers[] = {"NVIDIA", "AMD",      "INTEL", "GEFORCE", "TESLA",
                                         "RADEON", "INSTINCT", "RTX",   "GPU"};
    for (size_t i = 0; i < part->count; i++) {
        const char *word = part->items[i];
        if ((variants_only ? is_variant(word) : !IS_ONE_OF(word, makers)) && !has(whole, word)) {
            return false;
        }
    }
    return true;
}

/* Case and everything but letters and digits aside: "NVIDIA H200" is "nvidia-h200". */
static bool is_same_text(const char *left, const char *right)
{
    for (;;) {
        while (*left && !isalnum((unsigned char)*left)) {
            left++;
        }
        while (*right && !isalnum((unsigned char)*right)) {
            right++;
        }
        if (!*left || !*right) {
            return *left == *right;
        }
        if (tolower((unsigned char)*left++) != tolower((unsigned char)*right++)) {
            return false;
        }
    }
}

bool measured_device_is_told(const char *text)
{
    static const char *const none[] = {"n/a", "na", "none", "null", "nan", "nil", "unknown", "unspecified", "tbd"};
    bool has_letter = false;
    for (const char *at = text; *at; at++) {
        has_letter = has_letter || isalnum((unsigned char)*at);
    }
    const bool is_uuid = strncmp(text, "GPU-", 4) == 0 && strlen(text) >= UUID_LENGTH;
    return has_letter && !is_uuid && !IS_ONE_OF(text, none) && !is_same_text(text, "na");
}

bool measured_device_is_same(const char *left, const char *right)
{
    struct words a = {0}, b = {0};
    split(left, &a);
    split(right, &b);
    return is_same_text(left, right) || (have_model_in_common(&a, &b) && holds(&a, &b, true) && holds(&b, &a, true) &&
                                         (holds(&a, &b, false) || holds(&b, &a, false)));
}

enum status measured_device_check(const struct device_catalogue *catalogue, const struct scenario *scenario,
                                  const char *measured, const char *path, unsigned line, struct error *error)
{
    const struct gpu_device *found = NULL, *asked = scenario_device(scenario);
    struct error ignored = {0};
    struct words told = {0}, known = {0};
    if (!measured_device_is_told(measured) || is_same_text(measured, asked->name) ||
        is_same_text(measured, asked->title)) {
        return STATUS_OK;
    }
    split(measured, &told);
    split(asked->name, &known);
    split(asked->title, &known);
    const bool has_model = count_models(&told) > 0;
    const bool is_other =
        has_model && count_models(&known) > 0 && (!have_model_in_common(&told, &known) || !holds(&known, &told, true));
    if (device_catalogue_find(catalogue, measured, &found, &ignored) != STATUS_OK ||
        !(has_model || is_same_text(measured, found->name) || is_same_text(measured, found->title))) {
        found = NULL; /* `server` is a part of some name */
    }
    if (!is_other && (found == NULL || strcmp(found->name, asked->name) == 0)) {
        return STATUS_OK;
    }
    return error_set_at(
        error, STATUS_BAD_DATA, path, line, 0,
        "the rows were measured on %.80s, scenario %s is of %s: read it for the other GPU with --device",
        found != NULL ? found->name : measured, scenario_name(scenario), asked->name);
}
