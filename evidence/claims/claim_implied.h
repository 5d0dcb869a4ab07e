/* SPDX-License-Identifier: GPL-3.0-or-later
 * Which knob values of a scenario give the launch that somebody claims: the scenario's formulas turned round, by trying
 * its configurations (EVID-5); and what else then fits on the device or does not. Used by `occam reconcile`. */
#ifndef OCCAM_EVIDENCE_CLAIMS_CLAIM_IMPLIED_H
#define OCCAM_EVIDENCE_CLAIMS_CLAIM_IMPLIED_H

#include "evidence/claims/claim_cases.h"
#include "evidence/scenario/scenario.h"

enum {
    IMPLIED_TRIES_MAX = 1 << 20, /* configurations that are evaluated */
    IMPLIED_VALUES_MAX = SCENARIO_KNOBS_MAX + SCENARIO_WORKLOAD_MAX,
    IMPLIED_EXAMPLES_MAX = 6
};

/* The nearest launch SMEM to one that no configuration has. */
struct implied_neighbour {
    bool is_known;
    double smem_bytes;
    double values[IMPLIED_VALUES_MAX];
};

struct claim_implied {
    uint64_t matches;                  /* configurations whose SMEM and threads are those of the story */
    double values[IMPLIED_VALUES_MAX]; /* of the match nearest to the base; valid when there is one */
    double smem_bytes;                 /* static + dynamic of it */
    bool threads_ignored;              /* no configuration has the threads as well: they were left out of it */
    bool is_set[SCENARIO_KNOBS_MAX];   /* the knob decides the SMEM, and all matches have this value of it */
    bool is_open[SCENARIO_KNOBS_MAX];  /* the knob decides the SMEM, and matches differ in it */
    bool is_ambiguous;                 /* some knob is open */
    size_t example_count;              /* different values of the knobs that decide, among the matches; 0: is_ambiguous
                                          is false */
    double examples[IMPLIED_EXAMPLES_MAX][SCENARIO_KNOBS_MAX];
    bool has_more_examples;
    struct implied_neighbour below, above; /* where there is no match */
};

struct implied_search {
    const struct scenario *scenario;
    struct scenario_evaluator *evaluator;
    const double *base; /* IMPLIED_VALUES_MAX: workload as asked; knobs that are not tried stay as here */
    size_t kernel;      /* of the scenario */
    uint64_t tried;
    bool is_held[SCENARIO_KNOBS_MAX]; /* not tried: the space is larger than IMPLIED_TRIES_MAX */
    bool is_cut;                      /* some knob is held */
};

/* implied[i] for stories[i]; a story without launch SMEM has no matches. Arithmetic errors of single configurations
 * leave these out. STATUS_USAGE: the scenario leaves open what only its user knows. */
MUST_CHECK enum status claim_implied_find(struct implied_search *search, const struct claim_story *stories,
                                          size_t story_count, struct claim_implied *implied, struct error *error);

/* A change of one knob that fits on the device from one story's configuration and not from another's. */
struct implied_flip {
    size_t knob;
    double value;
    bool fits[2];                     /* from the first, from the second */
    double smem_bytes[2];             /* static + dynamic of the kernel */
    int64_t smem_over_limit_bytes[2]; /* negative: room left */
};
enum {
    IMPLIED_FLIPS_MAX = 32
};

/* Every other listed value of every knob in which the two configurations do not differ, from both. Changes that a
 * requirement forbids in either are left out. Returns how many (the first IMPLIED_FLIPS_MAX). */
size_t claim_implied_flips(const struct implied_search *search, const struct gpu_limits *limits, const double *first,
                           const double *second, struct implied_flip flips[IMPLIED_FLIPS_MAX]);

#endif
