/* SPDX-License-Identifier: GPL-3.0-or-later
 * The serving simulator against closed forms of queueing theory, against steps worked out by hand, and against its own
 * books. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/serving_simulator.h"
#include "tests/support/assert_close.h"

/* a + b n + p prompt tokens + k context tokens. */
struct linear_step {
    double fixed_s, per_request_s, per_prompt_token_s, per_context_token_s;
};

static double linear_time(void *context, const struct serving_step *step)
{
    const struct linear_step *linear = context;
    return linear->fixed_s + linear->per_request_s * (double)step->batch +
           linear->per_prompt_token_s * (double)step->prefill_tokens +
           linear->per_context_token_s * (double)step->context_tokens;
}

struct listed_arrivals {
    const struct request_arrival *items;
    size_t count, next;
};

static enum status listed_next(void *context, struct request_arrival *arrival, bool *more, struct error *error)
{
    struct listed_arrivals *list = context;
    (void)error;
    *more = list->next < list->count;
    if (*more) {
        *arrival = list->items[list->next++];
    }
    return STATUS_OK;
}

static struct serving_outcome result;

static enum status simulate_list(const struct serving_config *config, const struct linear_step *linear,
                                 const struct request_arrival *items, size_t count, struct error *error)
{
    struct linear_step copy = *linear;
    struct step_time_source steps = {linear_time, &copy};
    struct listed_arrivals list = {items, count, 0};
    struct arrival_source source = {listed_next, &list};
    return serving_simulate(config, &steps, &source, &result, error);
}

static void run_plan(const struct serving_config *config, const struct linear_step *linear,
                     const struct arrival_plan *plan)
{
    struct linear_step copy = *linear;
    struct step_time_source steps = {linear_time, &copy};
    struct arrival_generator generator;
    struct error error = {0};
    ck_assert_msg(arrival_generator_init(&generator, plan, &error) == STATUS_OK, "%s", error.text);
    struct arrival_source source = arrival_generator_source(&generator);
    ck_assert_msg(serving_simulate(config, &steps, &source, &result, &error) == STATUS_OK, "%s", error.text);
    ck_assert_double_le(result.little_error, 1e-12);
}

/* ---- queueing theory: one request at a time, its service the steps of its tokens */

/* Runs are as long as the statistical error of the mean wait asks: its relative standard deviation is about
 * sqrt(29 / requests) for M/M/1 at a load of a half (the asymptotic variance of the wait), 0.4 % here. Under the slow
 * checkers fewer requests and a tolerance of four standard deviations. */
static uint64_t long_run(void)
{
    return getenv("TEST_QUICK") != NULL ? 20000 : 2000000;
}
static double wait_tolerance(void)
{
    return getenv("TEST_QUICK") != NULL ? 0.16 : 0.02;
}

static struct serving_config one_server(void)
{
    struct serving_config config = serving_config_default();
    config.max_batch = 1;
    return config;
}

START_TEST(fixed_service_waits_as_m_d_1)
{
    /* Ten tokens of 10 ms: S = 0.1 s, load 0.7: W = rho S / (2 (1 - rho)). */
    struct arrival_plan plan = {.process = ARRIVAL_POISSON,
                                .rate_per_s = 7.0,
                                .request_count = long_run(),
                                .input_tokens = 1,
                                .output_tokens = 10,
                                .seed = 11};
    struct serving_config config = one_server();
    run_plan(&config, &(struct linear_step){.per_request_s = 0.01}, &plan);
    assert_close_rel(result.latency[SERVING_WAIT].mean_s, 0.7 * 0.1 / (2.0 * 0.3), wait_tolerance());
    assert_close_rel(result.busy_fraction, 0.7, 0.01 + 0.2 * wait_tolerance());
    ck_assert_uint_eq(result.completed, plan.request_count);
    ck_assert(!result.unstable);
}
END_TEST

START_TEST(memoryless_service_waits_as_m_m_1)
{
    /* Prompts of a geometric number of tokens (mean 10^6) of a ten-millionth second: S is exponential to one part in a
     * million, mean 0.1 s. W = rho S / (1 - rho); the 90th and 99th percentile of the wait are
     * S ln(rho / 0.1) / (1 - rho) and S ln(rho / 0.01) / (1 - rho). */
    struct arrival_plan plan = {.process = ARRIVAL_POISSON,
                                .rate_per_s = 5.0,
                                .request_count = long_run(),
                                .input_tokens = 1e6,
                                .input_spread = LENGTH_GEOMETRIC,
                                .output_tokens = 1,
                                .seed = 12};
    struct serving_config config = one_server();
    run_plan(&config, &(struct linear_step){.per_prompt_token_s = 1e-7}, &plan);
    assert_close_rel(result.latency[SERVING_WAIT].mean_s, 0.5 * 0.1 / 0.5, wait_tolerance());
    assert_close_rel(result.latency[SERVING_TTFT].mean_s, 0.1 / 0.5, wait_tolerance());
    assert_close_rel(result.latency[SERVING_WAIT].p90_s, 0.2 * log(5.0), 1.5 * wait_tolerance());
    assert_close_rel(result.latency[SERVING_WAIT].p99_s, 0.2 * log(50.0), 2.0 * wait_tolerance());
    assert_close_rel(result.mean_in_system, 1.0, wait_tolerance());
}
END_TEST

START_TEST(memoryless_output_waits_as_m_m_1)
{
    /* The same by output tokens: a geometric number, mean 100, of 1 ms each. E[S^2] is 2 S^2 (1 - 1/200). */
    struct arrival_plan plan = {.process = ARRIVAL_POISSON,
                                .rate_per_s = 5.0,
                                .request_count = long_run() / 8,
                                .input_tokens = 1,
                                .output_tokens = 100,
                                .output_spread = LENGTH_GEOMETRIC,
                                .seed = 14};
    struct serving_config config = one_server();
    run_plan(&config, &(struct linear_step){.per_request_s = 0.001}, &plan);
    assert_close_rel(result.latency[SERVING_WAIT].mean_s, 0.1 * (1.0 - 1.0 / 200.0), 2.0 * wait_tolerance());
}
END_TEST

START_TEST(uniform_service_waits_as_m_g_1)
{
    /* 1 to 39 tokens of 5 ms: mean 20, E[L^2] = 400 + (39^2 - 1)/12. W = lambda E[S^2] / (2 (1 - rho)). */
    struct arrival_plan plan = {.process = ARRIVAL_POISSON,
                                .rate_per_s = 6.0,
                                .request_count = long_run(),
                                .input_tokens = 1,
                                .output_tokens = 20,
                                .output_spread = LENGTH_UNIFORM,
                                .seed = 13};
    struct serving_config config = one_server();
    double second_moment = (400.0 + (39.0 * 39.0 - 1.0) / 12.0) * 0.005 * 0.005;
    run_plan(&config, &(struct linear_step){.per_request_s = 0.005}, &plan);
    assert_close_rel(result.latency[SERVING_WAIT].mean_s, 6.0 * second_moment / (2.0 * 0.4), wait_tolerance());
    assert_close_rel(result.output_tokens_per_s, 120.0, 0.01 + 0.2 * wait_tolerance());
}
END_TEST

START_TEST(gamma_gaps_of_cv_one_are_poisson_and_burstier_ones_wait_longer)
{
    struct arrival_plan plan = {.process = ARRIVAL_GAMMA,
                                .rate_per_s = 7.0,
                                .gap_cv = 1.0,
                                .request_count = long_run() / 4,
                                .input_tokens = 1,
                                .output_tokens = 10,
                                .seed = 21};
    struct serving_config config = one_server();
    struct linear_step linear = {.per_request_s = 0.01};
    run_plan(&config, &linear, &plan);
    assert_close_rel(result.latency[SERVING_WAIT].mean_s, 0.7 * 0.1 / (2.0 * 0.3), 2.0 * wait_tolerance());
    double poisson = result.latency[SERVING_WAIT].mean_s;
    plan.gap_cv = 3.0;
    run_plan(&config, &linear, &plan);
    /* Kingman's bound (1962) for G/G/1: W <= (rho / (1 - rho)) S (c_a^2 + c_s^2 / rho^2 ...) / 2 with c_s = 0:
     * lambda var(gap) / (2 (1 - rho)). */
    ck_assert_double_gt(result.latency[SERVING_WAIT].mean_s, 3.0 * poisson);
    ck_assert_double_le(result.latency[SERVING_WAIT].mean_s, 7.0 * 9.0 / 49.0 / (2.0 * 0.3) * (1.0 + wait_tolerance()));
    plan.gap_cv = 0.1;
    run_plan(&config, &linear, &plan);
    ck_assert_double_lt(result.latency[SERVING_WAIT].mean_s, 0.1 * poisson);
}
END_TEST

/* ---- closed loop */

START_TEST(closed_loop_gives_concurrency_over_step)
{
    static const uint64_t concurrencies[] = {1, 2, 7, 8, 48, 96};
    for (size_t i = 0; i < sizeof concurrencies / sizeof concurrencies[0]; i++) {
        uint64_t n = concurrencies[i];
        struct serving_config config = serving_config_default();
        struct arrival_plan plan = {.process = ARRIVAL_CLOSED,
                                    .request_count = 20 * n,
                                    .input_tokens = 100,
                                    .output_tokens = 50,
                                    .output_spread = LENGTH_UNIFORM,
                                    .seed = 3};
        double step = 0.018 + 0.00105 * (double)n;
        config.concurrency = n;
        run_plan(&config, &(struct linear_step){.fixed_s = 0.018, .per_request_s = 0.00105}, &plan);
        assert_close_rel(result.output_tokens_per_s, (double)n / step, 1e-9);
        assert_close_rel(result.latency[SERVING_ITL].p99_s, step, TOL_ROUNDING);
        assert_close_rel(result.mean_batch, (double)n, 1e-12);
        assert_close_rel(result.mean_in_system, (double)n, 1e-12);
        ck_assert_uint_eq(result.peak_in_system, n);
    }
}
END_TEST

START_TEST(concurrency_above_the_batch_waits)
{
    struct serving_config config = serving_config_default();
    struct arrival_plan plan = {
        .process = ARRIVAL_CLOSED, .request_count = 240, .input_tokens = 1, .output_tokens = 10, .seed = 3};
    config.concurrency = 24;
    config.max_batch = 8;
    run_plan(&config, &(struct linear_step){.fixed_s = 0.01, .per_request_s = 0.001}, &plan);
    assert_close_rel(result.output_tokens_per_s, 8.0 / 0.018, 1e-9);
    assert_close_rel(result.mean_waiting, 16.0, 1e-9);
}
END_TEST

START_TEST(batches_are_padded_to_captured_sizes)
{
    struct serving_config config = serving_config_default();
    struct arrival_plan plan = {.process = ARRIVAL_CLOSED, .request_count = 90, .input_tokens = 1, .output_tokens = 10};
    struct linear_step linear = {.fixed_s = 0.01, .per_request_s = 0.001};
    config.captured_count = 3;
    config.captured_sizes[0] = 4;
    config.captured_sizes[1] = 8;
    config.captured_sizes[2] = 16;
    config.concurrency = 9;
    run_plan(&config, &linear, &plan);
    assert_close_rel(result.latency[SERVING_ITL].mean_s, 0.026, TOL_ROUNDING);
    config.concurrency = 8;
    run_plan(&config, &linear, &plan);
    assert_close_rel(result.latency[SERVING_ITL].mean_s, 0.018, TOL_ROUNDING);
    config.concurrency = 17; /* above the largest nothing is padded */
    run_plan(&config, &linear, &plan);
    assert_close_rel(result.latency[SERVING_ITL].mean_s, 0.027, TOL_ROUNDING);
}
END_TEST

START_TEST(drafts_give_the_truncated_geometric_mean)
{
    struct serving_config config = serving_config_default();
    struct arrival_plan plan = {
        .process = ARRIVAL_CLOSED, .request_count = 400, .input_tokens = 1, .output_tokens = 2000};
    double expected = (1.0 - pow(0.7, 4.0)) / (1.0 - 0.7); /* 1 + p + p^2 + p^3 */
    config.concurrency = 4;
    config.draft_tokens = 3;
    config.acceptance = 0.7;
    run_plan(&config, &(struct linear_step){.fixed_s = 0.02}, &plan);
    assert_close_rel(result.output_tokens_per_s, 4.0 * expected / 0.02, 0.01);
    assert_close_rel(result.latency[SERVING_ITL].mean_s, 0.02 / expected, 0.01);
    config.draft_tokens = 0;
    config.tokens_per_step = 2.5; /* without drafts 2.5 means 2 and 3 in turn */
    run_plan(&config, &(struct linear_step){.fixed_s = 0.02}, &plan);
    /* One token with the prompt, 1999 in 800 steps. */
    assert_close_rel(result.output_tokens_per_s, 4.0 * 2000.0 / (801.0 * 0.02), 1e-9);
    assert_close_rel(result.latency[SERVING_ITL].maximum_s, 0.01, TOL_ROUNDING);
}
END_TEST

/* ---- steps by hand */

START_TEST(prompts_are_read_in_chunks_beside_decoding)
{
    /* A (prompt 4, 6 tokens) at 0; B (prompt 10, 2 tokens) at 0.5. Budget 6, a step takes 1 s and 0.1 s per prompt
     * token.
     * A reads 4: 1.4, first token. B joins with 5 tokens beside A's decode: 1.4..2.9; 5 more: ..4.4, B's first token.
     * Then steps of 1 s: A's 4th and B's last at 5.4; A 5th 6.4, 6th 7.4. */
    const struct request_arrival items[] = {{0.0, 4, 6}, {0.5, 10, 2}};
    struct serving_config config = serving_config_default();
    struct error error = {0};
    config.max_batch = 6;
    config.step_token_budget = 6;
    ck_assert_int_eq(
        simulate_list(&config, &(struct linear_step){.fixed_s = 1.0, .per_prompt_token_s = 0.1}, items, 2, &error),
        STATUS_OK);
    assert_close_rel(result.duration_s, 7.4, 1e-12);
    ck_assert_uint_eq(result.steps, 6);
    assert_close_rel(result.latency[SERVING_TTFT].p50_s, 1.4, 1e-12);
    assert_close_rel(result.latency[SERVING_TTFT].maximum_s, 4.4 - 0.5, 1e-12);
    assert_close_rel(result.latency[SERVING_WAIT].maximum_s, 0.9, 1e-12);
    assert_close_rel(result.latency[SERVING_E2E].p50_s, 5.4 - 0.5, 1e-12);
    ck_assert_uint_eq(result.latency[SERVING_ITL].count, 6);
    assert_close_rel(result.latency[SERVING_ITL].maximum_s, 1.5, 1e-12);
    assert_close_rel(result.latency[SERVING_TPOT].maximum_s, 6.0 / 5.0, 1e-12);
    /* Waiting and in the system: B 0.9 s of waiting; A 7.4 s and B 4.9 s in the system. */
    assert_close_rel(result.mean_waiting * 7.4, 0.9, 1e-12);
    assert_close_rel(result.mean_in_system * 7.4, 12.3, 1e-12);
    ck_assert_uint_eq(result.prompt_tokens, 14);
    ck_assert_uint_eq(result.output_tokens, 8);
}
END_TEST

START_TEST(context_makes_later_steps_longer)
{
    /* Prompt 10, 3 tokens: contexts before the steps are 0, 10, 11. */
    const struct request_arrival items[] = {{0.0, 10, 3}};
    struct serving_config config = serving_config_default();
    struct error error = {0};
    ck_assert_int_eq(
        simulate_list(&config, &(struct linear_step){.fixed_s = 1.0, .per_context_token_s = 0.1}, items, 1, &error),
        STATUS_OK);
    assert_close_rel(result.duration_s, 1.0 + 2.0 + 2.1, 1e-12);
}
END_TEST

START_TEST(full_kv_preempts_the_newest_and_computes_it_again)
{
    /* Capacity 12. A and B: prompt 4, 6 tokens each, both at 0. After step 1 both hold 4 (reserved 5). Each step adds
     * one: step 2 reserves 5+5, step 3 6+6 = 12, step 4 needs 7+7: B is preempted with 3 tokens given. A alone until
     * its 6th token at step 6; B reads 4 + 3 again in step 7 (its 4th token), then 2 more steps: 9 steps. */
    const struct request_arrival items[] = {{0.0, 4, 6}, {0.0, 4, 6}};
    struct serving_config config = serving_config_default();
    struct error error = {0};
    config.kv_capacity_tokens = 12;
    ck_assert_int_eq(simulate_list(&config, &(struct linear_step){.fixed_s = 1.0}, items, 2, &error), STATUS_OK);
    ck_assert_uint_eq(result.preemptions, 1);
    ck_assert_uint_eq(result.steps, 9);
    ck_assert_uint_eq(result.completed, 2);
    ck_assert_uint_eq(result.output_tokens, 12);
    ck_assert_uint_eq(result.prompt_tokens, 8);
    ck_assert_uint_eq(result.recomputed_tokens, 6); /* 4 + 2: the entry of the third token is new */
    ck_assert_uint_le(result.kv_peak_tokens, 12);
    assert_close_rel(result.latency[SERVING_ITL].maximum_s, 4.0, 1e-12); /* B from step 3 to step 7 */
    assert_close_rel(result.latency[SERVING_E2E].maximum_s, 9.0, 1e-12);
}
END_TEST

START_TEST(a_preempted_request_goes_before_those_that_wait)
{
    /* As above, and C has waited since 1.5 when B is preempted at 3: B comes back at 6 all the same, C after it. */
    const struct request_arrival items[] = {{0.0, 4, 6}, {0.0, 4, 6}, {1.5, 4, 6}};
    struct serving_config config = serving_config_default();
    struct error error = {0};
    config.kv_capacity_tokens = 12;
    ck_assert_int_eq(simulate_list(&config, &(struct linear_step){.fixed_s = 1.0}, items, 3, &error), STATUS_OK);
    ck_assert_uint_eq(result.preemptions, 1);
    ck_assert_uint_eq(result.completed, 3);
    assert_close_rel(result.latency[SERVING_ITL].maximum_s, 4.0, 1e-12); /* B from step 3 to step 7 */
    assert_close_rel(result.latency[SERVING_WAIT].maximum_s, 9.0 - 1.5, 1e-12);
    assert_close_rel(result.duration_s, 15.0, 1e-12);
}
END_TEST

START_TEST(requests_that_can_never_run_are_rejected_and_counted)
{
    const struct request_arrival items[] = {{0.0, 90, 11}, {0.0, 90, 10}, {1.0, 0, 5}, {1.0, 5, 0}, {2.0, 1, 1}};
    struct serving_config config = serving_config_default();
    struct error error = {0};
    config.kv_capacity_tokens = 100;
    config.limit_count = 1;
    config.limits[0] = (struct serving_limit){SERVING_TTFT, 0.99, 1e6};
    ck_assert_int_eq(simulate_list(&config, &(struct linear_step){.fixed_s = 1.0}, items, 5, &error), STATUS_OK);
    ck_assert_uint_eq(result.arrived, 5);
    ck_assert_uint_eq(result.rejected_kv, 1);
    ck_assert_uint_eq(result.rejected_empty, 2);
    ck_assert_uint_eq(result.completed, 2);
    ck_assert(!result.limits_met);
    config.kv_block_tokens = 16; /* 6 blocks of 16: 100 entries no longer fit */
    ck_assert_int_eq(simulate_list(&config, &(struct linear_step){.fixed_s = 1.0}, items, 5, &error), STATUS_OK);
    ck_assert_uint_eq(result.rejected_kv, 2);
}
END_TEST

START_TEST(goodput_counts_requests_that_keep_every_limit)
{
    /* Batch 1, steps of 1 s, 3 tokens each, arrivals at 0, 0, 0: TTFT 1, 4, 7. */
    const struct request_arrival items[] = {{0.0, 1, 3}, {0.0, 1, 3}, {0.0, 1, 3}};
    struct serving_config config = one_server();
    struct error error = {0};
    config.limit_count = 2;
    config.limits[0] = (struct serving_limit){SERVING_TTFT, 0.5, 4.0};
    config.limits[1] = (struct serving_limit){SERVING_ITL, 0.99, 1.0};
    ck_assert_int_eq(simulate_list(&config, &(struct linear_step){.fixed_s = 1.0}, items, 3, &error), STATUS_OK);
    assert_close_rel(result.within_limits_fraction, 2.0 / 3.0, 1e-12);
    assert_close_rel(result.goodput_requests_per_s, 2.0 / 9.0, 1e-12);
    assert_close_rel(result.goodput_tokens_per_s, 6.0 / 9.0, 1e-12);
    assert_close_rel(result.limit_values_s[0], 4.0, 1e-12);
    ck_assert(result.limits_met);
    config.limits[1].limit_s = 0.9; /* both gaps of every request are late */
    ck_assert_int_eq(simulate_list(&config, &(struct linear_step){.fixed_s = 1.0}, items, 3, &error), STATUS_OK);
    assert_close_zero(result.within_limits_fraction, 0.0);
    ck_assert(!result.limits_met);
}
END_TEST

/* ---- what must hold in every run */

struct witness {
    double last_s;
    uint64_t tokens, ends, events;
};

static void observe(void *context, enum serving_event event, double time_s, uint64_t request, uint64_t tokens)
{
    struct witness *witness = context;
    (void)request;
    if (!(time_s >= witness->last_s)) /* a message for each event would drown the runner */
        ck_abort_msg("%g after %g", time_s, witness->last_s);
    witness->last_s = time_s;
    witness->events++;
    witness->tokens += event == SERVING_EVENT_TOKENS ? tokens : 0;
    witness->ends += event == SERVING_EVENT_END;
}

START_TEST(books_balance_in_every_run_and_time_never_goes_back)
{
    for (uint64_t seed = 1; seed <= 24; seed++) {
        struct witness witness = {0};
        struct serving_config config = serving_config_default();
        struct arrival_plan plan = {.process = (enum arrival_process)(seed % 3),
                                    .rate_per_s = 2.0 + (double)(seed % 7),
                                    .gap_cv = 2.0,
                                    .request_count = 600,
                                    .input_tokens = 60,
                                    .output_tokens = 30,
                                    .input_spread = LENGTH_UNIFORM,
                                    .output_spread = LENGTH_GEOMETRIC,
                                    .seed = seed};
        config.max_batch = 1 + seed % 9;
        config.step_token_budget = seed % 2 ? 24 : 0;
        config.kv_capacity_tokens = seed % 4 ? 400 : 0;
        config.kv_block_tokens = 1 + seed % 5;
        config.concurrency = plan.process == ARRIVAL_CLOSED ? 5 : 0;
        config.draft_tokens = seed % 5 == 0 ? 3 : 0;
        config.acceptance = 0.6;
        config.horizon_s = seed % 6 == 5 ? 20.0 : (double)INFINITY;
        config.seed = seed;
        config.observe = observe;
        config.observe_context = &witness;
        run_plan(&config, &(struct linear_step){0.01, 0.001, 1e-4, 1e-6}, &plan);
        ck_assert_uint_eq(result.arrived, result.rejected_kv + result.completed + result.unfinished);
        ck_assert_uint_eq(witness.tokens, result.output_tokens);
        ck_assert_uint_eq(witness.ends, result.completed);
        if (config.kv_capacity_tokens > 0) {
            ck_assert_uint_le(result.kv_peak_tokens, config.kv_capacity_tokens);
        }
        if (!result.horizon_reached && config.concurrency == 0) {
            ck_assert_uint_eq(result.unfinished, 0);
            ck_assert_uint_eq(result.outstanding_tokens, 0);
        }
        ck_assert_double_le(result.busy_fraction, 1.0 + 1e-12);
    }
}
END_TEST

START_TEST(same_seed_same_result_and_another_seed_another)
{
    static struct serving_outcome first;
    struct serving_config config = serving_config_default();
    struct arrival_plan plan = {.process = ARRIVAL_GAMMA,
                                .rate_per_s = 3.0,
                                .gap_cv = 1.5,
                                .request_count = 2000,
                                .input_tokens = 50,
                                .output_tokens = 40,
                                .output_spread = LENGTH_UNIFORM,
                                .seed = 5};
    struct linear_step linear = {0.01, 0.001, 1e-4, 0.0};
    config.max_batch = 8;
    run_plan(&config, &linear, &plan);
    first = result;
    run_plan(&config, &linear, &plan);
    ck_assert_mem_eq(&first, &result, sizeof result);
    plan.seed = 6;
    run_plan(&config, &linear, &plan);
    ck_assert_double_ne(first.latency[SERVING_TTFT].mean_s, result.latency[SERVING_TTFT].mean_s);
}
END_TEST

START_TEST(overload_is_told_and_ends_at_the_horizon)
{
    struct serving_config config = serving_config_default();
    struct arrival_plan plan = {.process = ARRIVAL_POISSON,
                                .rate_per_s = 20.0,
                                .request_count = 20000,
                                .input_tokens = 1,
                                .output_tokens = 10,
                                .seed = 7};
    struct linear_step linear = {.fixed_s = 0.01};
    config.max_batch = 1; /* serves 10 requests a second */
    config.horizon_s = 300.0;
    run_plan(&config, &linear, &plan);
    ck_assert(result.unstable);
    ck_assert(result.horizon_reached);
    assert_close_rel(result.duration_s, 300.0, 1e-12);
    assert_close_rel(result.queue_growth_per_s, 10.0, 0.05);
    assert_close_rel(result.requests_per_s, 10.0, 0.01);
    ck_assert_uint_gt(result.unfinished, 2000);
    config.horizon_s = (double)INFINITY; /* without one the queue is served to its end, and the answer is the same */
    run_plan(&config, &linear, &plan);
    ck_assert(result.unstable);
    ck_assert_uint_eq(result.completed, 20000);
    assert_close_rel(result.queue_growth_per_s, 10.0, 0.05);
    plan.rate_per_s = 1e9; /* all at once */
    run_plan(&config, &linear, &plan);
    ck_assert(result.unstable);
    for (uint64_t seed = 1; seed <= 10; seed++) { /* a load of 0.9 is none */
        plan.rate_per_s = 9.0;
        plan.seed = seed;
        config.horizon_s = (double)INFINITY;
        run_plan(&config, &linear, &plan);
        ck_assert(!result.unstable);
    }
}
END_TEST

/* A load that is not to be served, with as many requests as one likes: the run says so and ends, and its memory is that
 * of the queue. */
START_TEST(overload_ends_where_too_many_wait)
{
    struct serving_config config = serving_config_default();
    struct arrival_plan plan = {.process = ARRIVAL_POISSON,
                                .rate_per_s = 20.0,
                                .request_count = 1000000000000,
                                .input_tokens = 1,
                                .output_tokens = 10,
                                .seed = 7};
    struct linear_step linear = {.fixed_s = 0.01};
    config.max_batch = 1; /* serves 10 requests a second */
    config.queue_limit = 5000;
    run_plan(&config, &linear, &plan);
    ck_assert(result.queue_limit_reached && !result.horizon_reached);
    ck_assert(result.unstable && result.limits_met); /* no limit was asked for */
    ck_assert_uint_eq(result.unfinished, 5002);      /* 5001 wait, one runs */
    ck_assert_uint_eq(result.peak_in_system, 5002);
    assert_close_rel(result.queue_growth_per_s, 10.0, 0.05);
    assert_close_rel(result.duration_s, 500.0, 0.1);
    assert_close_rel(result.busy_fraction, 1.0, 0.01);
    config.horizon_s = 100.0; /* comes first */
    run_plan(&config, &linear, &plan);
    ck_assert(result.horizon_reached && !result.queue_limit_reached);
    config.horizon_s = (double)INFINITY;
    plan.rate_per_s = 1e9; /* within one step */
    config.limits[config.limit_count++] = (struct serving_limit){SERVING_WAIT, 0.5, 1e9};
    run_plan(&config, &linear, &plan);
    ck_assert(result.queue_limit_reached && !result.limits_met);
    ck_assert_double_lt(result.duration_s, 0.01);
    plan.rate_per_s = 9.0; /* a load that can be served never comes near the limit */
    plan.request_count = 100000;
    run_plan(&config, &linear, &plan);
    ck_assert(!result.queue_limit_reached && result.limits_met);
    ck_assert_uint_eq(result.completed, 100000);
}
END_TEST

START_TEST(closed_loop_ends_at_the_horizon_in_the_middle_of_a_step)
{
    struct serving_config config = serving_config_default();
    struct arrival_plan plan = {
        .process = ARRIVAL_CLOSED, .request_count = 1000, .input_tokens = 1, .output_tokens = 10};
    config.concurrency = 4;
    config.horizon_s = 2.55; /* 25 steps of 0.1 s and a half */
    run_plan(&config, &(struct linear_step){.fixed_s = 0.1}, &plan);
    ck_assert(result.horizon_reached);
    ck_assert_uint_eq(result.output_tokens, 100);
    ck_assert_uint_eq(result.completed, 8);
    ck_assert_uint_eq(result.unfinished, 4);
    assert_close_rel(result.busy_fraction, 1.0, 1e-12);
    assert_close_rel(result.duration_s, 2.55, TOL_ROUNDING);
}
END_TEST

START_TEST(memory_follows_requests_in_flight)
{
    struct serving_config config = serving_config_default();
    struct arrival_plan plan = {
        .process = ARRIVAL_CLOSED, .request_count = 50000, .input_tokens = 1, .output_tokens = 2, .seed = 3};
    config.concurrency = 16;
    run_plan(&config, &(struct linear_step){.fixed_s = 0.01}, &plan);
    ck_assert_uint_eq(result.peak_in_system, 16);
    ck_assert_uint_ge(result.completed, 49984);
}
END_TEST

START_TEST(history_adds_up)
{
    struct serving_config config = one_server();
    struct arrival_plan plan = {.process = ARRIVAL_POISSON,
                                .rate_per_s = 8.0,
                                .request_count = 5000,
                                .input_tokens = 1,
                                .output_tokens = 10,
                                .seed = 9};
    double waiting = 0.0, running = 0.0;
    run_plan(&config, &(struct linear_step){.fixed_s = 0.01}, &plan);
    for (size_t i = 0; i < result.history.count; i++) {
        waiting += result.history.intervals[i].waiting_s;
        running += result.history.intervals[i].running_s;
    }
    assert_close_rel(waiting, result.mean_waiting * result.duration_s, 1e-9);
    assert_close_rel(running, result.mean_running * result.duration_s, 1e-9);
    ck_assert_double_le(result.duration_s, result.history.width_s * (double)result.history.count);
    assert_close_rel(queue_history_waiting(&result.history, 0.0, result.duration_s), result.mean_waiting, 1e-9);
}
END_TEST

START_TEST(highest_rate_is_found_within_its_tolerance)
{
    /* M/D/1 with a limit on the mean wait W: rho = 2 W / (S + 2 W); W = S gives 2/3, so 6.67 requests per second. */
    struct serving_config config = one_server();
    struct linear_step linear = {.fixed_s = 0.1};
    struct step_time_source steps = {linear_time, &linear};
    struct arrival_plan plan = {.process = ARRIVAL_POISSON,
                                .rate_per_s = 1.0,
                                .request_count = 200000,
                                .input_tokens = 1,
                                .output_tokens = 1,
                                .seed = 4};
    struct rate_search search = {.tolerance = 0.005};
    struct error error = {0};
    config.limit_count = 1;
    config.limits[0] = (struct serving_limit){SERVING_WAIT, (double)NAN, 0.1};
    ck_assert_msg(serving_find_rate(&config, &steps, &plan, 10.0, &search, &result, &error) == STATUS_OK, "%s",
                  error.text);
    ck_assert(search.bounded);
    ck_assert_double_le(search.highest_per_s, search.lowest_per_s * 1.005);
    assert_close_rel(search.lowest_per_s, 20.0 / 3.0, 0.015);
    ck_assert(result.limits_met);
    config.limits[0] = (struct serving_limit){SERVING_ITL, 0.99, 0.05};
    plan.output_tokens = 5; /* no rate makes a step of 0.1 s shorter */
    plan.request_count = 100;
    ck_assert_int_eq(serving_find_rate(&config, &steps, &plan, 10.0, &search, &result, &error), STATUS_OK);
    ck_assert(!search.bounded);
    assert_close_zero(search.lowest_per_s, 0.0);
}
END_TEST

START_TEST(wrong_arrivals_and_settings_are_refused)
{
    const struct request_arrival back[] = {{1.0, 1, 1}, {0.5, 1, 1}}, negative[] = {{-1.0, 1, 1}};
    const struct request_arrival one[] = {{0.0, 1, 1}};
    struct linear_step linear = {.fixed_s = 1.0}, frozen = {0};
    struct serving_config config = serving_config_default();
    struct error error = {0};
    ck_assert_int_eq(simulate_list(&config, &linear, back, 2, &error), STATUS_BAD_DATA);
    ck_assert_ptr_nonnull(strstr(error.text, "request 2 arrives at 0.5 s, before"));
    ck_assert_int_eq(simulate_list(&config, &linear, negative, 1, &error), STATUS_BAD_DATA);
    ck_assert_int_eq(simulate_list(&config, &frozen, one, 1, &error), STATUS_DOMAIN);
    config.step_token_budget = 8; /* below the largest batch */
    ck_assert_int_eq(simulate_list(&config, &linear, one, 1, &error), STATUS_DOMAIN);
    config = serving_config_default();
    config.concurrency = 2;
    ck_assert_int_eq(simulate_list(&config, &linear, one, 1, &error), STATUS_DOMAIN);
    config = serving_config_default();
    config.captured_count = 2;
    config.captured_sizes[0] = config.captured_sizes[1] = 4;
    ck_assert_int_eq(simulate_list(&config, &linear, one, 1, &error), STATUS_DOMAIN);
    config = serving_config_default();
    config.tokens_per_step = 0.5;
    ck_assert_int_eq(simulate_list(&config, &linear, one, 1, &error), STATUS_DOMAIN);
}
END_TEST

START_TEST(nothing_to_do_is_an_answer)
{
    struct serving_config config = serving_config_default();
    struct error error = {0};
    ck_assert_int_eq(simulate_list(&config, &(struct linear_step){.fixed_s = 1.0}, NULL, 0, &error), STATUS_OK);
    ck_assert_uint_eq(result.arrived, 0);
    assert_close_zero(result.duration_s, 0.0);
    ck_assert(isnan(result.latency[SERVING_TTFT].mean_s));
}
END_TEST

Suite *suite_serving_simulator(void);
Suite *suite_serving_simulator(void)
{
    Suite *suite = suite_create("serving_simulator");
    TCase *theory = tcase_create("queueing theory"), *rules = tcase_create("rules"), *books = tcase_create("books");
    tcase_set_timeout(theory, 120);
    tcase_set_timeout(books, 120);
    tcase_add_test(theory, fixed_service_waits_as_m_d_1);
    tcase_add_test(theory, memoryless_service_waits_as_m_m_1);
    tcase_add_test(theory, memoryless_output_waits_as_m_m_1);
    tcase_add_test(theory, uniform_service_waits_as_m_g_1);
    tcase_add_test(theory, gamma_gaps_of_cv_one_are_poisson_and_burstier_ones_wait_longer);
    tcase_add_test(rules, closed_loop_gives_concurrency_over_step);
    tcase_add_test(rules, concurrency_above_the_batch_waits);
    tcase_add_test(rules, batches_are_padded_to_captured_sizes);
    tcase_add_test(rules, drafts_give_the_truncated_geometric_mean);
    tcase_add_test(rules, prompts_are_read_in_chunks_beside_decoding);
    tcase_add_test(rules, context_makes_later_steps_longer);
    tcase_add_test(rules, full_kv_preempts_the_newest_and_computes_it_again);
    tcase_add_test(rules, a_preempted_request_goes_before_those_that_wait);
    tcase_add_test(rules, requests_that_can_never_run_are_rejected_and_counted);
    tcase_add_test(rules, goodput_counts_requests_that_keep_every_limit);
    tcase_add_test(books, books_balance_in_every_run_and_time_never_goes_back);
    tcase_add_test(books, same_seed_same_result_and_another_seed_another);
    tcase_add_test(books, overload_is_told_and_ends_at_the_horizon);
    tcase_add_test(books, overload_ends_where_too_many_wait);
    tcase_add_test(books, closed_loop_ends_at_the_horizon_in_the_middle_of_a_step);
    tcase_add_test(books, memory_follows_requests_in_flight);
    tcase_add_test(books, history_adds_up);
    tcase_add_test(books, highest_rate_is_found_within_its_tolerance);
    tcase_add_test(books, wrong_arrivals_and_settings_are_refused);
    tcase_add_test(books, nothing_to_do_is_an_answer);
    suite_add_tcase(suite, theory);
    suite_add_tcase(suite, rules);
    suite_add_tcase(suite, books);
    return suite;
}
