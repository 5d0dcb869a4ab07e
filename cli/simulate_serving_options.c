/* SPDX-License-Identifier: GPL-3.0-or-later
 * Options of `occam simulate serving`, their defaults and their contradictions. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text_buffer.h"
#include "base/units.h"
#include "cli/simulate_serving.h"

enum {
    REQUESTS_DEFAULT = 10000,
    BATCH_DEFAULT = 256,
    TOKENS_DEFAULT = 1000,
    COUNT_MAX = 1000000000,
    SEEDS_MAX = 1000,
    QUEUE_LIMIT_DEFAULT = 100000 /* some 20 MB; far more than any service lets wait */
};

static struct serving_options default_options(void)
{
    return (struct serving_options){.question = {.level = QUESTION_LEVEL_DEFAULT},
                                    .lengths = "fixed",
                                    .step = "law",
                                    .rate_per_s = (double)NAN,
                                    .gap_cv = (double)NAN,
                                    .acceptance = (double)NAN,
                                    .horizon_s = (double)NAN,
                                    .tolerance = 0.01,
                                    .speed = 1.0,
                                    .input_tokens = TOKENS_DEFAULT,
                                    .output_tokens = TOKENS_DEFAULT,
                                    .seed = 1,
                                    .seeds = 1,
                                    .kv_block = 1,
                                    .queue_limit = QUEUE_LIMIT_DEFAULT};
}

/* Options that only say more of another one. */
static enum status check_companions(const struct serving_options *options, const struct option_row *rows, size_t count,
                                    const struct operands *operands, struct error *error)
{
    static const char *const of_traces[] = {"input-tokens", "output-tokens", "lengths"};
    const struct {
        const char *name;
        bool has_effect;
        const char *needs;
    } rules[] = {{"tolerance", options->find != NULL, "--find max-rate"},
                 {"kv-block", options->kv_tokens > 0, "--kv-tokens"},
                 {"context-reference", options->context_ns_per_token > 0.0, "--context-ns-per-token"},
                 {"level", options->seeds > 1, "--seeds"}};

    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (!rules[i].has_effect && option_given(rows, count, operands, rules[i].name))
            return error_set(error, STATUS_USAGE, "--%s goes with %s", rules[i].name, rules[i].needs);
    for (size_t i = 0; i < sizeof of_traces / sizeof of_traces[0] && options->trace != NULL; i++)
        if (option_given(rows, count, operands, of_traces[i]))
            return error_set(error, STATUS_USAGE, "a trace has its own lengths: --%s does not go with it",
                             of_traces[i]);
    return STATUS_OK;
}

enum status serving_options_read(int argc, char **argv, struct serving_setup *setup, struct operands *operands,
                                 struct error *error)
{
    struct serving_options *options = &setup->options;
    const struct option_row rows[] = {
        QUESTION_OPTION_ROWS(options->question),
        QUESTION_FORMAT_ROW(options->question),
        {0, "arrivals", OPTION_TEXT, &options->arrivals, 0, 0},
        {0, "rate", OPTION_NUMBER, &options->rate_per_s, 1e-9, 1e9},
        {0, "cv", OPTION_NUMBER, &options->gap_cv, 0.01, 100},
        {0, "concurrency", OPTION_COUNT, &options->concurrency, 1, CONCURRENCY_MAX},
        {0, "requests", OPTION_COUNT, &options->requests, 1, COUNT_MAX},
        {0, "trace", OPTION_TEXT, &options->trace, 0, 0},
        {0, "skip-bad", OPTION_FLAG, &options->skip_bad, 0, 0},
        {0, "speed", OPTION_NUMBER, &options->speed, 1e-6, 1e6},
        {0, "input-tokens", OPTION_COUNT, &options->input_tokens, 1, REQUEST_TOKENS_MAX},
        {0, "output-tokens", OPTION_COUNT, &options->output_tokens, 1, REQUEST_TOKENS_MAX},
        {0, "lengths", OPTION_TEXT, &options->lengths, 0, 0},
        {0, "step", OPTION_TEXT, &options->step, 0, 0},
        {0, "measured", OPTION_TEXT, &options->measured, 0, 0},
        {0, "prefill-us-per-token", OPTION_NUMBER, &options->prefill_us_per_token, 0, 1e6},
        {0, "context-ns-per-token", OPTION_NUMBER, &options->context_ns_per_token, 0, 1e6},
        {0, "context-reference", OPTION_COUNT, &options->context_reference, 0, REQUEST_TOKENS_MAX},
        {0, "max-batch", OPTION_COUNT, &options->max_batch, 1, CONCURRENCY_MAX},
        {0, "token-budget", OPTION_COUNT, &options->token_budget, 1, REQUEST_TOKENS_MAX},
        {0, "kv-tokens", OPTION_COUNT, &options->kv_tokens, 1, 1e15},
        {0, "kv-block", OPTION_COUNT, &options->kv_block, 1, 1e6},
        {0, "captured", OPTION_NUMBERS, &options->captured, 1, CONCURRENCY_MAX},
        {0, "draft-tokens", OPTION_COUNT, &options->draft_tokens, 1, 64},
        {0, "acceptance", OPTION_NUMBER, &options->acceptance, 0, 1},
        {0, "warmup", OPTION_COUNT, &options->warmup, 0, COUNT_MAX},
        {0, "horizon", OPTION_DURATION, &options->horizon_s, 0, 0},
        {0, "queue-limit", OPTION_COUNT, &options->queue_limit, 1, COUNT_MAX},
        {0, "slo", OPTION_TEXT, &options->limits, 0, 0},
        {0, "find", OPTION_TEXT, &options->find, 0, 0},
        {0, "tolerance", OPTION_NUMBER, &options->tolerance, 1e-4, 0.5},
        {0, "queue", OPTION_TEXT, &options->queue, 0, 0},
        {0, "seed", OPTION_COUNT, &options->seed, 0, 9007199254740992.0},
        {0, "seeds", OPTION_COUNT, &options->seeds, 1, SEEDS_MAX},
    };

    const size_t count = sizeof rows / sizeof rows[0];
    enum status status;

    *options = default_options();
    status = options_parse(argc, argv, rows, count, "SCENARIO", 1, 1, operands, error);
    return status == STATUS_OK ? check_companions(options, rows, count, operands, error) : status;
}

/* ---- limits */

static enum status limit_bad(const char *text, struct error *error)
{
    return error_set(error, STATUS_USAGE,
                     "option --slo: \"%s\" is not a limit such as itl_p99=50ms, ttft_p99.9=2s or tpot_mean=20ms; the "
                     "times are ttft, itl, tpot, e2e, wait",
                     text);
}

static bool statistic_read(const char *text, double *quantile)
{
    double percent;

    *quantile = (double)NAN;
    if (strcmp(text, "mean") == 0)
        return true;
    if (*text != 'p' || number_parse(text + 1, &percent) != STATUS_OK || percent < 0.0 || percent > 100.0)
        return false;
    *quantile = percent / 100.0;
    return true;
}

static bool duration_read(const char *text, double *seconds)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"us", SECONDS_PER_US}, {"ms", SECONDS_PER_MS}, {"s", 1.0}, {"m", 60.0}};
    size_t length = strspn(text, "0123456789.");
    char number[32];

    if (length >= sizeof number)
        return false;
    (void)snprintf(number, sizeof number, "%.*s", (int)length, text);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(text + length, units[i].unit) == 0 && number_parse(number, seconds) == STATUS_OK && *seconds > 0.0) {
            *seconds *= units[i].seconds;
            return true;
        }
    return false;
}

/* "itl_p99=50ms". */
static enum status limit_read(const char *text, struct serving_limit *limit, struct error *error)
{
    char copy[80], *statistic, *value;

    (void)snprintf(copy, sizeof copy, "%s", text);
    statistic = strchr(copy, '_');
    value = strchr(copy, '=');
    if (statistic == NULL || value == NULL || value < statistic || strlen(text) >= sizeof copy - 1)
        return limit_bad(text, error);
    *statistic++ = '\0';
    *value++ = '\0';
    for (int i = 0; i < SERVING_METRIC_COUNT; i++) {
        limit->metric = (enum serving_metric)i;
        if (strcmp(copy, serving_metric_name(limit->metric)) == 0)
            return statistic_read(statistic, &limit->quantile) && duration_read(value, &limit->limit_s)
                       ? STATUS_OK
                       : limit_bad(text, error);
    }
    return limit_bad(text, error);
}

static enum status limits_read(const char *text, struct serving_config *config, struct error *error)
{
    enum status status = STATUS_OK;
    char item[80];

    while (status == STATUS_OK && text != NULL) {
        size_t length = strcspn(text, ",");

        if (config->limit_count == SERVING_LIMITS_MAX)
            return error_set(error, STATUS_USAGE, "option --slo: more than %d limits", SERVING_LIMITS_MAX);
        (void)snprintf(item, sizeof item, "%.*s", (int)(length < sizeof item ? length : sizeof item - 1), text);
        status = limit_read(item, &config->limits[config->limit_count++], error);
        text = text[length] == ',' ? text + length + 1 : NULL;
    }
    return status;
}

/* ---- arrivals */

static enum status choose_arrivals(struct serving_setup *setup, struct error *error)
{
    static const struct {
        const char *name;
        enum arrival_process process;
        bool trace;
    } kinds[] = {{"closed", ARRIVAL_CLOSED, false},
                 {"poisson", ARRIVAL_POISSON, false},
                 {"gamma", ARRIVAL_GAMMA, false},
                 {"trace", ARRIVAL_POISSON, true}};
    const struct serving_options *options = &setup->options;
    const char *name = options->arrivals;

    if (name == NULL) {
        bool random = !isnan(options->rate_per_s) || options->find != NULL;

        name = options->trace != NULL ? "trace" : !isnan(options->gap_cv) ? "gamma" : random ? "poisson" : "closed";
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(name, kinds[i].name) != 0)
            continue;
        setup->plan.process = kinds[i].process;
        setup->from_trace = options->trace != NULL;
        setup->arrivals_name = kinds[i].name;
        if (kinds[i].trace && options->trace == NULL)
            return error_set(error, STATUS_USAGE, "--arrivals trace needs --trace FILE");
        if (!kinds[i].trace && options->trace != NULL && kinds[i].process != ARRIVAL_CLOSED)
            return error_set(error, STATUS_USAGE,
                             "a trace has its own times: --trace goes with --arrivals trace or closed, not %s", name);
        return STATUS_OK;
    }
    return error_set(error, STATUS_USAGE, "option --arrivals: \"%s\" is none of closed, poisson, gamma, trace", name);
}

/* An option that would have no effect is a misunderstanding. */
static enum status check_effects(const struct serving_setup *setup, struct error *error)
{
    const struct serving_options *options = &setup->options;
    bool closed = setup->plan.process == ARRIVAL_CLOSED, random = !closed && !setup->from_trace;
    const struct {
        bool wrong;
        const char *text;
    } rules[] = {
        {!random && !isnan(options->rate_per_s), "--rate goes with --arrivals poisson or gamma"},
        {setup->plan.process != ARRIVAL_GAMMA && !isnan(options->gap_cv), "--cv goes with --arrivals gamma"},
        {setup->plan.process == ARRIVAL_GAMMA && isnan(options->gap_cv), "--arrivals gamma needs --cv"},
        {random && isnan(options->rate_per_s) && options->find == NULL, "--arrivals poisson and gamma need --rate"},
        {!closed && options->concurrency > 0,
         "--concurrency goes with --arrivals closed; --max-batch limits the batch of the others"},
        {setup->from_trace && options->requests > 0, "a trace has its own requests: --requests does not go with it"},
        {!setup->from_trace && options->skip_bad, "--skip-bad goes with --trace"},
        {(!setup->from_trace || closed) && options->speed != 1.0, "--speed goes with --arrivals trace"},
        {(options->draft_tokens > 0) != !isnan(options->acceptance), "--draft-tokens and --acceptance go together"},
        {options->find != NULL && !random, "--find max-rate goes with --arrivals poisson or gamma"},
        {options->find != NULL && strcmp(options->find, "max-rate") != 0,
         "option --find: max-rate is what can be found"},
        {options->find != NULL && options->limits == NULL, "--find max-rate needs --slo"},
        {options->find != NULL && options->seeds > 1, "--find and --seeds do not go together"},
        {options->queue != NULL && options->seeds > 1, "--queue writes one run: it does not go with --seeds"},
    };

    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (rules[i].wrong)
            return error_set(error, STATUS_USAGE, "%s", rules[i].text);
    return STATUS_OK;
}

static enum status plan_make(struct serving_setup *setup, struct error *error)
{
    const struct serving_options *options = &setup->options;
    struct arrival_plan *plan = &setup->plan;
    int spread = 0;

    while (spread < LENGTH_SPREAD_COUNT &&
           strcmp(options->lengths, length_spread_name((enum length_spread)spread)) != 0)
        spread++;
    if (spread == LENGTH_SPREAD_COUNT)
        return error_set(error, STATUS_USAGE, "option --lengths: \"%s\" is none of fixed, uniform, geometric",
                         options->lengths);
    plan->input_spread = plan->output_spread = (enum length_spread)spread;
    plan->rate_per_s = isnan(options->rate_per_s) ? 1.0 : options->rate_per_s;
    plan->gap_cv = options->gap_cv;
    plan->input_tokens = (double)options->input_tokens;
    plan->output_tokens = (double)options->output_tokens;
    plan->seed = options->seed;
    plan->request_count = options->requests > 0 ? options->requests : REQUESTS_DEFAULT;
    if (!setup->from_trace && options->warmup >= plan->request_count)
        return error_set(error, STATUS_USAGE, "--warmup %llu leaves none of %llu requests to be measured",
                         (unsigned long long)options->warmup, (unsigned long long)plan->request_count);
    return STATUS_OK;
}

static enum status captured_read(const struct number_list *list, struct serving_config *config, struct error *error)
{
    if (list->count > SERVING_CAPTURED_MAX)
        return error_set(error, STATUS_USAGE, "option --captured: more than %d sizes", SERVING_CAPTURED_MAX);
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i] != floor(list->items[i]) || (i > 0 && list->items[i] <= list->items[i - 1]))
            return error_set(error, STATUS_USAGE, "option --captured: whole numbers that rise are expected");
        config->captured_sizes[i] = (uint64_t)list->items[i];
    }
    config->captured_count = (uint32_t)list->count;
    return STATUS_OK;
}

static void config_make(struct serving_setup *setup)
{
    const struct serving_options *options = &setup->options;
    struct serving_config *config = &setup->config;
    bool closed = setup->plan.process == ARRIVAL_CLOSED;

    if (closed)
        config->concurrency = options->concurrency > 0
                                  ? options->concurrency
                                  : (uint64_t)fmax(1.0, question_concurrency(&setup->question, setup->question.values));
    config->max_batch = options->max_batch > 0 ? options->max_batch : BATCH_DEFAULT;
    if (options->max_batch == 0 && config->concurrency > config->max_batch)
        config->max_batch = config->concurrency;
    config->step_token_budget = options->token_budget;
    config->kv_capacity_tokens = options->kv_tokens;
    config->kv_block_tokens = options->kv_block;
    config->draft_tokens = (uint32_t)options->draft_tokens;
    config->acceptance = isnan(options->acceptance) ? 0.0 : options->acceptance;
    config->warmup_requests = options->warmup;
    config->queue_limit = options->queue_limit;
    if (!isnan(options->horizon_s))
        config->horizon_s = options->horizon_s;
}

enum status serving_setup_make(struct serving_setup *setup, struct error *error)
{
    enum status status = choose_arrivals(setup, error);

    setup->config = serving_config_default();
    if (status == STATUS_OK)
        status = check_effects(setup, error);
    if (status == STATUS_OK)
        status = plan_make(setup, error);
    if (status == STATUS_OK)
        status = limits_read(setup->options.limits, &setup->config, error);
    if (status == STATUS_OK)
        status = captured_read(&setup->options.captured, &setup->config, error);
    if (status == STATUS_OK)
        config_make(setup);
    return status;
}
