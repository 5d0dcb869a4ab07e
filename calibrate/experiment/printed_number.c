/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/experiment/printed_number.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/text_buffer.h"

enum {
    WORD_BYTES_MAX = 64
};

struct word {
    const char *at;
    size_t length;
};

static const struct {
    const char *name;
    double us;
} times[] = {{"ns", 1e-3},          {"nsec", 1e-3},   {"nanosecond", 1e-3}, {"nanoseconds", 1e-3}, {"us", 1},
             {"\xc2\xb5s", 1},      {"\xce\xbcs", 1}, {"usec", 1},          {"usecs", 1},          {"microsecond", 1},
             {"microseconds", 1},   {"ms", 1e3},      {"msec", 1e3},        {"msecs", 1e3},        {"millisecond", 1e3},
             {"milliseconds", 1e3}, {"s", 1e6},       {"sec", 1e6},         {"secs", 1e6},         {"second", 1e6},
             {"seconds", 1e6},      {"min", 60e6},    {"mins", 60e6},       {"minute", 60e6},      {"minutes", 60e6},
             {"h", 3600e6},         {"hr", 3600e6},   {"hrs", 3600e6},      {"hour", 3600e6},      {"hours", 3600e6}};
static const char *const tokens[] = {"tok/s", "token/s", "tokens/s", "tps"};

/* What words are separated by: blanks, and punctuation that no number holds. */
static bool separates(char character)
{
    return isspace((unsigned char)character) || iscntrl((unsigned char)character) ||
           strchr("=:,;()[]{}<>\"'`|~", character) != NULL;
}

static bool is_word(const struct word *word, const char *name)
{
    return strlen(name) == word->length && memcmp(name, word->at, word->length) == 0;
}

static bool is_rate(const struct word *word)
{
    size_t letters = 0;
    while (letters < word->length && isalpha((unsigned char)word->at[letters])) {
        letters++;
    }
    const bool per_second = letters > 0 && letters + 2 == word->length && memcmp(word->at + letters, "/s", 2) == 0;
    return per_second ||
           (letters == word->length && letters > 5 && letters < 8 && memcmp(word->at + letters - 5, "FLOPS", 5) == 0);
}

/* False: no unit that is known; *number is left alone. */
static bool take_unit(const struct word *word, struct printed_number *number)
{
    enum printed_unit unit = is_rate(word) ? PRINTED_UNIT_OTHER : PRINTED_UNIT_NONE;
    double us = (double)NAN;
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        if (is_word(word, times[i].name)) {
            unit = PRINTED_UNIT_TIME;
            us = times[i].us;
        }
    }
    for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++) {
        unit = is_word(word, tokens[i]) ? PRINTED_UNIT_TOKENS : unit;
    }
    if (unit == PRINTED_UNIT_NONE || word->length >= sizeof number->unit_name) {
        return false;
    }
    number->unit = unit;
    number->unit_us = us;
    memcpy(number->unit_name, word->at, word->length);
    number->unit_name[word->length] = '\0';
    return true;
}

static size_t skip_digits(const struct word *word, size_t at)
{
    while (at < word->length && isdigit((unsigned char)word->at[at])) {
        at++;
    }
    return at;
}

/* Length of the decimal number that a word begins with; 0: none. */
static size_t number_length(const struct word *word)
{
    size_t end = word->length > 0 && (word->at[0] == '-' || word->at[0] == '+');
    const size_t first = end;
    end = skip_digits(word, end);
    size_t digits = end - first;
    if (end < word->length && word->at[end] == '.') {
        const size_t fraction = skip_digits(word, end + 1);
        digits += fraction - end - 1;
        end = fraction;
    }
    if (digits == 0) {
        return 0;
    }
    if (end < word->length && (word->at[end] == 'e' || word->at[end] == 'E')) {
        const size_t sign = end + 1 < word->length && (word->at[end + 1] == '-' || word->at[end + 1] == '+');
        const size_t exponent = skip_digits(word, end + 1 + sign);
        end = exponent > end + 1 + sign ? exponent : end;
    }
    return end;
}

static bool take_word(const struct word *word, struct printed_number *number)
{
    struct printed_number found = {.unit_us = (double)NAN};
    char text[WORD_BYTES_MAX];
    const size_t length = number_length(word);
    const struct word rest = {word->at + length, word->length - length};
    if (length == 0 || length >= sizeof text || (rest.length > 0 && !take_unit(&rest, &found))) {
        return false;
    }
    const size_t plus = word->at[0] == '+'; /* number_parse knows none */
    memcpy(text, word->at + plus, length - plus);
    text[length - plus] = '\0';
    if (number_parse(text, &found.value) != STATUS_OK) {
        return false;
    }
    *number = found;
    return true;
}

/* Digits before `at` in the text: 12 of "12,345" at the comma. */
static size_t digits_before(const char *text, size_t at)
{
    size_t count = 0;
    while (count < at && count < 4 && isdigit((unsigned char)text[at - 1 - count])) {
        count++;
    }
    return count;
}

/* A time of day or a ratio: 12:30:45. */
static bool touches_colon(const char *text, size_t length, size_t begin, size_t end)
{
    return (begin > 0 && text[begin - 1] == ':' && digits_before(text, begin - 1) > 0) ||
           (end + 1 < length && text[end] == ':' && isdigit((unsigned char)text[end + 1]));
}

/* The word behind a number that ends its line, or what a bracket or comma ends, and is all letters. */
static bool looks_like_unit(const struct word *word, const char *end)
{
    const char *at = word->at + word->length;
    for (size_t i = 0; i < word->length; i++) {
        if (!isalpha((unsigned char)word->at[i])) {
            return false;
        }
    }
    while (at < end && (*at == '.' || *at == ' ' || *at == '\t')) {
        at++;
    }
    return at == end || strchr("\r\n)],;", *at) != NULL;
}

static void take_unknown(const struct word *word, struct printed_number *number)
{
    const size_t length = word->length < sizeof number->unit_name ? word->length : sizeof number->unit_name - 1;
    number->unit = PRINTED_UNIT_UNKNOWN;
    memcpy(number->unit_name, word->at, length);
    number->unit_name[length] = '\0';
}

static bool has_unit(const struct printed_number *number)
{
    return number->unit != PRINTED_UNIT_NONE && number->unit != PRINTED_UNIT_UNKNOWN;
}

/* The number that was read last, until it is known whether a unit follows. */
struct candidate {
    struct printed_number number;
    bool is_there, may_have_unit, ambiguous;
    bool goes_on; /* directly behind the chosen number: 5 min 30 s */
};

struct choice {
    struct printed_number number;
    bool found, ambiguous, same_line; /* same_line: the chosen number is on the line that is read */
    bool is_last;                     /* nothing but blanks was read since */
};

/* 5 min 30 s is one time. */
static bool is_part(const struct choice *choice, const struct candidate *candidate)
{
    return candidate->goes_on && choice->number.unit_us >= 60e6 && candidate->number.unit_us < choice->number.unit_us;
}

static void choose(struct choice *choice, struct candidate *candidate)
{
    const bool is_remark =
        choice->found && choice->same_line && has_unit(&choice->number) && !has_unit(&candidate->number);
    if (candidate->is_there && !is_remark) {
        if (is_part(choice, candidate)) {
            candidate->number.value += choice->number.value * (choice->number.unit_us / candidate->number.unit_us);
        }
        *choice = (struct choice){candidate->number, true, candidate->ambiguous, true, true};
    }
    candidate->is_there = candidate->may_have_unit = false;
}

static void take_separator(char separator, struct choice *choice, struct candidate *candidate)
{
    candidate->may_have_unit = candidate->may_have_unit && strchr(" \t([", separator) != NULL;
    choice->is_last = choice->is_last && (separator == ' ' || separator == '\t');
    if (separator == '\n' || separator == '\r') {
        choose(choice, candidate);
        choice->same_line = false;
    }
}

bool printed_number_last(const char *text, size_t length, struct printed_number *number, bool *ambiguous)
{
    struct choice choice = {0};
    struct candidate candidate = {0};
    for (size_t at = 0; at < length;) {
        if (separates(text[at])) {
            take_separator(text[at++], &choice, &candidate);
            continue;
        }
        const size_t begin = at;
        while (at < length && !separates(text[at])) {
            at++;
        }
        struct word word = {text + begin, at - begin};
        while (word.length > 1 && word.at[word.length - 1] == '.') { /* the end of a sentence */
            word.length--;
        }
        struct printed_number next;
        if (candidate.may_have_unit && take_unit(&word, &candidate.number)) {
            choose(&choice, &candidate);
        } else if (candidate.may_have_unit && looks_like_unit(&word, text + length)) {
            take_unknown(&word, &candidate.number);
            choose(&choice, &candidate);
        } else {
            choose(&choice, &candidate);
            const bool goes_on = choice.is_last;
            choice.is_last = false;
            if (!touches_colon(text, length, begin, at) && take_word(&word, &next)) {
                const size_t digits = begin > 0 && text[begin - 1] == ',' ? digits_before(text, begin - 1) : 0;
                candidate = (struct candidate){next, true, next.unit == PRINTED_UNIT_NONE,
                                               digits > 0 && digits < 4 && skip_digits(&word, 0) == 3, goes_on};
                if (next.unit != PRINTED_UNIT_NONE) {
                    choose(&choice, &candidate);
                }
            }
        }
    }
    choose(&choice, &candidate);
    *ambiguous = choice.ambiguous;
    if (choice.found) {
        *number = choice.number;
    }
    return choice.found && !choice.ambiguous;
}
