/* SPDX-License-Identifier: GPL-3.0-or-later
 * Properties of numbers in base/: text round trips over all doubles, random numbers in range, quantiles in order. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/statistics.h"
#include "base/text_buffer.h"
#include "tests/support/assert_close.h"
#include "tests/support/property.h"

/* Any finite double, each exponent as likely as the other. */
static double any_double(struct random_stream *stream)
{
    for (;;) {
        uint64_t bits = (uint64_t)random_uint32(stream) << 32 | random_uint32(stream);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value))
            return value;
    }
}

START_TEST(formatted_numbers_read_back_exactly)
{
    struct random_stream stream;
    random_init(&stream, property_seed(), 1);
    for (unsigned i = 0; i < property_cases(20000); i++) {
        double value = any_double(&stream), back = 0.0;
        char text[32];
        number_format(value, text);
        assert_property(number_parse(text, &back) == STATUS_OK, i, "%s is not read", text);
        assert_property(memcmp(&back, &value, sizeof value) == 0, i, "%s reads as %.17g", text, back);
    }
}
END_TEST

START_TEST(rounded_numbers_are_within_half_a_digit)
{
    struct random_stream stream;
    random_init(&stream, property_seed(), 2);
    for (unsigned i = 0; i < property_cases(20000); i++) {
        double value = ldexp(0.5 + random_uniform(&stream), (int)random_below(&stream, 200) - 100), back = 0.0;
        int digits = 1 + (int)random_below(&stream, 15);
        char text[32];
        number_format_digits(value, digits, text);
        assert_property(number_parse(text, &back) == STATUS_OK, i, "%s is not read", text);
        /* Half a unit of the last kept digit is at most this share of the value. */
        double tolerance = 0.5 * pow(10.0, 1 - digits) + TOL_ROUNDING;
        assert_property(is_close_rel(back, value, tolerance), i, "%.17g with %d digits became %s", value, digits, text);
    }
}
END_TEST

START_TEST(random_numbers_stay_in_range)
{
    struct random_stream stream, twin;
    random_init(&stream, property_seed(), 3);
    random_init(&twin, property_seed(), 3);
    for (unsigned i = 0; i < property_cases(20000); i++) {
        uint32_t bound = 1 + (random_uint32(&stream) >> random_below(&stream, 32));
        bound = bound == 0 ? 1 : bound;
        uint32_t drawn = random_below(&stream, bound);
        assert_property(drawn < bound, i, "%u of %u", drawn, bound);
        double uniform = random_uniform(&stream);
        assert_property(uniform >= 0.0 && uniform < 1.0, i, "%.17g", uniform);
        double point = halton(i, i % 32);
        assert_property(point > 0.0 && point < 1.0, i, "halton %.17g", point);
        /* The twin takes the same steps and must draw the same. */
        uint32_t twin_bound = 1 + (random_uint32(&twin) >> random_below(&twin, 32));
        twin_bound = twin_bound == 0 ? 1 : twin_bound;
        assert_property(random_below(&twin, twin_bound) == drawn, i, "twin differs at bound %u", bound);
        assert_property(random_uniform(&twin) == uniform, i, "twin differs from %.17g", uniform);
    }
}
END_TEST

START_TEST(quantiles_are_in_order_and_inside)
{
    struct random_stream stream;
    random_init(&stream, property_seed(), 4);
    for (unsigned i = 0; i < property_cases(500); i++) {
        double values[41];
        size_t count = 1 + random_below(&stream, 41);
        for (size_t j = 0; j < count; j++)
            values[j] = random_normal(&stream);
        sort_doubles(values, count);
        double before = quantile_sorted(values, count, 0.0);
        assert_property(before == values[0], i, "lowest quantile %.17g", before);
        for (int step = 1; step <= 16; step++) {
            double now = quantile_sorted(values, count, step / 16.0);
            assert_property(now >= before, i, "quantile %d/16 is %.17g after %.17g", step, now, before);
            before = now;
        }
        assert_property(before == values[count - 1], i, "highest quantile %.17g", before);
    }
}
END_TEST

Suite *suite_prop_numbers(void)
{
    Suite *suite = suite_create("prop_numbers");
    TCase *cases = tcase_create("seeded");
    tcase_add_test(cases, formatted_numbers_read_back_exactly);
    tcase_add_test(cases, rounded_numbers_are_within_half_a_digit);
    tcase_add_test(cases, random_numbers_stay_in_range);
    tcase_add_test(cases, quantiles_are_in_order_and_inside);
    suite_add_tcase(suite, cases);
    return suite;
}
