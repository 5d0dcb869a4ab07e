/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam judge`: base against variant as measured, beside what was predicted. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text_buffer.h"
#include "calibrate/experiment/judged_dates.h"
#include "calibrate/experiment/statement_claim.h"
#include "cli/command.h"
#include "cli/experiment_texts.h"
#include "cli/judge.h"
#include "cli/options.h"

enum {
    BY_MAX = JUDGED_COLUMNS_MAX,
    SETTINGS_MAX = 64,
    MARGIN_PERCENT = 2
};

struct judge_options {
    uint64_t hypothesis, conditions;
    const char *claim, *metric, *by, *ledger;
    double level, noise_percent, margin_percent;
    bool revert, power;
    enum output_format format;
    struct operands operands;
};

static enum status parse(int argc, char **argv, struct judge_options *options, struct error *error)
{
    const struct option_row rows[] = {
        {0, "hypothesis", OPTION_COUNT, &options->hypothesis, 1, 1e15},
        {.name = "claim", .kind = OPTION_TEXT, .target = &options->claim},
        {.name = "revert", .kind = OPTION_FLAG, .target = &options->revert},
        {.name = "metric", .kind = OPTION_TEXT, .target = &options->metric},
        {.name = "by", .kind = OPTION_TEXT, .target = &options->by},
        {0, "level", OPTION_NUMBER, &options->level, 0.5, 0.9999},
        {0, "noise", OPTION_NUMBER, &options->noise_percent, 0.01, 50},
        {0, "margin", OPTION_NUMBER, &options->margin_percent, 0.01, 50},
        {.name = "power", .kind = OPTION_FLAG, .target = &options->power},
        {0, "conditions", OPTION_COUNT, &options->conditions, 1, 1000},
        {.name = "ledger", .kind = OPTION_TEXT, .target = &options->ledger},
        {.name = "format", .kind = OPTION_FORMAT, .target = &options->format},
    };
    enum status status =
        options_parse(argc, argv, rows, sizeof rows / sizeof rows[0], "BASE VARIANT", 0, 2, &options->operands, error);
    if (status == STATUS_OK && options->operands.count != (options->power ? 0 : 2)) {
        status = error_set(error, STATUS_USAGE,
                           options->power ? "--power takes no files" : "two files are compared: BASE VARIANT");
    }
    if (status == STATUS_OK && options->margin_percent > 0 && !options->revert) {
        status = error_set(error, STATUS_USAGE, "option --margin goes with --revert");
    }
    if (status == STATUS_OK && options->conditions > 0 && !options->power) {
        status = error_set(error, STATUS_USAGE, "option --conditions goes with --power");
    }
    if (status == STATUS_OK && options->power &&
        (options->hypothesis > 0 || options->claim != NULL || options->revert || options->metric != NULL ||
         options->by != NULL || options->ledger != NULL)) {
        status =
            error_set(error, STATUS_USAGE,
                      "--power takes no files: --hypothesis, --claim, --revert, --metric, --by and --ledger do not "
                      "go with it");
    }
    if (status == STATUS_OK && options->hypothesis == 0 && options->ledger != NULL) {
        status = error_set(error, STATUS_USAGE, "option --ledger goes with --hypothesis");
    }
    options->margin_percent = options->margin_percent > 0 ? options->margin_percent : MARGIN_PERCENT;
    options->conditions = options->conditions > 0 ? options->conditions : 1;
    if (status == STATUS_OK && options->hypothesis > 0 && options->claim != NULL) {
        status = error_set(error, STATUS_USAGE, "the hypothesis says what is claimed: leave out --claim");
    }
    return status;
}

/* ---- power ----------------------------------------------------------------------------------------------------------
 */

static enum status print_power(const struct judge_options *options, struct error *error)
{
    static const double effects[] = {0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2};
    static const size_t repeats[] = {1, 2, 3, 5, 10, 20};
    static const struct report_column columns[] = {
        {"effect_percent", "effect %", 3}, {"runs_1", "1 run", 2},    {"runs_2", "2 runs", 2},  {"runs_3", "3 runs", 2},
        {"runs_5", "5 runs", 2},           {"runs_10", "10 runs", 2}, {"runs_20", "20 runs", 2}};
    struct report report = {0};
    report_number(&report, "noise_percent", options->noise_percent);
    report_integer(&report, "conditions", (int64_t)options->conditions);
    report_number(&report, "level", options->level);
    report_begin_array(&report, "effects");
    for (size_t i = 0; i < sizeof effects / sizeof effects[0]; i++) {
        report_begin_object(&report, NULL);
        report_number(&report, "effect_percent", 100 * effects[i]);
        for (size_t k = 0; k < sizeof repeats / sizeof repeats[0]; k++) {
            char key[32];
            (void)snprintf(key, sizeof key, "runs_%zu", repeats[k]);
            report_number(&report, key,
                          effect_power(effects[i], options->noise_percent / 100, repeats[k],
                                       (size_t)options->conditions, options->level));
        }
        report_end(&report);
    }
    report_end(&report);
    enum status status;
    if (options->format == OUTPUT_FORMAT_TEXT) {
        printf("Probability that an effect is seen, runs of each side, noise of one run %g %%, %llu condition%s\n"
               "judged together; one run: the noise is taken as known\n\n",
               options->noise_percent, (unsigned long long)options->conditions, options->conditions == 1 ? "" : "s");
        status = report_print_table(&report, "effects", columns, sizeof columns / sizeof columns[0], stdout, error);
    } else {
        status = report_print(&report, options->format, "effects", stdout, error);
    }
    report_release(&report);
    return status;
}

/* ---- verdict --------------------------------------------------------------------------------------------------------
 */

static size_t split_names(char *text, const char **names)
{
    size_t count = 0;
    for (char *at = text; at != NULL && count < BY_MAX;) {
        char *comma = strchr(at, ',');
        names[count++] = at;
        if (comma != NULL) {
            *comma++ = '\0';
        }
        at = comma;
    }
    return count;
}

/* Names of the workload in which a kernel was predicted, or of the load of a server: columns of these names are
 * conditions. */
static size_t workload_names(const struct frozen_hypothesis *hypothesis, char *text, size_t size, const char **names)
{
    size_t count = 0;
    (void)snprintf(text, size, "%s", hypothesis->prediction_count > 0 ? hypothesis->predictions[0].condition : "");
    for (char *at = text; *at != '\0' && count < BY_MAX; at += *at == ' ') {
        names[count++] = at;
        at += strcspn(at, "=");
        if (*at == '=') {
            *at++ = '\0';
        }
        at += strcspn(at, " ");
    }
    return count;
}

/* The number that "a=1 b=2" gives to the name; NaN: none. */
static double value_in(const char *config, const char *name, size_t length)
{
    double value;
    for (const char *at = config; *at != '\0'; at += *at == ' ') {
        const size_t part = strcspn(at, " ");
        char number[64];
        if (length < part && strncmp(at, name, length) == 0 && at[length] == '=') {
            (void)snprintf(number, sizeof number, "%.*s", (int)(part - length - 1), at + length + 1);
            return number_parse(number, &value) == STATUS_OK ? value : (double)NAN;
        }
        at += part;
    }
    return (double)NAN;
}

/* What columns named as the changed knobs must hold; after a revert both sides hold the base's. */
static size_t list_settings(const struct frozen_hypothesis *hypothesis, bool is_revert,
                            struct judged_setting settings[SETTINGS_MAX])
{
    size_t count = 0;
    for (const char *at = hypothesis->changes; *at != '\0' && count < SETTINGS_MAX; at += *at == ' ') {
        const size_t name = strcspn(at, "= ");
        struct judged_setting *setting = &settings[count];
        if (name < sizeof setting->name && at[name] == '=') {
            (void)snprintf(setting->name, sizeof setting->name, "%.*s", (int)name, at);
            setting->base = value_in(hypothesis->base_config, at, name);
            setting->variant = is_revert ? setting->base : value_in(hypothesis->changes, at, name);
            count++;
        }
        at += strcspn(at, " ");
    }
    return count;
}

static enum status read_files(const struct judge_options *options, struct judgement *judgement, struct error *error)
{
    char by[512] = "", workload[CONDITION_TEXT_MAX];
    const char *names[BY_MAX], *preferred[BY_MAX];
    struct judged_options judged = {.metric = options->metric};
    struct judged_setting settings[SETTINGS_MAX];
    if (judgement->hypothesis != NULL) {
        judged.settings = settings;
        judged.setting_count = list_settings(judgement->hypothesis, options->revert, settings);
        judged.load = judgement->hypothesis->prediction_count == 1 && !judgement->hypothesis->is_of_kernel &&
                              judgement->hypothesis->predictions[0].concurrency > 0
                          ? judgement->hypothesis->predictions[0].concurrency
                          : 0;
        judged.quantity = judgement->hypothesis->is_of_kernel ? JUDGED_KERNEL_SPEED : JUDGED_THROUGHPUT;
        judged.prefer = preferred;
        judged.prefer_count = workload_names(judgement->hypothesis, workload, sizeof workload, preferred);
    }
    if (options->by != NULL) {
        if (strlen(options->by) >= sizeof by) {
            return error_set(error, STATUS_USAGE, "--by is longer than %zu bytes", sizeof by - 1);
        }
        memcpy(by, options->by, strlen(options->by) + 1);
        judged.by = names;
        judged.by_count = split_names(by, names);
    }
    struct stat base, variant;
    if (stat(options->operands.items[0], &base) == 0 && stat(options->operands.items[1], &variant) == 0 &&
        base.st_dev == variant.st_dev && base.st_ino == variant.st_ino) {
        return error_set(error, STATUS_USAGE, "BASE and VARIANT are the same file: %s", options->operands.items[1]);
    }
    judgement->base_path = options->operands.items[0];
    judgement->variant_path = options->operands.items[1];
    return judged_files_read(judgement->base_path, judgement->variant_path, &judged, &judgement->files, error);
}

/* The column that tells the load: by the scenario's name of it, by a usual one, or the only one of numbers that --by
 * names. -1: none. */
static long load_column(const struct judged_files *files, const char *variable, bool has_by)
{
    long lone = -1;
    for (size_t n = 0; n <= JUDGED_LOAD_NAMES; n++) {
        const char *name = n == 0 ? variable : judged_load_names[n - 1];
        for (size_t i = 0; i < files->column_count; i++) {
            if (strcmp(files->columns[i], name) == 0) {
                return (long)i;
            }
        }
    }
    for (size_t i = 0; has_by && i < files->column_count; i++) {
        bool is_number = true;
        for (size_t k = 0; k < files->count; k++) {
            is_number = is_number && !isnan(files->conditions[k].numbers[i]);
        }
        if (is_number && lone >= 0) {
            return -1;
        }
        lone = is_number ? (long)i : lone;
    }
    return lone;
}

/* They differ in the way of counting at most. */
static bool is_same_load(const struct judged_files *files, const struct judged_condition *left,
                         const struct judged_condition *right)
{
    for (size_t i = 0; i < files->column_count; i++) {
        const double a = left->numbers[i], b = right->numbers[i];
        if (a != b && !(isnan(a) && isnan(b))) {
            return false;
        }
    }
    return true;
}

/* "batch=16 length=4096": no column of the files says another value. */
static bool is_workload(const struct judged_files *files, const struct judged_condition *condition,
                        const char *workload)
{
    for (const char *at = workload; *at != '\0'; at += *at == ' ') {
        const size_t name = strcspn(at, "="), length = strcspn(at, " ");
        char number[32] = "";
        double value;
        if (name < length) {
            (void)snprintf(number, sizeof number, "%.*s", (int)(length - name - 1), at + name + 1);
        }
        for (size_t i = 0; i < files->column_count && number_parse(number, &value) == STATUS_OK; i++) {
            if (strlen(files->columns[i]) == name && strncmp(files->columns[i], at, name) == 0 &&
                condition->numbers[i] != value) {
                return false;
            }
        }
        at += length;
    }
    return true;
}

/* `load`: the column that tells it; -1: none. */
static const struct frozen_prediction *find_prediction(const struct judgement *judgement,
                                                       const struct judged_condition *condition, long load)
{
    const struct frozen_hypothesis *hypothesis = judgement->hypothesis;
    for (size_t k = hypothesis != NULL ? hypothesis->prediction_count : 0; k-- > 0;) {
        const struct frozen_prediction *prediction = &hypothesis->predictions[k];
        const bool is_it = hypothesis->is_of_kernel ? is_workload(&judgement->files, condition, prediction->condition)
                           : load < 0               ? judgement->load_is_taken
                                                    : prediction->concurrency == condition->numbers[load];
        if (is_it) {
            return prediction;
        }
    }
    return NULL;
}

/* Data of other conditions than those that were frozen judge nothing. Nor do several loads that one prediction of a
 * kernel does not tell apart. */
static enum status check_conditions(const struct judgement *judgement, struct error *error)
{
    const struct frozen_hypothesis *hypothesis = judgement->hypothesis;
    const struct judged_condition *first = NULL;
    if (hypothesis == NULL || judgement->options.is_revert || hypothesis->prediction_count == 0) {
        return STATUS_OK;
    }
    for (size_t i = 0; i < judgement->files.count; i++) {
        const struct judged_row *row = &judgement->rows[i];
        const bool is_apart = row->prediction != NULL && first != NULL &&
                              (hypothesis->is_of_kernel || judgement->load_is_taken) &&
                              !is_same_load(&judgement->files, first, row->condition);
        if (is_apart) {
            return error_set(error, STATUS_BAD_DATA,
                             "%.150s: hypothesis %lld foretells one workload, and these are several: %.100s, %.100s",
                             judgement->variant_path, (long long)hypothesis->id, first->text, row->condition->text);
        }
        first = first == NULL && row->prediction != NULL ? row->condition : first;
    }
    const char *text = judgement->files.conditions[0].text;
    if (first == NULL && judgement->load < 0 && !hypothesis->is_of_kernel) {
        struct text_buffer names = {0};
        for (size_t i = 0; i < JUDGED_LOAD_NAMES; i++) {
            text_buffer_append_format(&names, "%s%s", i > 0 ? ", " : "", judged_load_names[i]);
        }
        (void)error_set(error, STATUS_BAD_DATA,
                        "%.150s: hypothesis %lld was frozen for %.100s%s, and no column that both files have tells the "
                        "load (%s; another with --by)",
                        judgement->variant_path, (long long)hypothesis->id, hypothesis->predictions[0].condition,
                        hypothesis->prediction_count > 1 ? ", ..." : "", names.text != NULL ? names.text : "");
        text_buffer_release(&names);
        return STATUS_BAD_DATA;
    }
    return first != NULL
               ? STATUS_OK
               : error_set(error, STATUS_BAD_DATA,
                           "%.150s: hypothesis %lld was frozen for %.100s%s, and no row is of that: %.100s%s",
                           judgement->variant_path, (long long)hypothesis->id, hypothesis->predictions[0].condition,
                           hypothesis->prediction_count > 1 ? ", ..." : "",
                           text[0] != '\0' ? text : "no column tells the conditions",
                           judgement->files.count > 1 ? ", ..." : "");
}

/* The prediction that was frozen for the condition; data that are older than it do not test it. */
static void match_predictions(struct judgement *judgement, bool has_by)
{
    const struct frozen_hypothesis *hypothesis = judgement->hypothesis;
    double frozen = (double)NAN;
    judgement->data_is_older =
        hypothesis != NULL && judged_date_parse(hypothesis->created, &frozen) && judgement->files.oldest < frozen;
    const bool has_one = hypothesis != NULL && hypothesis->prediction_count == 1 && !hypothesis->is_of_kernel;
    judgement->load = hypothesis == NULL || hypothesis->is_of_kernel || hypothesis->prediction_count == 0
                          ? -1
                          : load_column(&judgement->files, hypothesis->predictions[0].variable, has_by);
    judgement->load_is_taken = has_one && judgement->load < 0 && !judgement->options.is_revert;
    for (size_t i = 0; i < judgement->files.count; i++) {
        struct judged_row *row = &judgement->rows[i];
        *row = (struct judged_row){&judgement->files.conditions[i], &judgement->verdicts[i], NULL, -1};
        row->prediction = find_prediction(judgement, row->condition, judgement->load);
        const bool counts = row->prediction != NULL && isfinite(row->prediction->low) && !judgement->data_is_older &&
                            !judgement->options.is_revert;
        row->covered =
            !counts ? -1 : row->verdict->ratio >= row->prediction->low && row->verdict->ratio <= row->prediction->high;
    }
}

/* Results of one load that were counted in several ways differ by the counting too. Where the other file does not say
 * how it counted, verdicts that depend on the way decide nothing. */
static void weigh_counting(struct judgement *judgement)
{
    const struct judged_files *files = &judgement->files;
    bool agree = true;
    for (size_t i = 1; i < files->count && files->counted_ways > 1; i++) {
        const bool same_load = is_same_load(files, &files->conditions[i], &files->conditions[i - 1]);
        const double apart = fabs(log(judgement->verdicts[i].ratio / judgement->verdicts[i - 1].ratio));
        if (same_load) {
            judgement->counting_spread = fmax(judgement->counting_spread, expm1(apart));
            agree = agree && judgement->verdicts[i].outcome == judgement->verdicts[i - 1].outcome;
        }
    }
    judgement->together = agree ? judgement->together : EFFECT_INCONCLUSIVE;
}

static enum status decide(const struct judge_options *options, struct judgement *judgement, struct error *error)
{
    const size_t count = judgement->files.count;
    struct effect_samples *samples = calloc(count, sizeof *samples);
    judgement->verdicts = calloc(count, sizeof *judgement->verdicts);
    judgement->rows = calloc(count, sizeof *judgement->rows);
    if (samples == NULL || judgement->verdicts == NULL || judgement->rows == NULL) {
        free(samples);
        return error_set(error, STATUS_NO_MEMORY, "no memory for %zu conditions", count);
    }
    for (size_t i = 0; i < count; i++) {
        const struct judged_condition *condition = &judgement->files.conditions[i];
        samples[i] = (struct effect_samples){condition->base,          condition->variant, condition->base_count,
                                             condition->variant_count, condition->paired,  condition->rounding};
    }
    effect_options_init(&judgement->options);
    judgement->options.claim = judgement->hypothesis != NULL ? judgement->hypothesis->claim : EFFECT_CHANGES;
    judgement->options.is_revert = options->revert;
    judgement->options.level = options->level;
    judgement->options.margin = options->margin_percent / 100;
    judgement->options.assumed_noise = options->noise_percent / 100;
    enum status status = STATUS_OK;
    if (options->claim != NULL && !effect_claim_parse(options->claim, &judgement->options.claim)) {
        status =
            error_set(error, STATUS_USAGE, "option --claim: \"%s\" is none of raises, lowers, changes", options->claim);
    }
    if (status == STATUS_OK) {
        status = effect_judge(samples, count, &judgement->options, judgement->verdicts, error);
    }
    free(samples);
    if (status == STATUS_OK) {
        judgement->together = effect_judge_together(judgement->verdicts, count, options->revert);
        weigh_counting(judgement);
        match_predictions(judgement, options->by != NULL);
        status = check_conditions(judgement, error);
    }
    return status;
}

/* Ledgers of an earlier version hold claims that were misread. */
static bool says_otherwise(const struct frozen_hypothesis *hypothesis)
{
    char changes[sizeof hypothesis->changes];
    const char *parts[SETTINGS_MAX];
    size_t count = 0;
    struct statement_reading reading;
    (void)snprintf(changes, sizeof changes, "%s", hypothesis->changes);
    for (char *at = changes; *at != '\0' && count < SETTINGS_MAX;) {
        parts[count++] = at;
        at += strcspn(at, " ");
        if (*at == ' ') {
            *at++ = '\0';
        }
    }
    statement_claim_read(hypothesis->statement, parts, count, &reading);
    return statement_claim_contradicts(&reading, hypothesis->claim);
}

static void name_claim(struct judgement *judgement, char *out, size_t out_size)
{
    if (judgement->options.is_revert) {
        (void)snprintf(out, out_size, "is %s the same as %s again?", judgement->variant_path, judgement->base_path);
    } else if (judgement->hypothesis != NULL) {
        (void)snprintf(out, out_size, "%.255s (hypothesis %lld: %.250s %s the %s)", judgement->hypothesis->statement,
                       (long long)judgement->hypothesis->id, judgement->hypothesis->changes,
                       effect_claim_name(judgement->hypothesis->claim), judgement->hypothesis->quantity);
    } else {
        (void)snprintf(out, out_size, "%s %s the speed of %s", judgement->variant_path,
                       effect_claim_name(judgement->options.claim), judgement->base_path);
    }
    judgement->claim_text = out;
}

static enum status judge(const struct judge_options *options, struct judgement *judgement, struct ledger *ledger,
                         char *claim, size_t claim_size, struct error *error)
{
    enum status status = STATUS_OK;
    if (options->hypothesis > 0) {
        judgement->hypothesis = calloc(1, sizeof *judgement->hypothesis);
        status = judgement->hypothesis == NULL
                     ? error_set(error, STATUS_NO_MEMORY, "no memory for the hypothesis")
                     : hypothesis_read(ledger, (int64_t)options->hypothesis, judgement->hypothesis, error);
    }
    if (status == STATUS_OK) {
        status = read_files(options, judgement, error);
    }
    if (status == STATUS_OK) {
        status = decide(options, judgement, error);
    }
    if (status == STATUS_OK) {
        judgement->says_otherwise = judgement->hypothesis != NULL && says_otherwise(judgement->hypothesis);
        name_claim(judgement, claim, claim_size);
    }
    if (status == STATUS_OK && judgement->hypothesis != NULL && judgement->together == EFFECT_REFUTED) {
        status = judgement_close(judgement, error);
    }
    return status == STATUS_OK && ledger != NULL ? judgement_keep(judgement, ledger, error) : status;
}

/* The hypothesis is in it, so it must be there: a name that is mistyped makes no new ledger. */
static enum status open_ledger(const char *asked, struct ledger **ledger, struct error *error)
{
    const enum status status = ledger_place_open(asked, false, ledger, error);
    if (status != STATUS_OK) {
        return status;
    }
    ledger_close(*ledger);
    return ledger_place_open(asked, true, ledger, error);
}

static enum status answer(const struct judge_options *options, bool *is_bad, struct error *error)
{
    struct judgement judgement = {0};
    struct ledger *ledger = NULL;
    struct report report = {0};
    char claim[600];
    enum status status = options->hypothesis > 0 ? open_ledger(options->ledger, &ledger, error) : STATUS_OK;
    if (status == STATUS_OK) {
        status = judge(options, &judgement, ledger, claim, sizeof claim, error);
    }
    if (status == STATUS_OK && options->format == OUTPUT_FORMAT_TEXT) {
        judgement_print(&judgement);
    } else if (status == STATUS_OK) {
        judgement_record(&judgement, &report);
        status = report_print(&report, options->format, "conditions", stdout, error);
    }
    *is_bad = judgement.together == EFFECT_REFUTED || judgement.together == EFFECT_NOT_RESTORED;
    report_release(&report);
    judgement_release(&judgement);
    ledger_close(ledger);
    return status;
}

int command_judge(int argc, char **argv)
{
    struct judge_options options = {.level = 0.95, .noise_percent = 2};
    struct error error = {0};
    bool is_bad = false;
    enum status status = parse(argc, argv, &options, &error);
    if (status == STATUS_OK) {
        status = options.power ? print_power(&options, &error) : answer(&options, &is_bad, &error);
    }
    if (status != STATUS_OK) {
        return command_fail("judge", &error);
    }
    return is_bad ? status_exit_code(STATUS_TOLERANCE_FAILED) : 0;
}
