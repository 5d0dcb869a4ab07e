/* SPDX-License-Identifier: GPL-3.0-or-later
 * Growing text, numbers to and from text, whole files. Used by every reader and every printer, so that all of them
 * treat numbers and bytes the same way whatever the user's locale is. */
#include "base/text_buffer.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The "C" locale for the calling thread only. glibc and musl hand out a static object for it: no allocation. */
struct plain_locale {
    locale_t plain, before;
};

static struct plain_locale plain_locale_enter(void)
{
    struct plain_locale scope = {newlocale(LC_ALL_MASK, "C", (locale_t)0), (locale_t)0};
    if (!scope.plain)
        BUG("the C locale is not available");
    scope.before = uselocale(scope.plain);
    return scope;
}

static void plain_locale_leave(struct plain_locale scope)
{
    uselocale(scope.before);
    freelocale(scope.plain);
}

/* Room for `more` bytes and the terminator; false once memory ran out. */
static bool text_buffer_reserve(struct text_buffer *buffer, size_t more)
{
    if (buffer->failed)
        return false;
    if (more > SIZE_MAX / 2 - buffer->length - 1) {
        buffer->failed = true;
        return false;
    }
    size_t needed = buffer->length + more + 1;
    if (needed <= buffer->capacity)
        return true;
    size_t capacity = buffer->capacity ? buffer->capacity : 64;
    while (capacity < needed)
        capacity *= 2;
    char *grown = realloc(buffer->text, capacity);
    if (!grown) {
        buffer->failed = true;
        return false;
    }
    buffer->text = grown;
    buffer->capacity = capacity;
    return true;
}

void text_buffer_append_bytes(struct text_buffer *buffer, const char *bytes, size_t count)
{
    if (!text_buffer_reserve(buffer, count))
        return;
    if (count > 0)
        memcpy(buffer->text + buffer->length, bytes, count);
    buffer->length += count;
    buffer->text[buffer->length] = '\0';
}

void text_buffer_append(struct text_buffer *buffer, const char *text)
{
    text_buffer_append_bytes(buffer, text, strlen(text));
}

void text_buffer_append_format(struct text_buffer *buffer, const char *format, ...)
{
    if (!text_buffer_reserve(buffer, 0))
        return;
    struct plain_locale scope = plain_locale_enter();
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(buffer->text + buffer->length, buffer->capacity - buffer->length, format, arguments);
    va_end(arguments);
    if (length < 0) {
        buffer->text[buffer->length] = '\0';
        buffer->failed = true;
    } else if ((size_t)length >= buffer->capacity - buffer->length) {
        buffer->text[buffer->length] = '\0'; /* what was there stays whole when there is no room for the rest */
        if (text_buffer_reserve(buffer, (size_t)length)) {
            va_start(arguments, format);
            vsnprintf(buffer->text + buffer->length, (size_t)length + 1, format, arguments);
            va_end(arguments);
            buffer->length += (size_t)length;
        }
    } else {
        buffer->length += (size_t)length;
    }
    plain_locale_leave(scope);
}

void text_buffer_clear(struct text_buffer *buffer)
{
    buffer->length = 0;
    if (buffer->text)
        buffer->text[0] = '\0';
}

void text_buffer_release(struct text_buffer *buffer)
{
    free(buffer->text);
    *buffer = (struct text_buffer){0};
}

/* Decimal digits d1 d2 ... dn (no trailing zeros, n >= 1) standing for d1.d2...dn x 10^exponent. */
struct decimal {
    char digits[20];
    int count, exponent;
};

/* printf's %e is the one conversion that gives correctly rounded digits; whatever radix character the locale prints is
 * skipped, so no locale needs to be set. */
static void decimal_print(double magnitude, int digits, struct decimal *decimal)
{
    char text[48];
    snprintf(text, sizeof text, "%.*e", digits - 1, magnitude);
    const char *exponent = strrchr(text, 'e');
    decimal->count = 0;
    for (const char *c = text; c < exponent && decimal->count < 19; c++)
        if (*c >= '0' && *c <= '9')
            decimal->digits[decimal->count++] = *c;
    while (decimal->count > 1 && decimal->digits[decimal->count - 1] == '0')
        decimal->count--;
    decimal->exponent = (int)strtol(exponent + 1, NULL, 10);
}

enum {
    PLAIN_EXPONENT_MIN = -4,
    PLAIN_EXPONENT_MAX = 14
};

/* Lays digits out in plain notation from 1e-4 to below 1e15 and with an exponent elsewhere. */
static const char *decimal_write(const struct decimal *decimal, bool negative, char out[32])
{
    char *to = out;
    int point = decimal->exponent + 1; /* digits before the point */
    if (negative)
        *to++ = '-';
    if (decimal->exponent < PLAIN_EXPONENT_MIN || decimal->exponent > PLAIN_EXPONENT_MAX) {
        *to++ = decimal->digits[0];
        if (decimal->count > 1) {
            *to++ = '.';
            memcpy(to, decimal->digits + 1, (size_t)(decimal->count - 1));
            to += decimal->count - 1;
        }
        snprintf(to, (size_t)(out + 32 - to), "e%c%02d", decimal->exponent < 0 ? '-' : '+', abs(decimal->exponent));
        return out;
    }
    if (point <= 0) {
        *to++ = '0';
        *to++ = '.';
        for (int i = point; i < 0; i++)
            *to++ = '0';
    }
    for (int i = 0; i < decimal->count || i < point; i++) {
        if (i > 0 && i == point)
            *to++ = '.';
        *to++ = i < decimal->count ? decimal->digits[i] : '0';
    }
    *to = '\0';
    return out;
}

static bool format_special(double value, char out[32])
{
    if (isnan(value))
        strcpy(out, "nan");
    else if (isinf(value))
        strcpy(out, value < 0.0 ? "-inf" : "inf");
    else if (value == 0.0)
        strcpy(out, signbit(value) ? "-0" : "0");
    else
        return false;
    return true;
}

static void decimal_from_integer(uint64_t integer, int scale, struct decimal *decimal)
{
    char reversed[20];
    int count = 0;
    for (; integer > 0; integer /= 10)
        reversed[count++] = (char)('0' + integer % 10);
    decimal->exponent = count - 1 - scale;
    for (int i = 0; i < count; i++)
        decimal->digits[i] = reversed[count - 1 - i];
    while (count > 1 && decimal->digits[count - 1] == '0')
        count--;
    decimal->count = count;
}

/* Most numbers that people write have few digits. m / 10^k is rounded once when m < 2^53 and k <= 22, exactly as a
 * reader rounds the decimal text, so equality proves the round trip (Clinger 1990) without printing and reading. The
 * least k gives the fewest digits. */
static bool decimal_from_short(double magnitude, struct decimal *decimal)
{
    static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
    if (magnitude >= 1e15 || magnitude < 1e-6)
        return false;
    for (int k = 0; k < (int)(sizeof powers / sizeof powers[0]); k++) {
        double scaled = magnitude * powers[k];
        if (scaled >= 1e15)
            return false;
        uint64_t integer = (uint64_t)(scaled + 0.5);
        if (integer > 0 && (double)integer / powers[k] == magnitude) {
            decimal_from_integer(integer, k, decimal);
            return true;
        }
    }
    return false;
}

/* The digits are read back as an integer with an exponent: without a radix character no locale matters. */
static bool decimal_reads_as(const struct decimal *decimal, double magnitude)
{
    char text[32];
    int length = snprintf(text, sizeof text, "%.*se%d", decimal->count, decimal->digits,
                          decimal->exponent - (decimal->count - 1));
    return length > 0 && strtod(text, NULL) == magnitude;
}

const char *number_format(double value, char out[32])
{
    if (format_special(value, out))
        return out;
    double magnitude = fabs(value);
    struct decimal decimal;
    if (!decimal_from_short(magnitude, &decimal)) {
        /* Any 15 digits survive the trip through a double, any double survives 17; subnormals carry fewer. */
        int digits = magnitude < DBL_MIN ? 1 : DBL_DIG;
        for (decimal_print(magnitude, digits, &decimal); digits < DBL_DECIMAL_DIG;) {
            if (decimal_reads_as(&decimal, magnitude))
                break;
            decimal_print(magnitude, ++digits, &decimal);
        }
    }
    return decimal_write(&decimal, value < 0.0, out);
}

const char *number_format_digits(double value, int digits, char out[32])
{
    if (digits < 1 || digits > DBL_DECIMAL_DIG)
        BUG("number_format_digits with %d digits", digits);
    if (format_special(value, out))
        return out;
    struct decimal decimal;
    decimal_print(fabs(value), digits, &decimal);
    return decimal_write(&decimal, value < 0.0, out);
}

/* Length of the decimal number at the start of text, 0 if there is none. *nonzero: some digit of the mantissa is not
 * zero. strtod alone accepts hex, nan, inf and leading space. */
static size_t decimal_length(const char *text, bool *nonzero)
{
    const char *c = text;
    size_t digits = 0;
    *nonzero = false;
    if (*c == '-' || *c == '+')
        c++;
    for (bool point = false; (*c >= '0' && *c <= '9') || (*c == '.' && !point); c++) {
        point = point || *c == '.';
        digits += *c != '.';
        *nonzero = *nonzero || (*c != '.' && *c != '0');
    }
    if (digits == 0)
        return 0;
    if (*c == 'e' || *c == 'E') {
        c++;
        if (*c == '-' || *c == '+')
            c++;
        if (*c < '0' || *c > '9')
            return 0;
        while (*c >= '0' && *c <= '9')
            c++;
    }
    return (size_t)(c - text);
}

enum status number_parse(const char *text, double *value)
{
    bool nonzero;
    size_t length = decimal_length(text, &nonzero);
    if (length == 0 || text[length] != '\0')
        return STATUS_BAD_DATA;
    struct plain_locale scope = plain_locale_enter();
    double number = strtod(text, NULL);
    plain_locale_leave(scope);
    /* A number that a double can only hold as 0 would be as wrong as one that it can only hold as infinity. */
    if (!isfinite(number) || (number == 0.0 && nonzero))
        return STATUS_BAD_DATA;
    *value = number;
    return STATUS_OK;
}

/* Reads what an open file holds, one byte past the limit at most. */
static enum status read_all(int descriptor, const char *path, size_t limit_bytes, size_t expected_bytes,
                            struct text_buffer *buffer, struct error *error)
{
    if (!text_buffer_reserve(buffer, expected_bytes))
        return error_set_at(error, STATUS_NO_MEMORY, path, 0, 0, "no memory for the file's %zu bytes", expected_bytes);
    for (;;) {
        if (buffer->capacity - buffer->length < 2 && !text_buffer_reserve(buffer, buffer->length + 4096))
            return error_set_at(error, STATUS_NO_MEMORY, path, 0, 0, "no memory after %zu bytes", buffer->length);
        ssize_t got = read(descriptor, buffer->text + buffer->length, buffer->capacity - buffer->length - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_set_at(error, STATUS_IO, path, 0, 0, "reading failed: %s", strerror(errno));
        buffer->length += (size_t)got;
        if (buffer->length > limit_bytes)
            return error_set_at(error, STATUS_LIMIT, path, 0, 0, "larger than the limit of %zu bytes", limit_bytes);
        if (got == 0)
            break;
    }
    buffer->text[buffer->length] = '\0';
    return STATUS_OK;
}

enum status file_read_text(const char *path, size_t limit_bytes, char **text, size_t *length, struct error *error)
{
    enum status status;
    struct text_buffer buffer = {0};
    struct stat about;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return error_set_at(error, STATUS_MISSING, path, 0, 0, "cannot be opened: %s", strerror(errno));
    if (fstat(descriptor, &about) != 0) {
        status = error_set_at(error, STATUS_IO, path, 0, 0, "reading failed: %s", strerror(errno));
        goto cleanup;
    }
    if (S_ISDIR(about.st_mode)) {
        status = error_set_at(error, STATUS_BAD_DATA, path, 0, 0, "is a directory, a file is expected");
        goto cleanup;
    }
    bool regular = S_ISREG(about.st_mode);
    if (regular && about.st_size > 0 && (uintmax_t)about.st_size > (uintmax_t)limit_bytes) {
        status = error_set_at(error, STATUS_LIMIT, path, 0, 0, "has %jd bytes, the limit is %zu",
                              (intmax_t)about.st_size, limit_bytes);
        goto cleanup;
    }
    size_t expected_bytes = regular && about.st_size > 0 ? (size_t)about.st_size + 1 : 4096;
    status = read_all(descriptor, path, limit_bytes, expected_bytes, &buffer, error);
    if (status == STATUS_OK) {
        *text = buffer.text;
        *length = buffer.length;
        buffer = (struct text_buffer){0};
    }
cleanup:
    text_buffer_release(&buffer);
    close(descriptor);
    return status;
}

/* Bytes of the valid character at text[0..available), 0 if there is none (Unicode 15, table 3-7: no overlong forms, no
 * surrogates, nothing above U+10FFFF). */
static size_t utf8_character_length(const unsigned char *text, size_t available)
{
    unsigned char lead = text[0];
    if (lead < 0x80)
        return lead != 0;
    size_t length = lead >= 0xc2 && lead <= 0xdf ? 2 : (lead & 0xf0) == 0xe0 ? 3 : lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
    if (length == 0 || length > available)
        return 0;
    unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (text[1] < low || text[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

enum status utf8_check(const char *bytes, size_t length, size_t *bad_offset)
{
    for (size_t i = 0; i < length;) {
        size_t step = utf8_character_length((const unsigned char *)bytes + i, length - i);
        if (step == 0) {
            *bad_offset = i;
            return STATUS_BAD_DATA;
        }
        i += step;
    }
    return STATUS_OK;
}

enum {
    DISTANCE_LENGTH_MAX = 255
};

static unsigned smaller(unsigned left, unsigned right)
{
    return left < right ? left : right;
}

/* The restricted form (no edit inside a swapped pair). Names are short: of longer texts only the first 255 bytes are
 * compared and the length difference added, which is far enough apart for any list of suggestions. */
unsigned text_distance(const char *left, const char *right)
{
    size_t left_length = strlen(left), right_length = strlen(right);
    size_t m = left_length < DISTANCE_LENGTH_MAX ? left_length : DISTANCE_LENGTH_MAX;
    size_t n = right_length < DISTANCE_LENGTH_MAX ? right_length : DISTANCE_LENGTH_MAX;
    unsigned rows[3][DISTANCE_LENGTH_MAX + 1];
    unsigned *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= n; j++)
        last[j] = (unsigned)j;
    for (size_t i = 1; i <= m; i++) {
        int a = tolower((unsigned char)left[i - 1]);
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= n; j++) {
            int b = tolower((unsigned char)right[j - 1]);
            row[j] = smaller(smaller(last[j], row[j - 1]) + 1, last[j - 1] + (a != b));
            if (i > 1 && j > 1 && a == tolower((unsigned char)right[j - 2]) && b == tolower((unsigned char)left[i - 2]))
                row[j] = smaller(row[j], before[j - 2] + 1);
        }
        unsigned *spare = before;
        before = last;
        last = row;
        row = spare;
    }
    size_t rest = left_length - m > right_length - n ? left_length - m : right_length - n;
    return last[n] + (unsigned)rest;
}

void utf8_trim(char *text)
{
    size_t length = strlen(text), back = 0;
    /* A character has at most four bytes: look for its first one. */
    while (back < 3 && back < length && ((unsigned char)text[length - 1 - back] & 0xc0) == 0x80) {
        back++;
    }
    if (back == length) {
        return;
    }
    const unsigned char first = (unsigned char)text[length - 1 - back];
    const size_t wanted = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
    if (wanted > back + 1) {
        text[length - 1 - back] = '\0';
    }
}
