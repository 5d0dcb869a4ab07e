/* SPDX-License-Identifier: GPL-3.0-or-later
 * A hypothesis in the ledger: frozen from a comparison, read back for a verdict. Used by hypothesis, judge and ledger.
 */
#ifndef OCCAM_CLI_HYPOTHESIS_H
#define OCCAM_CLI_HYPOTHESIS_H

#include "calibrate/experiment/effect_judge.h"
#include "cli/ledger_place.h"
#include "cli/whatif.h"

/* "raises", "lowers", "changes"; static. And back; false if it is none of them. */
const char *effect_claim_name(enum effect_claim claim);
bool effect_claim_parse(const char *text, enum effect_claim *claim);

/* The change that moves time most, as one line: "replication 2 -> 4, spills 0 -> 380". "" when nothing is known. */
void hypothesis_mechanism(const struct variant_effect *effect, char *out, size_t out_size);

/* Writes scenario, hypothesis, one prediction per row of the comparison and, when the variant cannot be launched, the
 * verdict that needs no run, all or nothing. STATUS_TOLERANCE_FAILED: runs of this variant are in the ledger already,
 * so that a prediction would come too late; or the same hypothesis with the same predictions is there. */
MUST_CHECK enum status hypothesis_freeze(struct ledger *ledger, const struct whatif *whatif, const char *statement,
                                         enum effect_claim claim, int64_t *id, struct error *error);

/* One hypothesis with its predictions. Release with hypothesis_release. */
enum {
    HYPOTHESIS_PREDICTIONS_MAX = 256,
    CONFIG_TEXT_MAX = 8192,  /* of all knobs; a longer one is refused, not cut */
    CONDITION_TEXT_MAX = 512 /* of a workload; what has no room is left out */
};
struct frozen_prediction {
    int64_t id;
    char variable[64];  /* the scenario's name of the concurrency; "" where it has none */
    double concurrency; /* NaN likewise */
    double value, low, high, level;
    char condition[CONDITION_TEXT_MAX]; /* "C=8"; of a kernel "batch=16 length=4096" */
    char mechanism[256];
};
struct frozen_hypothesis {
    int64_t id, scenario;
    char created[32], statement[256], changes[CONFIG_TEXT_MAX], base_config[CONFIG_TEXT_MAX],
        variant_config[CONFIG_TEXT_MAX], quantity[32];
    char scenario_path[512], device[96]; /* path: the name where it is built in */
    enum effect_claim claim;
    bool is_of_kernel; /* quantity: "kernel speed", not "throughput" */
    size_t prediction_count;
    struct frozen_prediction predictions[HYPOTHESIS_PREDICTIONS_MAX];
};
MUST_CHECK enum status hypothesis_read(struct ledger *ledger, int64_t id, struct frozen_hypothesis *hypothesis,
                                       struct error *error);

#endif
