/* SPDX-License-Identifier: GPL-3.0-or-later
 * What the times of kernels and of layers share; for no one else. */
#ifndef OCCAM_MODEL_PREDICT_KERNEL_TIME_PRIVATE_H
#define OCCAM_MODEL_PREDICT_KERNEL_TIME_PRIVATE_H

#include "model/predict/kernel_time.h"
#include "model/predict/tile_cost.h"

/* Powers that one kernel's time is made of, in the order in which they are asked for. Under a model that differs in one
 * parameter most have the same argument and exponent. */
struct power_site {
    double x, exponent, value; /* the exponent of a root is negative */
};
enum {
    POWER_SITES = 21 /* of a kernel whose CTAs are equal; others go without */
};
struct power_book {
    struct power_site sites[POWER_SITES];
    uint32_t next;
    bool closed; /* values are looked up, none is kept */
};

/* As kernel_time_predict; memo, which may be NULL, holds the last iteration (tile_cost_recall). */
void kernel_time_predict_next(const struct time_model *model, const struct kernel_case *kernel, struct tile_memo *memo,
                              struct kernel_time *result);
/* The time alone, seconds. placed: residents and waves are set. book may be NULL. */
double kernel_time_seconds(const struct time_model *model, const struct kernel_case *kernel,
                           const struct tile_cost *tile, struct power_book *book, struct kernel_time *placed);
/* The limiter with the largest of TIME_LIMITER_COUNT shares. */
enum time_limiter time_largest_share(const double *shares);

#endif
