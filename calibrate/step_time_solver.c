/* SPDX-License-Identifier: GPL-3.0-or-later
 * Weighted non-negative least squares for step-time laws: active set over at most three times, a search over the one
 * nonlinear parameter where a form has one, GSL for the final solve, the refinement and the covariance. */
#include "calibrate/step_time_solver_private.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_min.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <string.h>

#include "base/statistics.h"
#include "calibrate/gsl_errors.h"
#include "model/predict/step_time.h"

enum {
    WIDTH_MAX = 3,
    GRID_MAX = 64,
    BRENT_ITERATIONS_MAX = 60,
    REFINE_ITERATIONS_MAX = 50
};
/* Beyond this a direction in parameter space changes the fit by less than measurements can resolve. */
static const double condition_limit = 1e8;
/* Cholesky pivot of a unit-diagonal Gram matrix below which columns count as parallel. */
static const double pivot_least = 1e-13;

/* Which parameters are times (at least 0, enter linearly) and which one is not. */
static const struct form_layout {
    unsigned width;
    int linear[WIDTH_MAX];
    int nonlinear; /* -1: none */
} layouts[STEP_TIME_FORM_COUNT] = {
    [STEP_TIME_LINE] = {2, {0, 1, -1}, -1},     [STEP_TIME_COVERAGE] = {3, {0, 1, 2}, -1},
    [STEP_TIME_POWER] = {2, {0, 1, -1}, 2},     [STEP_TIME_SQRT] = {3, {0, 1, 2}, -1},
    [STEP_TIME_SATURATING] = {3, {0, 1, 3}, 2}, [STEP_TIME_PADDED] = {2, {0, 1, -1}, -1},
    [STEP_TIME_HINGE] = {3, {0, 1, 2}, 3},
};

struct solver {
    struct step_time_law *law;
    const struct form_layout *layout;
    const struct serving_point *points;
    const double *weights;
    uint32_t count;
    double columns[WIDTH_MAX][SERVING_POINTS_MAX]; /* weighted, at the current nonlinear parameter */
    double target[SERVING_POINTS_MAX];
    double gram[WIDTH_MAX][WIDTH_MAX], moment[WIDTH_MAX];
    double times[WIDTH_MAX]; /* the bounded times: the form's own, but hinge's third is b1 + b2 */
    unsigned free_mask;      /* times that are not held at 0 */
    double sum_squares;
};

/* The hinge is solved in the slopes before and behind it, which are both bounded by 0; b2 alone is not. */
static void times_to_law(const struct solver *solver)
{
    for (unsigned i = 0; i < solver->layout->width; i++) {
        solver->law->parameters[solver->layout->linear[i]] = solver->times[i];
    }
    if (solver->law->form == STEP_TIME_HINGE) {
        solver->law->parameters[2] -= solver->law->parameters[1];
    }
}

/* Derivatives by the bounded times, then by the nonlinear parameter if there is one. */
static void bounded_gradient(const struct solver *solver, double concurrency, double *by_time, double *by_nonlinear)
{
    double gradient[STEP_TIME_PARAMETERS_MAX];
    step_time_gradient(solver->law, concurrency, gradient);
    for (unsigned i = 0; i < solver->layout->width; i++) {
        by_time[i] = gradient[solver->layout->linear[i]];
    }
    if (solver->law->form == STEP_TIME_HINGE) {
        by_time[1] -= by_time[2];
    }
    *by_nonlinear = solver->layout->nonlinear >= 0 ? gradient[solver->layout->nonlinear] : 0.0;
}

static void fill_columns(struct solver *solver)
{
    unsigned width = solver->layout->width;
    memset(solver->gram, 0, sizeof solver->gram);
    memset(solver->moment, 0, sizeof solver->moment);
    for (uint32_t row = 0; row < solver->count; row++) {
        double by_time[WIDTH_MAX], by_nonlinear;
        bounded_gradient(solver, solver->points[row].concurrency, by_time, &by_nonlinear);
        for (unsigned i = 0; i < width; i++) {
            solver->columns[i][row] = by_time[i] * solver->weights[row];
            for (unsigned j = 0; j <= i; j++) {
                solver->gram[i][j] += solver->columns[i][row] * solver->columns[j][row];
            }
            solver->moment[i] += solver->columns[i][row] * solver->target[row];
        }
    }
}

static double residual_sum(const struct solver *solver, const double *times)
{
    double sum = 0.0;
    for (uint32_t row = 0; row < solver->count; row++) {
        double residual = solver->target[row];
        for (unsigned i = 0; i < solver->layout->width; i++) {
            residual -= times[i] * solver->columns[i][row];
        }
        sum += residual * residual;
    }
    return sum;
}

/* Least squares over the times in mask, by Cholesky on the unit-diagonal Gram matrix (at most 3 x 3; the last digits
 * are polish_times' business). False when the columns are parallel or a time comes out negative. */
static bool solve_subset(const struct solver *solver, unsigned mask, double *times)
{
    unsigned index[WIDTH_MAX] = {0}, size = 0;
    double factor[WIDTH_MAX][WIDTH_MAX], scale[WIDTH_MAX] = {0}, partial[WIDTH_MAX];
    for (unsigned i = 0; i < solver->layout->width; i++) {
        times[i] = 0.0;
        if ((mask & (1u << i)) != 0) {
            if (!(solver->gram[i][i] > 0.0)) {
                return false;
            }
            scale[size] = 1.0 / sqrt(solver->gram[i][i]);
            index[size++] = i;
        }
    }
    for (unsigned i = 0; i < size; i++) {
        for (unsigned j = 0; j <= i; j++) {
            double sum = solver->gram[index[i]][index[j]] * scale[i] * scale[j];
            for (unsigned k = 0; k < j; k++) {
                sum -= factor[i][k] * factor[j][k];
            }
            if (i == j && !(sum > pivot_least)) {
                return false;
            }
            factor[i][j] = i == j ? sqrt(sum) : sum / factor[j][j];
        }
        partial[i] = solver->moment[index[i]] * scale[i];
        for (unsigned k = 0; k < i; k++) {
            partial[i] -= factor[i][k] * partial[k];
        }
        partial[i] /= factor[i][i];
    }
    for (unsigned i = size; i-- > 0;) {
        for (unsigned k = i + 1; k < size; k++) {
            partial[i] -= factor[k][i] * partial[k];
        }
        partial[i] /= factor[i][i];
        times[index[i]] = partial[i] * scale[i];
        if (!(times[index[i]] >= 0.0)) {
            return false;
        }
    }
    return true;
}

/* Non-negative least squares at the current nonlinear parameter. With at most three times every active set can be
 * looked at, which is exact; the unconstrained one is the answer whenever it is feasible. */
static double solve_times(struct solver *solver)
{
    fill_columns(solver);
    unsigned full = (1u << solver->layout->width) - 1;
    double times[WIDTH_MAX];
    solver->sum_squares = HUGE_VAL;
    for (unsigned mask = full; mask > 0; mask--) {
        if (!solve_subset(solver, mask, times)) {
            continue;
        }
        double sum = residual_sum(solver, times);
        if (sum < solver->sum_squares) {
            solver->sum_squares = sum;
            solver->free_mask = mask;
            memcpy(solver->times, times, sizeof times);
        }
        if (mask == full) {
            break;
        }
    }
    return solver->sum_squares;
}

/* The free times again through GSL's SVD, whose error grows with the condition number, not with its square. */
static enum status polish_times(struct solver *solver, struct error *error)
{
    unsigned index[WIDTH_MAX], size = 0;
    for (unsigned i = 0; i < solver->layout->width; i++) {
        if ((solver->free_mask & (1u << i)) != 0) {
            index[size++] = i;
        }
    }
    enum status status = STATUS_OK;
    gsl_matrix *design = gsl_matrix_alloc(solver->count, size);
    gsl_matrix *covariance = gsl_matrix_alloc(size, size);
    gsl_vector *times = gsl_vector_alloc(size);
    gsl_multifit_linear_workspace *workspace = gsl_multifit_linear_alloc(solver->count, size);
    if (design == NULL || covariance == NULL || times == NULL || workspace == NULL) {
        status = error_set(error, STATUS_NO_MEMORY, "memory ran out while fitting a step-time law");
        goto cleanup;
    }
    for (uint32_t row = 0; row < solver->count; row++) {
        for (unsigned i = 0; i < size; i++) {
            gsl_matrix_set(design, row, i, solver->columns[index[i]][row]);
        }
    }
    gsl_vector_const_view target = gsl_vector_const_view_array(solver->target, solver->count);
    double sum_squares;
    status = gsl_errors_status(gsl_multifit_linear(design, &target.vector, times, covariance, &sum_squares, workspace),
                               "fitting a step-time law", error);
    if (status == STATUS_OK) {
        for (unsigned i = 0; i < size; i++) {
            /* The Gram solution was at least 0; a negative value here is its rounding. */
            solver->times[index[i]] = fmax(0.0, gsl_vector_get(times, i));
        }
        solver->sum_squares = residual_sum(solver, solver->times);
    }
cleanup:
    gsl_multifit_linear_free(workspace);
    gsl_vector_free(times);
    gsl_matrix_free(covariance);
    gsl_matrix_free(design);
    return status;
}

static double profile(double nonlinear, void *context)
{
    struct solver *solver = context;
    solver->law->parameters[solver->layout->nonlinear] = nonlinear;
    return solve_times(solver);
}

/* Distinct concurrencies, ascending. Returns how many. */
static uint32_t distinct_concurrencies(const struct solver *solver, double *distinct)
{
    for (uint32_t row = 0; row < solver->count; row++) {
        distinct[row] = solver->points[row].concurrency;
    }
    sort_doubles(distinct, solver->count);
    uint32_t kept = 1;
    for (uint32_t row = 1; row < solver->count; row++) {
        if (distinct[row] > distinct[kept - 1]) {
            distinct[kept++] = distinct[row];
        }
    }
    return kept;
}

/* Hinge positions to try: between the second and the last but one concurrency, so that two points lie on either side;
 * on the points and between them, thinned evenly where there are many. */
static unsigned fill_hinge_grid(const double *distinct, uint32_t count, double *grid)
{
    const unsigned steps_per_gap = 4;
    unsigned whole = (count - 3) * steps_per_gap + 1;
    unsigned size = whole < GRID_MAX ? whole : GRID_MAX;
    for (unsigned i = 0; i < size; i++) {
        double place = whole > 1 ? (double)i * (whole - 1) / (size - 1) / steps_per_gap : 0.0;
        uint32_t gap = (uint32_t)place;
        double part = place - gap;
        double left = distinct[1 + gap];
        grid[i] = part > 0.0 ? left + part * (distinct[2 + gap] - left) : left;
    }
    return size;
}

static unsigned fill_grid(const struct solver *solver, double *grid)
{
    const unsigned size = 28;
    double distinct[SERVING_POINTS_MAX];
    uint32_t count = distinct_concurrencies(solver, distinct);
    double low = 0.05, high = 3.0; /* exponents: measured ones lie within 0.2..1.5 */
    if (solver->law->form == STEP_TIME_HINGE) {
        return fill_hinge_grid(distinct, count, grid);
    }
    if (solver->law->form == STEP_TIME_SATURATING) {
        /* Outside, n/(n+h) is a constant or a line over the whole table. */
        low = distinct[0] / 4.0;
        high = distinct[count - 1] * 4.0;
    }
    for (unsigned i = 0; i < size; i++) {
        grid[i] = low * pow(high / low, (double)i / (size - 1));
    }
    return size;
}

/* Minimum of the profile within (low, high) around middle, by Brent's method. Where the profile is too flat for a
 * bracket the grid point stays. Leaves the solver at the minimum; adds to *iterations. */
static enum status refine_profile(struct solver *solver, double low, double middle, double high, unsigned *iterations,
                                  struct error *error)
{
    double best = middle;
    gsl_function function = {profile, solver};
    double low_value = profile(low, solver), high_value = profile(high, solver), value = profile(middle, solver);
    if (value < low_value && value < high_value) {
        gsl_min_fminimizer *minimizer = gsl_min_fminimizer_alloc(gsl_min_fminimizer_brent);
        if (minimizer == NULL) {
            return error_set(error, STATUS_NO_MEMORY, "memory ran out while fitting a step-time law");
        }
        int code =
            gsl_min_fminimizer_set_with_values(minimizer, &function, middle, value, low, low_value, high, high_value);
        for (int i = 0; code == GSL_SUCCESS && i < BRENT_ITERATIONS_MAX; i++) {
            code = gsl_min_fminimizer_iterate(minimizer);
            best = gsl_min_fminimizer_x_minimum(minimizer);
            *iterations += 1;
            if (gsl_min_test_interval(gsl_min_fminimizer_x_lower(minimizer), gsl_min_fminimizer_x_upper(minimizer), 0.0,
                                      1e-9) == GSL_SUCCESS) {
                break;
            }
        }
        gsl_min_fminimizer_free(minimizer);
        /* GSL_FAILURE only says that rounding stops the bracket from shrinking: the minimum found is as good as any. */
        enum status status =
            code == GSL_FAILURE ? STATUS_OK : gsl_errors_status(code, "searching a step-time parameter", error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    profile(best, solver);
    return STATUS_OK;
}

/* What the GSL callbacks need: the free times, then the nonlinear parameter, as one vector. */
static void vector_to_law(const gsl_vector *vector, struct solver *solver)
{
    size_t place = 0;
    for (unsigned i = 0; i < solver->layout->width; i++) {
        bool is_free = (solver->free_mask & (1u << i)) != 0;
        solver->times[i] = is_free ? gsl_vector_get(vector, place++) : 0.0;
    }
    solver->law->parameters[solver->layout->nonlinear] = gsl_vector_get(vector, place);
    times_to_law(solver);
}

static int evaluate_residuals(const gsl_vector *vector, void *context, gsl_vector *residuals)
{
    struct solver *solver = context;
    vector_to_law(vector, solver);
    for (uint32_t row = 0; row < solver->count; row++) {
        double value = step_time_evaluate(solver->law, solver->points[row].concurrency) * solver->weights[row];
        if (!isfinite(value)) {
            return GSL_EDOM;
        }
        gsl_vector_set(residuals, row, value - solver->target[row]);
    }
    return GSL_SUCCESS;
}

static int evaluate_jacobian(const gsl_vector *vector, void *context, gsl_matrix *jacobian)
{
    struct solver *solver = context;
    vector_to_law(vector, solver);
    for (uint32_t row = 0; row < solver->count; row++) {
        double by_time[WIDTH_MAX], by_nonlinear;
        bounded_gradient(solver, solver->points[row].concurrency, by_time, &by_nonlinear);
        size_t place = 0;
        for (unsigned i = 0; i < solver->layout->width; i++) {
            if ((solver->free_mask & (1u << i)) != 0) {
                gsl_matrix_set(jacobian, row, place++, by_time[i] * solver->weights[row]);
            }
        }
        gsl_matrix_set(jacobian, row, place, by_nonlinear * solver->weights[row]);
    }
    return GSL_SUCCESS;
}

static const char *convergence_text(int code, int info)
{
    switch (code) {
    case GSL_SUCCESS:
        return info == 1 ? "converged: the step became small" : "converged: the gradient became small";
    case GSL_EMAXITER:
        return "iteration limit of the refinement reached; the profile minimum is kept";
    case GSL_ENOPROG:
        return "converged: no further progress from the profile minimum";
    default:
        return "the refinement left the form's domain; the profile minimum is kept";
    }
}

/* Runs GSL's trust-region solver from the vector. Returns its code and leaves the result in the solver's law. */
static int run_refinement(struct solver *solver, gsl_vector *start, gsl_multifit_nlinear_workspace *workspace,
                          struct step_time_solution *solution)
{
    gsl_multifit_nlinear_fdf system = {.f = evaluate_residuals,
                                       .df = evaluate_jacobian,
                                       .fvv = NULL,
                                       .n = solver->count,
                                       .p = start->size,
                                       .params = solver};
    int info = 0;
    int code = gsl_multifit_nlinear_init(start, &system, workspace);
    if (code == GSL_SUCCESS) {
        code = gsl_multifit_nlinear_driver(REFINE_ITERATIONS_MAX, 1e-10, 6.055e-6, 0.0, NULL, NULL, &info, workspace);
        solution->iterations += (unsigned)gsl_multifit_nlinear_niter(workspace);
        vector_to_law(gsl_multifit_nlinear_position(workspace), solver);
    }
    solution->convergence = convergence_text(code, info);
    return code;
}

/* Joint refinement of times and nonlinear parameter from the profile minimum. It is kept only where it stays within the
 * bounds of the search and does not do worse; the profile minimum is a full answer without it. */
static enum status refine_jointly(struct solver *solver, double low, double high, struct step_time_solution *solution,
                                  struct error *error)
{
    int nonlinear = solver->layout->nonlinear;
    size_t size = (size_t)__builtin_popcount(solver->free_mask) + 1;
    if (solver->count < size) {
        return STATUS_OK;
    }
    gsl_multifit_nlinear_parameters parameters = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_workspace *workspace =
        gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &parameters, solver->count, size);
    gsl_vector *start = gsl_vector_alloc(size);
    enum status status = STATUS_OK;
    if (workspace == NULL || start == NULL) {
        status = error_set(error, STATUS_NO_MEMORY, "memory ran out while fitting a step-time law");
    } else {
        double kept = solver->law->parameters[nonlinear], kept_sum = solver->sum_squares;
        size_t place = 0;
        for (unsigned i = 0; i < solver->layout->width; i++) {
            if ((solver->free_mask & (1u << i)) != 0) {
                gsl_vector_set(start, place++, solver->times[i]);
            }
        }
        gsl_vector_set(start, place, kept);
        run_refinement(solver, start, workspace, solution);
        double refined = solver->law->parameters[nonlinear];
        if (!(refined > low && refined < high) || !(profile(refined, solver) <= kept_sum)) {
            profile(kept, solver);
        }
    }
    gsl_vector_free(start);
    gsl_multifit_nlinear_free(workspace);
    return status;
}

static bool is_measured_concurrency(const struct solver *solver, double value)
{
    for (uint32_t row = 0; row < solver->count; row++) {
        if (fabs(solver->points[row].concurrency - value) <= 1e-6 * value) {
            return true;
        }
    }
    return false;
}

static enum status solve_nonlinear(struct solver *solver, struct step_time_solution *solution, struct error *error)
{
    double grid[GRID_MAX];
    unsigned size = fill_grid(solver, grid), best = 0;
    double best_value = HUGE_VAL;
    for (unsigned i = 0; i < size; i++) {
        double value = profile(grid[i], solver);
        if (value < best_value) {
            best_value = value;
            best = i;
        }
    }
    solution->iterations = size;
    if (best == 0 || best + 1 == size) {
        profile(grid[best], solver);
        solution->convergence = "the best value lies at the end of the range that was searched";
        return STATUS_OK;
    }
    enum status status =
        refine_profile(solver, grid[best - 1], grid[best], grid[best + 1], &solution->iterations, error);
    if (status != STATUS_OK) {
        return status;
    }
    double found = solver->law->parameters[solver->layout->nonlinear];
    solution->convergence = "converged: minimum of the profile";
    /* On a measured concurrency the hinge's sum of squares has a corner, where derivatives lead nowhere. */
    if (solver->law->form == STEP_TIME_HINGE && is_measured_concurrency(solver, found)) {
        solution->convergence = "converged: the hinge lies on a measured concurrency";
        return STATUS_OK;
    }
    return refine_jointly(solver, grid[0], grid[size - 1], solution, error);
}

/* Covariance (J'WJ)^-1 over all parameters, also those held at 0: what a bound hides is not thereby known. */
static enum status fill_covariance(const struct solver *solver, struct step_time_solution *solution,
                                   struct error *error)
{
    struct step_time_law *law = solver->law;
    size_t width = step_time_form_parameter_count(law->form), rank = 0;
    enum status status = STATUS_OK;
    gsl_matrix *jacobian = gsl_matrix_alloc(solver->count, width);
    gsl_matrix *covariance = gsl_matrix_alloc(width, width);
    gsl_vector *weights = gsl_vector_alloc(solver->count), *target = gsl_vector_calloc(solver->count);
    gsl_vector *ignored = gsl_vector_alloc(width);
    gsl_multifit_linear_workspace *workspace = gsl_multifit_linear_alloc(solver->count, width);
    if (jacobian == NULL || covariance == NULL || weights == NULL || target == NULL || ignored == NULL ||
        workspace == NULL) {
        status = error_set(error, STATUS_NO_MEMORY, "memory ran out while fitting a step-time law");
        goto cleanup;
    }
    for (uint32_t row = 0; row < solver->count; row++) {
        double gradient[STEP_TIME_PARAMETERS_MAX];
        step_time_gradient(law, solver->points[row].concurrency, gradient);
        gsl_vector_set(weights, row, solver->weights[row] * solver->weights[row]);
        for (size_t i = 0; i < width; i++) {
            gsl_matrix_set(jacobian, row, i, gradient[i]);
        }
    }
    double ignored_sum;
    status = gsl_errors_status(gsl_multifit_wlinear_tsvd(jacobian, weights, target, 1.0 / condition_limit, ignored,
                                                         covariance, &ignored_sum, &rank, workspace),
                               "computing a covariance", error);
    if (status != STATUS_OK) {
        goto cleanup;
    }
    double reciprocal = gsl_multifit_linear_rcond(workspace);
    solution->condition_number = reciprocal > 0.0 ? 1.0 / reciprocal : HUGE_VAL;
    solution->has_full_rank = rank == width;
    for (size_t i = 0; i < width; i++) {
        for (size_t j = 0; j < width; j++) {
            law->covariance[i][j] = gsl_matrix_get(covariance, i, j);
        }
    }
cleanup:
    gsl_multifit_linear_free(workspace);
    gsl_vector_free(ignored);
    gsl_vector_free(target);
    gsl_vector_free(weights);
    gsl_matrix_free(covariance);
    gsl_matrix_free(jacobian);
    return status;
}

enum status step_time_solve(struct step_time_law *law, const struct serving_point *points, const double *weights,
                            uint32_t count, struct step_time_solution *solution, struct error *error)
{
    struct solver solver = {.law = law, .layout = &layouts[law->form], .points = points, .weights = weights};
    solver.count = count;
    for (uint32_t row = 0; row < count; row++) {
        solver.target[row] = weights[row] * points[row].step_time_s;
    }
    gsl_errors_install();
    gsl_errors_clear();
    memset(solution, 0, sizeof *solution);
    enum status status = STATUS_OK;
    if (solver.layout->nonlinear >= 0) {
        status = solve_nonlinear(&solver, solution, error);
    } else {
        solve_times(&solver);
        solution->iterations = 1;
        solution->convergence = "solved directly";
    }
    if (status == STATUS_OK && isfinite(solver.sum_squares)) {
        status = polish_times(&solver, error);
    }
    if (status != STATUS_OK) {
        return status;
    }
    solution->sum_squares = solver.sum_squares;
    times_to_law(&solver);
    return isfinite(solver.sum_squares) ? fill_covariance(&solver, solution, error) : STATUS_OK;
}
