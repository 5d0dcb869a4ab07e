/* SPDX-License-Identifier: GPL-3.0-or-later
 * Random numbers: PCG32's published check values, ranges, moments, and Halton points. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "tests/support/assert_close.h"

Suite *suite_random(void);

/* First numbers of pcg32-demo (pcg-c-basic) for seed 42, sequence 54. */
START_TEST(pcg32_check_values)
{
    static const uint32_t expected[] = {0xa15c02b7, 0x7b47f409, 0xba1d3330, 0x83d2f293, 0xbfa4784b, 0xcbed606e};
    struct random_stream stream;
    random_init(&stream, 42, 54);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        ck_assert_uint_eq(random_uint32(&stream), expected[i]);
}
END_TEST

START_TEST(same_seed_same_numbers_other_sequence_others)
{
    struct random_stream a, b, c;
    random_init(&a, 7, 1);
    random_init(&b, 7, 1);
    random_init(&c, 7, 2);
    unsigned equal = 0;
    for (int i = 0; i < 100; i++) {
        uint32_t drawn = random_uint32(&a);
        ck_assert_uint_eq(drawn, random_uint32(&b));
        equal += drawn == random_uint32(&c);
    }
    ck_assert_uint_lt(equal, 3);
}
END_TEST

START_TEST(uniform_numbers)
{
    enum {
        DRAWS = 100000
    };
    struct random_stream stream;
    double sum = 0.0, sum_of_squares = 0.0;
    random_init(&stream, 1, 1);
    for (int i = 0; i < DRAWS; i++) {
        double u = random_uniform(&stream);
        ck_assert(u >= 0.0 && u < 1.0);
        ck_assert_double_eq(u * 0x1p53, floor(u * 0x1p53)); /* 53 bits */
        sum += u;
        sum_of_squares += u * u;
    }
    /* Five standard errors: sqrt(1/12/n) of the mean, sqrt(4/45/n) of the mean square. */
    ck_assert(is_close_zero(sum / DRAWS - 0.5, 5.0 * sqrt(1.0 / 12.0 / DRAWS)));
    ck_assert(is_close_zero(sum_of_squares / DRAWS - 1.0 / 3.0, 5.0 * sqrt(4.0 / 45.0 / DRAWS)));
}
END_TEST

START_TEST(bounded_integers_are_even)
{
    enum {
        BOUND = 7,
        DRAWS = 70000
    };
    struct random_stream stream;
    unsigned counts[BOUND] = {0};
    random_init(&stream, 3, 9);
    for (int i = 0; i < DRAWS; i++) {
        uint32_t drawn = random_below(&stream, BOUND);
        ck_assert_uint_lt(drawn, BOUND);
        counts[drawn]++;
    }
    double chi_square = 0.0;
    for (int i = 0; i < BOUND; i++)
        chi_square += (counts[i] - 10000.0) * (counts[i] - 10000.0) / 10000.0;
    ck_assert_double_lt(chi_square, 22.46); /* 6 degrees of freedom, 1 in 1000 */
    for (int i = 0; i < 10; i++)
        ck_assert_uint_eq(random_below(&stream, 1), 0);
    /* With 2^31 + 1 half of the raw draws must be thrown away; a plain remainder would favour the low values. */
    unsigned low = 0;
    for (int i = 0; i < DRAWS; i++)
        low += random_below(&stream, 0x80000001u) < 0x40000000u;
    ck_assert(is_close_zero(low / (double)DRAWS - 0.5, 5.0 * 0.5 / sqrt(DRAWS)));
}
END_TEST

START_TEST(normal_numbers)
{
    enum {
        DRAWS = 100000
    };
    struct random_stream stream;
    double sum = 0.0, sum_of_squares = 0.0;
    unsigned beyond = 0;
    random_init(&stream, 11, 5);
    for (int i = 0; i < DRAWS; i++) {
        double z = random_normal(&stream);
        ck_assert(isfinite(z));
        sum += z;
        sum_of_squares += z * z;
        beyond += fabs(z) > 1.9599639845400545;
    }
    ck_assert(is_close_zero(sum / DRAWS, 5.0 / sqrt(DRAWS)));
    ck_assert(is_close_zero(sum_of_squares / DRAWS - 1.0, 5.0 * sqrt(2.0 / DRAWS)));
    ck_assert(is_close_zero(beyond / (double)DRAWS - 0.05, 5.0 * sqrt(0.05 * 0.95 / DRAWS)));
}
END_TEST

/* Point 21 of the sequence is 10101 in base 2 and 210 in base 3: digits mirrored behind the point. */
START_TEST(halton_points_by_hand)
{
    ck_assert_double_eq(halton(0, 0), 21.0 / 32.0);
    assert_close_rel(halton(0, 1), 1.0 / 9.0 + 2.0 / 27.0, TOL_ROUNDING);
    assert_close_rel(halton(3, 2), 4.0 / 5.0 + 4.0 / 25.0, TOL_ROUNDING); /* 24 = 44 in base 5 */
    assert_close_rel(halton(0, 31), 21.0 / 131.0, TOL_ROUNDING);          /* the 32nd prime */
}
END_TEST

START_TEST(halton_stays_inside_and_is_even)
{
    for (uint32_t dimension = 0; dimension < 32; dimension++) {
        double sum = 0.0;
        for (uint32_t i = 0; i < 4096; i++) {
            double u = halton(i, dimension);
            ck_assert(u > 0.0 && u < 1.0);
            sum += u;
        }
        /* The discrepancy of n points is of the order of base x log n / n; a constant or skewed sequence is far off. */
        ck_assert(is_close_zero(sum / 4096.0 - 0.5, 0.02));
        double last = halton(UINT32_MAX, dimension);
        ck_assert(last > 0.0 && last < 1.0);
    }
}
END_TEST

Suite *suite_random(void)
{
    Suite *suite = suite_create("random");
    TCase *tests = tcase_create("random");
    tcase_add_test(tests, pcg32_check_values);
    tcase_add_test(tests, same_seed_same_numbers_other_sequence_others);
    tcase_add_test(tests, uniform_numbers);
    tcase_add_test(tests, bounded_integers_are_even);
    tcase_add_test(tests, normal_numbers);
    tcase_add_test(tests, halton_points_by_hand);
    tcase_add_test(tests, halton_stays_inside_and_is_even);
    suite_add_tcase(suite, tests);
    return suite;
}
