/* SPDX-License-Identifier: GPL-3.0-or-later
 * One claim at a time. What needs several claims of one build (static SMEM of a cubin beside Triton's dynamic) is left
 * to claim_cases. */
#include "evidence/claims/claim_normal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text_buffer.h"
#include "evidence/claims/claim_rank.h"

enum {
    WARP_THREADS = 32
};

bool claim_value_is_exact(const struct claim_value *value)
{
    return value->is_known && value->low == value->high;
}

bool claim_values_agree(const struct claim_value *left, const struct claim_value *right)
{
    return left->is_known && right->is_known && left->low <= right->high && right->low <= left->high;
}

bool claim_values_differ(const struct claim_value *left, const struct claim_value *right)
{
    return left->is_known && right->is_known && !claim_values_agree(left, right);
}

bool claim_rounded_value(const char *text, double scale_low, double scale_high, struct claim_value *value)
{
    double number;
    if (number_parse(text, &number) != STATUS_OK || number < 0 || strpbrk(text, "eE") != NULL) {
        return false;
    }
    const char *point = strchr(text, '.');
    const double half = 0.5 * pow(10.0, point != NULL ? -(double)strlen(point + 1) : 0.0);
    const double low = (number - half) * scale_low;
    *value = (struct claim_value){true, low > 0 ? round(low) : 0, round((number + half) * scale_high)};
    return true;
}

static void set_threads(struct kernel_claim_list *list, struct kernel_claim *claim)
{
    struct claim_value *threads = &claim->figures[CLAIM_THREADS];
    const struct claim_value *warps = &claim->figures[CLAIM_NUM_WARPS];
    if (!threads->is_known && claim->block[0] > 0) {
        const double count = (double)claim->block[0] * (claim->block[1] > 0 ? claim->block[1] : 1) *
                             (claim->block[2] > 0 ? claim->block[2] : 1);
        *threads = (struct claim_value){true, count, count};
    }
    if (!threads->is_known && warps->is_known) {
        *threads = (struct claim_value){true, WARP_THREADS * warps->low, WARP_THREADS * warps->high};
    } else if (threads->is_known && warps->is_known && threads->low > WARP_THREADS * warps->high &&
               strstr(claim->note, "warp-specialised") == NULL) {
        kernel_claim_remark(list, claim,
                            "more threads than num_warps says: warp-specialised groups are counted in one "
                            "of them alone");
    }
}

static void set_smem(struct kernel_claim *claim)
{
    struct claim_value *fixed = &claim->figures[CLAIM_STATIC_SMEM], *dynamic = &claim->figures[CLAIM_DYNAMIC_SMEM],
                       *launch = &claim->figures[CLAIM_LAUNCH_SMEM];
    if (!launch->is_known && fixed->is_known && dynamic->is_known) {
        *launch = (struct claim_value){true, fixed->low + dynamic->low, fixed->high + dynamic->high};
    } else if (claim_value_is_exact(launch) && claim_value_is_exact(fixed) && !dynamic->is_known &&
               launch->low >= fixed->low) {
        kernel_claim_set(claim, CLAIM_DYNAMIC_SMEM, launch->low - fixed->low);
    } else if (claim_value_is_exact(launch) && claim_value_is_exact(dynamic) && !fixed->is_known &&
               launch->low >= dynamic->low) {
        kernel_claim_set(claim, CLAIM_STATIC_SMEM, launch->low - dynamic->low);
    }
}

/* Kineto asks the occupancy calculator with the 48 KiB limit: 0 beyond it says nothing. */
static void drop_default_limit(struct kernel_claim_list *list, struct kernel_claim *claim)
{
    static const enum claim_figure computed[] = {CLAIM_OCCUPANCY, CLAIM_CTAS_PER_SM};
    const struct claim_value *launch = &claim->figures[CLAIM_LAUNCH_SMEM];
    for (size_t i = 0; i < 2 && claim->source == CLAIM_SOURCE_TRACE; i++) {
        struct claim_value *value = &claim->figures[computed[i]];
        if (value->is_known && value->high == 0 && launch->is_known && launch->high > CLAIM_DEFAULT_LIMIT_BYTES) {
            *value = (struct claim_value){0};
            kernel_claim_remark(
                list, claim, "%s of the trace is unknown, not 0: Kineto computes it with the default limit of 48 KiB",
                claim_figure_name(computed[i]));
        }
    }
}

void claims_normalise(struct kernel_claim_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct kernel_claim *claim = &list->items[i];
        set_threads(list, claim);
        set_smem(claim);
        drop_default_limit(list, claim);
    }
}
