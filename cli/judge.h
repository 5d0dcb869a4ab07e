/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam judge` in parts: the verdict (command_judge.c), its words and records (judge_answer.c), what goes into the
 * ledger (judge_ledger.c), and what a refutation closes (judge_closing.c). */
#ifndef OCCAM_CLI_JUDGE_H
#define OCCAM_CLI_JUDGE_H

#include "calibrate/experiment/effect_judge.h"
#include "calibrate/experiment/judged_files.h"
#include "cli/hypothesis.h"
#include "cli/report.h"

/* One condition beside the frozen prediction of it. */
struct judged_row {
    const struct judged_condition *condition;   /* borrowed */
    const struct effect_verdict *verdict;       /* borrowed */
    const struct frozen_prediction *prediction; /* NULL: none was frozen */
    int covered;                                /* 1, 0; -1 without a prediction, or one that came too late */
};

struct judgement {
    const char *base_path, *variant_path;
    struct judged_files files;
    struct effect_options options;
    struct effect_verdict *verdicts; /* owned, files.count */
    struct judged_row *rows;         /* owned, files.count */
    enum effect_outcome together;
    struct frozen_hypothesis *hypothesis; /* owned; NULL: none */
    long load;                            /* column of files that tells it; -1: none */
    bool load_is_taken;     /* no column tells the load, and the only one that was frozen is taken for it */
    bool data_is_older;     /* rows carry dates before the freeze: the prediction proves nothing */
    size_t kept_before;     /* conditions whose results the ledger has already */
    double counting_spread; /* between ways of counting that one file mixes, as a fraction; 0: it mixes none */
    bool says_otherwise;    /* the statement, as it is read today, than the claim that was frozen */
    const char *claim_text; /* "num_warps=8 raises throughput"; borrowed */
    struct text_buffer closes, leaves_open; /* lines; what the refutation closes, and what it does not */
};

void judgement_release(struct judgement *judgement);
void judgement_print(const struct judgement *judgement);
void judgement_record(const struct judgement *judgement, struct report *report);
/* Runs with their samples, and a verdict per condition, in one transaction; a condition whose results are there already
 * is passed over and counted. */
MUST_CHECK enum status judgement_keep(struct judgement *judgement, struct ledger *ledger, struct error *error);
/* Fills closes and leaves_open of a refuted hypothesis from its scenario; nothing when the scenario cannot be read any
 * more (said in leaves_open). */
MUST_CHECK enum status judgement_close(struct judgement *judgement, struct error *error);

#endif
