/* SPDX-License-Identifier: GPL-3.0-or-later
 * Printed numbers, decimal signs, units. */
#include "evidence/profiles/profile_number.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text_buffer.h"

enum {
    NUMBER_TEXT_MAX = 64
};

/* --- decimal signs -------------------------------------------------------------------------------------------------
 */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Length of a separator of thousands that is no decimal sign anywhere: space, no-break spaces, apostrophe. */
static size_t neutral_separator(const char *at)
{
    static const char *const separators[] = {" ", "'", "\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x99"};
    for (size_t i = 0; i < sizeof separators / sizeof separators[0]; i++) {
        if (strncmp(at, separators[i], strlen(separators[i])) == 0) {
            return strlen(separators[i]);
        }
    }
    return 0;
}

void number_votes_add(struct number_votes *votes, const char *text)
{
    const char *at = text + (text[0] == '-' ? 1 : 0), *last = NULL;
    size_t points = 0, commas = 0, digits_before = 0;
    for (; *at != '\0'; at++) {
        if (*at == '.' || *at == ',') {
            points += *at == '.';
            commas += *at == ',';
            last = at;
        } else if (!is_digit(*at)) {
            return;
        } else {
            digits_before += last == NULL;
        }
    }
    if (last == NULL || digits_before == 0) {
        return;
    }
    size_t digits_behind = (size_t)(at - last) - 1;
    bool is_ambiguous = points + commas == 1 && digits_behind == 3 && digits_before <= 3 && text[0] != '0';
    if (is_ambiguous) {
        return;
    }
    bool is_decimal = points == 0 || commas == 0 ? points + commas == 1 : true; /* else the last sign groups */
    bool says_point = is_decimal == (*last == '.');
    votes->point += says_point;
    votes->comma += !says_point;
}

char number_votes_decimal(const struct number_votes *votes)
{
    return votes->comma > votes->point ? ',' : '.';
}

/* --- numbers -------------------------------------------------------------------------------------------------------
 */

bool is_no_value(const char *text)
{
    static const char *const words[] = {"", "n/a", "(!) n/a", "na", "nan", "-nan", "inf", "-inf", "no value", "-"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcasecmp(text, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Copies the whole part without its separators; the first group may be shorter than three digits, no other may. */
static bool copy_whole_part(const char **at, char decimal, char *plain, size_t *length)
{
    size_t group = 0;
    bool is_grouped = false;
    for (; **at != '\0' && **at != decimal && **at != 'e' && **at != 'E'; *at += 1) {
        size_t step = **at == (decimal == '.' ? ',' : '.') ? 1 : neutral_separator(*at);
        if (step > 0) {
            if (group == 0 || group > 3 || (is_grouped && group != 3)) {
                return false;
            }
            is_grouped = true;
            group = 0;
            *at += step - 1;
        } else if (is_digit(**at) && *length < NUMBER_TEXT_MAX - 1) {
            plain[(*length)++] = **at;
            group++;
        } else {
            return false;
        }
    }
    return group > 0 && (!is_grouped || group == 3);
}

bool printed_number_parse(const char *text, char decimal, struct printed_number *number)
{
    char plain[NUMBER_TEXT_MAX + 32];
    size_t length = 0;
    const char *at = text;
    if (*at == '-' || *at == '+') {
        plain[length++] = *at++;
    }
    if (!copy_whole_part(&at, decimal, plain, &length)) {
        return false;
    }
    number->decimals = 0;
    if (*at == decimal) {
        plain[length++] = '.';
        for (at++; is_digit(*at) && length < NUMBER_TEXT_MAX; at++, number->decimals++) {
            plain[length++] = *at;
        }
    }
    size_t rest = strlen(at);
    if (rest > 16) {
        return false;
    }
    memcpy(plain + length, at, rest + 1); /* an exponent, or what number_parse refuses */
    if (number_parse(plain, &number->value) != STATUS_OK) {
        return false;
    }
    number->decimals -= rest > 0 && number->value != 0.0 ? (int)strtol(at + 1, NULL, 10) : 0;
    return true;
}

/* --- units ---------------------------------------------------------------------------------------------------------
 */

static const struct {
    const char *name;
    enum unit_kind kind;
    double low_scale, high_scale;
} units[] = {
    {"", UNIT_NONE, 1.0, 1.0},
    {"%", UNIT_NONE, 1.0, 1.0},
    {"register/thread", UNIT_NONE, 1.0, 1.0},
    {"register", UNIT_NONE, 1.0, 1.0},
    {"block", UNIT_NONE, 1.0, 1.0},
    {"thread", UNIT_NONE, 1.0, 1.0},
    {"warp", UNIT_NONE, 1.0, 1.0},
    {"SM", UNIT_NONE, 1.0, 1.0},
    {"cluster", UNIT_NONE, 1.0, 1.0},
    {"barrier", UNIT_NONE, 1.0, 1.0},
    {"ns", UNIT_TIME, 1e-3, 1e-3},
    {"nsecond", UNIT_TIME, 1e-3, 1e-3},
    {"nsec", UNIT_TIME, 1e-3, 1e-3},
    {"us", UNIT_TIME, 1.0, 1.0},
    {"\xc2\xb5s", UNIT_TIME, 1.0, 1.0},
    {"\xce\xbcs", UNIT_TIME, 1.0, 1.0},
    {"usecond", UNIT_TIME, 1.0, 1.0},
    {"usec", UNIT_TIME, 1.0, 1.0},
    {"ms", UNIT_TIME, 1e3, 1e3},
    {"msecond", UNIT_TIME, 1e3, 1e3},
    {"msec", UNIT_TIME, 1e3, 1e3},
    {"s", UNIT_TIME, 1e6, 1e6},
    {"sec", UNIT_TIME, 1e6, 1e6},
    {"second", UNIT_TIME, 1e6, 1e6},
    {"byte", UNIT_BYTES, 1.0, 1.0},
    {"bytes", UNIT_BYTES, 1.0, 1.0},
    {"B", UNIT_BYTES, 1.0, 1.0},
    {"Kbyte", UNIT_BYTES, 1e3, 1e3},
    {"Mbyte", UNIT_BYTES, 1e6, 1e6},
    {"Gbyte", UNIT_BYTES, 1e9, 1e9},
    {"KiB", UNIT_BYTES, 1024.0, 1024.0},
    {"MiB", UNIT_BYTES, 1048576.0, 1048576.0},
    {"GiB", UNIT_BYTES, 1073741824.0, 1073741824.0},
    {"KB", UNIT_BYTES, 1e3, 1024.0},
    {"kB", UNIT_BYTES, 1e3, 1024.0},
    {"MB", UNIT_BYTES, 1e6, 1048576.0},
    {"GB", UNIT_BYTES, 1e9, 1073741824.0},
};

struct unit unit_parse(const char *unit)
{
    static const char per_block[] = "/block";
    size_t length = strlen(unit), ending = sizeof per_block - 1;
    if (length > ending && strcmp(unit + length - ending, per_block) == 0) {
        length -= ending;
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strlen(units[i].name) == length && strncmp(units[i].name, unit, length) == 0) {
            return (struct unit){units[i].kind, units[i].low_scale, units[i].high_scale};
        }
    }
    return (struct unit){UNIT_UNKNOWN, 1.0, 1.0};
}

/* value + sign * half a step of the last decimal, in base units. One rounding: the numerator is whole. */
static double edge(const struct printed_number *number, double sign, double scale)
{
    double denominator = 2.0 * pow(10.0, number->decimals);
    if (!(denominator > 0.0) || !isfinite(number->value * denominator)) {
        return number->value * scale; /* at the ends of what a double holds */
    }
    return (round(number->value * denominator) + sign) * scale / denominator;
}

struct claim_value printed_interval(const struct printed_number *number, const struct unit *unit)
{
    if (unit->kind == UNIT_BYTES && unit->high_scale == 1.0) {
        return (struct claim_value){true, number->value, number->value};
    }
    double low = edge(number, -1.0, unit->low_scale), high = edge(number, 1.0, unit->high_scale);
    if (unit->kind == UNIT_BYTES) {
        low = floor(low);
        high = ceil(high);
    }
    return (struct claim_value){true, low > 0.0 ? low : 0.0, high > 0.0 ? high : 0.0};
}
