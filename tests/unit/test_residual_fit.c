/* SPDX-License-Identifier: GPL-3.0-or-later
 * The residual process: near its rows it says what they say, far away nothing. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "calibrate/residual_fit.h"
#include "model/predict/calibrated_time.h"
#include "model/predict/residual_factor.h"

enum {
    ROWS = 60,
    N = CALIBRATION_FEATURE_COUNT
};

/* A smooth function of the first two features; the third varies without meaning, the others do not vary. */
static double truth(const double *features)
{
    return 0.1 * sin(features[0]) + 0.05 * features[1];
}

static void fill(uint64_t seed, double noise, double *features, double *residuals)
{
    struct random_stream stream;
    random_init(&stream, seed, 1);
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t f = 0; f < N; f++) {
            features[i * N + f] = f < 3 ? 3 * random_uniform(&stream) : 7;
        }
        residuals[i] = truth(features + i * N) + noise * random_normal(&stream);
    }
}

static void fit(struct calibration *calibration, const double *features, const double *residuals, size_t count)
{
    struct error error = {0};
    calibration_init(calibration);
    ck_assert_msg(residual_start(calibration, features, count, &error) == STATUS_OK, "%s", error.text);
    ck_assert_msg(residual_search(calibration, residuals, &error) == STATUS_OK, "%s", error.text);
    ck_assert_msg(residual_weigh(calibration, residuals, &error) == STATUS_OK, "%s", error.text);
}

/* L L' is the matrix, for sizes around whole panels; one that is not positive definite is told. */
START_TEST(factor_of_any_size)
{
    enum {
        MOST = 21
    };
    for (size_t rows = 1; rows <= MOST; rows++) {
        double matrix[MOST * MOST], whole[MOST * MOST], columns[RESIDUAL_FACTOR_ROOM * MOST];
        for (size_t i = 0; i < rows * rows; i++) {
            const double distance = (double)(i / rows) - (double)(i % rows);
            matrix[i] = whole[i] = exp(-distance * distance / 7) + (distance == 0 ? 0.01 : 0);
        }
        ck_assert(residual_factor_in_place(matrix, rows, columns));
        for (size_t i = 0; i < rows; i++) {
            for (size_t j = 0; j <= i; j++) {
                double sum = 0;
                for (size_t k = 0; k <= j; k++) {
                    sum += matrix[i * rows + k] * matrix[j * rows + k];
                }
                ck_assert_double_eq_tol(sum, whole[i * rows + j], 1e-12);
            }
        }
        whole[rows * rows - 1] = -1;
        ck_assert(!residual_factor_in_place(whole, rows, columns));
    }
}
END_TEST

START_TEST(process_interpolates_between_rows)
{
    double features[ROWS * N], residuals[ROWS], others[ROWS * N], unused[ROWS], squares = 0, plain = 0;
    struct calibration calibration;
    fill(1, 0.002, features, residuals);
    fill(2, 0, others, unused);
    fit(&calibration, features, residuals, ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        double mean, deviation;
        calibration_residual_predict(&calibration.residual, others + i * N, &mean, &deviation);
        squares += (mean - truth(others + i * N)) * (mean - truth(others + i * N));
        plain += truth(others + i * N) * truth(others + i * N);
        ck_assert(deviation >= 0 && deviation <= sqrt(calibration.residual.amplitude));
    }
    ck_assert_msg(squares < 0.01 * plain, "unexplained share %g", squares / plain);
    calibration_release(&calibration);
}
END_TEST

START_TEST(process_reproduces_its_rows_up_to_the_noise)
{
    double features[ROWS * N], residuals[ROWS];
    struct calibration calibration;
    fill(3, 0, features, residuals);
    fit(&calibration, features, residuals, ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        double mean, deviation;
        calibration_residual_predict(&calibration.residual, features + i * N, &mean, &deviation);
        ck_assert_msg(fabs(mean - residuals[i]) < 3 * sqrt(calibration.residual.noise) + 1e-6, "row %zu: %g for %g", i,
                      mean, residuals[i]);
        ck_assert(deviation < 2 * sqrt(calibration.residual.noise));
    }
    calibration_release(&calibration);
}
END_TEST

START_TEST(far_from_all_rows_the_process_says_nothing)
{
    double features[ROWS * N], residuals[ROWS], far[N], mean, deviation;
    struct calibration calibration;
    fill(4, 0.002, features, residuals);
    fit(&calibration, features, residuals, ROWS);
    for (size_t f = 0; f < N; f++) {
        far[f] = 1000;
    }
    calibration_residual_predict(&calibration.residual, far, &mean, &deviation);
    ck_assert(fabs(mean) < 1e-9);
    ck_assert(fabs(deviation / sqrt(calibration.residual.amplitude) - 1) < 1e-9);
    calibration_release(&calibration);
}
END_TEST

START_TEST(pure_noise_is_taken_for_noise)
{
    double features[ROWS * N], residuals[ROWS], worst = 0;
    struct random_stream stream;
    struct calibration calibration;
    random_init(&stream, 6, 2);
    fill(5, 0, features, residuals);
    for (size_t i = 0; i < ROWS; i++) {
        residuals[i] = 0.02 * random_normal(&stream);
    }
    fit(&calibration, features, residuals, ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        double mean, deviation;
        calibration_residual_predict(&calibration.residual, features + i * N, &mean, &deviation);
        worst = fmax(worst, fabs(mean));
    }
    ck_assert_msg(worst < 0.02, "it follows the noise by %g", worst);
    calibration_release(&calibration);
}
END_TEST

START_TEST(degenerate_rows_are_survived_or_refused)
{
    double features[ROWS * N], residuals[ROWS], mean, deviation;
    struct calibration calibration;
    struct error error = {0};
    fill(7, 0.01, features, residuals);
    calibration_init(&calibration);
    ck_assert(residual_start(&calibration, features, 3, &error) == STATUS_BAD_DATA);
    ck_assert_msg(strstr(error.text, "at least 4") != NULL, "%s", error.text);
    ck_assert_uint_eq(calibration.residual.row_count, 0);
    for (size_t i = 1; i < ROWS; i++) { /* one configuration, again and again */
        memcpy(features + i * N, features, N * sizeof *features);
    }
    fit(&calibration, features, residuals, ROWS);
    calibration_residual_predict(&calibration.residual, features, &mean, &deviation);
    ck_assert(isfinite(mean) && isfinite(deviation));
    calibration_release(&calibration);
}
END_TEST

Suite *suite_residual_fit(void);
Suite *suite_residual_fit(void)
{
    Suite *suite = suite_create("residual_fit");
    TCase *tests = tcase_create("process");
    tcase_add_test(tests, factor_of_any_size);
    tcase_add_test(tests, process_interpolates_between_rows);
    tcase_add_test(tests, process_reproduces_its_rows_up_to_the_noise);
    tcase_add_test(tests, far_from_all_rows_the_process_says_nothing);
    tcase_add_test(tests, pure_noise_is_taken_for_noise);
    tcase_add_test(tests, degenerate_rows_are_survived_or_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
