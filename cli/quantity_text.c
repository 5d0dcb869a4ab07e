/* SPDX-License-Identifier: GPL-3.0-or-later
 * Quantities as a person reads them, the same in every locale. */
#include "cli/quantity_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text_buffer.h"
#include "base/units.h"

const char *quantity_whole(double value, char out[QUANTITY_TEXT_SIZE])
{
    char digits[QUANTITY_TEXT_SIZE / 2];
    size_t length, used = 0;

    if (!(fabs(value) < 1e15))
        return strcpy(out, "unknown");
    (void)snprintf(digits, sizeof digits, "%lld", llround(fabs(value)));
    length = strlen(digits);
    if (value < 0.0)
        out[used++] = '-';
    for (size_t i = 0; i < length; i++) {
        out[used++] = digits[i];
        if ((length - i - 1) % 3 == 0 && i + 1 < length)
            out[used++] = ',';
    }
    out[used] = '\0';
    return out;
}

const char *quantity_bytes(double bytes, char out[QUANTITY_TEXT_SIZE])
{
    char whole[QUANTITY_TEXT_SIZE], kb[32], kib[32];

    (void)quantity_whole(bytes, whole);
    if (fabs(bytes) < BYTES_PER_KB)
        (void)snprintf(out, QUANTITY_TEXT_SIZE, "%.20s B", whole);
    else
        (void)snprintf(out, QUANTITY_TEXT_SIZE, "%.20s B (%.20s KB, %.20s KiB)", whole,
                       number_format_digits(bytes / BYTES_PER_KB, 4, kb),
                       number_format_digits(bytes / BYTES_PER_KIB, 3, kib));
    return out;
}

struct time_unit {
    double scale;
    const char *name;
};

static struct time_unit time_unit_for(double seconds)
{
    if (seconds < 1e-6)
        return (struct time_unit){1e9, "ns"};
    if (seconds < 1e-3)
        return (struct time_unit){1e6, "us"};
    if (seconds < 1.0)
        return (struct time_unit){1e3, "ms"};
    return (struct time_unit){1.0, "s"};
}

const char *quantity_time(double seconds, char out[QUANTITY_TEXT_SIZE])
{
    return quantity_time_interval(seconds, (double)NAN, (double)NAN, out);
}

const char *quantity_time_interval(double seconds, double lo_s, double hi_s, char out[QUANTITY_TEXT_SIZE])
{
    struct time_unit unit = time_unit_for(seconds);
    char center[32], lo[32], hi[32];

    if (!isfinite(seconds))
        return strcpy(out, "unknown");
    (void)number_format_digits(seconds * unit.scale, 3, center);
    if (!isfinite(lo_s) || !isfinite(hi_s))
        (void)snprintf(out, QUANTITY_TEXT_SIZE, "%s %s", center, unit.name);
    else
        (void)snprintf(out, QUANTITY_TEXT_SIZE, "%s %s (%s to %s %s)", center, unit.name,
                       number_format_digits(lo_s * unit.scale, 3, lo), number_format_digits(hi_s * unit.scale, 3, hi),
                       unit.name);
    return out;
}

const char *quantity_number(double value, char out[QUANTITY_TEXT_SIZE])
{
    char digits[32];

    if (!isfinite(value))
        return strcpy(out, "unknown");
    return strcpy(out, number_format_digits(value, fabs(value) >= 100.0 ? 4 : 3, digits));
}

double quantity_percent_shown(double percent)
{
    return fabs(percent) < 1.0 ? round(100.0 * percent) / 100.0 + 0.0 : percent;
}

const char *quantity_percent(double fraction, char out[QUANTITY_TEXT_SIZE])
{
    char digits[32];
    double percent = quantity_percent_shown(100.0 * fraction);

    if (!isfinite(fraction))
        return strcpy(out, "unknown");
    (void)snprintf(out, QUANTITY_TEXT_SIZE, "%s %%",
                   number_format_digits(percent,
                                        fabs(percent) >= 100.0  ? 4
                                        : fabs(percent) >= 10.0 ? 3
                                                                : 2,
                                        digits));
    return out;
}

double quantity_change_percent(double fraction)
{
    return round(1000.0 * fraction) / 10.0 + 0.0;
}
