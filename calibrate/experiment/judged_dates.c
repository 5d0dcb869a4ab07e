/* SPDX-License-Identifier: GPL-3.0-or-later
 * ISO 8601 and seconds since 1970. */
#include "calibrate/experiment/judged_dates.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

#include "base/text_buffer.h"

/* `count` digits at *at as a number within low..high; steps over them. */
static bool take(const char **at, int count, int low, int high, int *value)
{
    *value = 0;
    for (int i = 0; i < count; i++, (*at)++) {
        if (!isdigit((unsigned char)**at)) {
            return false;
        }
        *value = *value * 10 + (**at - '0');
    }
    return *value >= low && *value <= high;
}

static bool take_sign(const char **at, const char *signs)
{
    if (**at == '\0' || strchr(signs, **at) == NULL) {
        return false;
    }
    (*at)++;
    return true;
}

/* "Z", "+02:00", "+0200", nothing. */
static bool take_zone(const char *at, double *seconds)
{
    int hours = 0, minutes = 0;
    if (*at == '\0' || strcmp(at, "Z") == 0 || strcmp(at, " UTC") == 0) {
        return true;
    }
    const double sign = *at == '-' ? 1 : -1;
    if (!take_sign(&at, "+-") || !take(&at, 2, 0, 14, &hours)) {
        return false;
    }
    (void)take_sign(&at, ":");
    if (*at != '\0' && (!take(&at, 2, 0, 59, &minutes) || *at != '\0')) {
        return false;
    }
    *seconds += sign * (hours * 3600.0 + minutes * 60.0);
    return true;
}

static bool parse_iso(const char *at, double *seconds)
{
    struct tm time = {0};
    double fraction = 0, place = 1;
    if (!take(&at, 4, 1970, 9999, &time.tm_year) || !take_sign(&at, "-") || !take(&at, 2, 1, 12, &time.tm_mon) ||
        !take_sign(&at, "-") || !take(&at, 2, 1, 31, &time.tm_mday) || !take_sign(&at, "T ") ||
        !take(&at, 2, 0, 23, &time.tm_hour) || !take_sign(&at, ":") || !take(&at, 2, 0, 59, &time.tm_min)) {
        return false;
    }
    if (*at == ':') {
        at++;
        if (!take(&at, 2, 0, 60, &time.tm_sec)) {
            return false;
        }
    }
    if (*at == '.') {
        for (at++; isdigit((unsigned char)*at); at++) {
            place /= 10;
            fraction += place * (*at - '0');
        }
    }
    time.tm_year -= 1900;
    time.tm_mon--;
    struct tm noon = {.tm_year = time.tm_year, .tm_mon = time.tm_mon, .tm_mday = time.tm_mday, .tm_hour = 12};
    if (timegm(&noon) < 0 || noon.tm_mon != time.tm_mon) { /* February 30 became a day of March */
        return false;
    }
    *seconds = (double)timegm(&time) + fraction;
    return take_zone(at, seconds);
}

bool judged_date_parse(const char *text, double *seconds)
{
    double number;
    /* Between 2001 and 2100, in seconds or milliseconds. */
    if (number_parse(text, &number) == STATUS_OK) {
        *seconds = number > 1e11 ? number / 1000 : number;
        return *seconds >= 1e9 && *seconds <= 4.2e9;
    }
    return parse_iso(text, seconds);
}
