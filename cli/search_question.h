/* SPDX-License-Identifier: GPL-3.0-or-later
 * What `occam propose` and `occam tune` search: a scenario's configurations, the objective, what a run costs, and runs
 * that files hold. */
#ifndef OCCAM_CLI_SEARCH_QUESTION_H
#define OCCAM_CLI_SEARCH_QUESTION_H

#include <math.h>

#include "calibrate/experiment/search_scenario.h"
#include "cli/question.h"
#include "cli/report.h"

#define SEARCH_LEVEL_DEFAULT 0.8
struct search_question_options {
    const char *objective, *where, *vary, *unsettled;
    double compile_s, restart_s, stop_percent;
    double level; /* of the intervals; SEARCH_LEVEL_DEFAULT unless set */
    uint64_t repeats, seed;
    const char *replay; /* a table of measured configurations takes the place of runs; NULL: none */
    /* Marks which configurations stay (all are marked at first), before the search begins; NULL: all stay. */
    enum status (*narrow)(void *context, const struct search_scenario *space, bool *keep, struct error *error);
    void *narrow_context;
};
#define SEARCH_QUESTION_ROWS(options)                                                                                  \
    {0, "objective", OPTION_TEXT, &(options).objective, 0, 0}, {0, "where", OPTION_TEXT, &(options).where, 0, 0},      \
        {0, "vary", OPTION_TEXT, &(options).vary, 0, 0}, {0, "compile-cost", OPTION_COST, &(options).compile_s, 0, 0}, \
        {0, "restart-cost", OPTION_COST, &(options).restart_s, 0, 0},                                                  \
        {0, "repeats", OPTION_COUNT, &(options).repeats, 1, 1e9},                                                      \
        {0, "stop-gain", OPTION_NUMBER, &(options).stop_percent, 0, 100},                                              \
    {                                                                                                                  \
        0, "seed", OPTION_COUNT, &(options).seed, 1, 1e18                                                              \
    }
/* The level of a question's options before parsing: not asked for. */
#define SEARCH_LEVEL_UNSET ((double)NAN)
void search_question_options_init(struct search_question_options *options);
/* Opens the question that a search is about. --level goes to the search; its prior keeps the model's own level, so that
 * the level changes what is printed and not what is believed. */
MUST_CHECK enum status search_question_ask(struct question *question, const char *scenario_path,
                                           struct question_options *question_options,
                                           struct search_question_options *options, struct error *error);

/* Rows that are no run of the space, for one reason. */
struct search_left {
    size_t count;
    char first[400]; /* the first one: place, which values, what would take it */
};

struct search_question {
    struct question *question;
    struct search_scenario space;
    struct search_options options;
    struct search_engine *engine;
    double *costs_s;
    double *replayed; /* per configuration what the table says, in the engine's unit, NaN: failed; NULL: no table */
    bool is_throughput;
    double concurrency; /* throughput only */
    uint32_t varied[CONFIG_VARIABLES_MAX], varied_count;
    uint32_t unsettled[CONFIG_VARIABLES_MAX], unsettled_count; /* not searched: their values are forms of the model */
    double values[QUESTION_VALUES_MAX];                        /* of what is not varied */
    const char *where;
    size_t read_runs, other_runs; /* rows of files: taken, and left out */
    struct search_left left[SEARCH_ABSENCE_COUNT];
    char doubt[320]; /* times that are far from the model's: a warning; "" without one */
};

/* question must be open and timed. Zero-initialise *self; release also after an error. */
MUST_CHECK enum status search_question_open(struct search_question *self, struct question *question,
                                            const struct search_question_options *options, struct error *error);
void search_question_release(struct search_question *self);
/* What the space was made with, for another look at it; borrows from self and its question. */
struct sweep_request search_question_request(const struct search_question *self);

/* Tells the engine of the runs in a measurement table: columns named after knobs and workload (others keep what was
 * asked), time_us, or for throughput tok_s or throughput_tokens_per_s, and `outcome`, where anything but ok failed.
 * Rows of another workload, and configurations that the scenario does not have, are counted by why and left.
 * STATUS_BAD_DATA with the place: a row of another GPU (column `device`), a value that no run has, also of a row that
 * is left out; times that are in another unit as it seems. */
MUST_CHECK enum status search_question_read(struct search_question *self, const char *path, struct error *error);

/* What files leave in doubt, as warnings of the command on standard error. */
void search_question_warn(const struct search_question *self, const char *command);
/* Counts a row that is no run of the space; values: of all variables. */
void search_question_leave(struct search_question *self, const double *values, const char *file, unsigned line);
/* "2 rows of another workload, 1 row ...", with the first of each if wanted; "" where none is left out. Returns out. */
const char *search_left_text(const struct search_question *self, bool with_first, char *out, size_t out_size);
/* left_out, left_out_reasons{}. */
void search_record_left(const struct search_question *self, struct report *report);
/* The error of a file (NULL: of several) none of whose rows is a run of the space. */
MUST_CHECK enum status search_none_taken(const struct search_question *self, const char *path, struct error *error);

/* "num_warps=8 num_stages=3": the knobs that vary, in scenario order. Returns out. */
const char *search_config_text(const struct search_question *self, uint32_t config, char *out, size_t out_size);
/* knobs{}, prediction with interval in the objective's unit, probabilities, gain, cost, reason, limiter. */
MUST_CHECK enum status search_record_proposal(struct search_question *self, struct report *report,
                                              const struct search_proposal *proposal, struct error *error);
/* The engine's value (seconds, or one over tokens per second) in the unit that is printed (microseconds, tokens per
 * second), and back. */
double search_shown_value(const struct search_question *self, double value);
/* A line: lead, the best run so far and the probability that nothing is better, which no draws make certain while
 * configurations are left. Needs summary->has_best. */
void search_print_best(const struct search_question *self, const struct search_summary *summary, const char *lead);
/* Whether a run can have this value of the engine's. */
bool search_value_is_possible(const struct search_question *self, double value);
double search_engine_value(const struct search_question *self, double shown);
const char *search_value_name(const struct search_question *self); /* "time_us", "throughput_tokens_per_s" */

#endif
