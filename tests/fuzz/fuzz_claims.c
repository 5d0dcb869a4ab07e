/* SPDX-License-Identifier: GPL-3.0-or-later
 * Fuzz target: stated claims, one a line, put together. Every claim with a figure stands in one case at most; readings
 * of a figure do not meet; the trusted story has the first reading of each. */
#include <stdlib.h>
#include <string.h>

#include "evidence/claims/claim_cases.h"
#include "evidence/claims/claim_normal.h"
#include "evidence/claims/claim_occupancy.h"
#include "evidence/claims/stated_claim.h"
#include "tests/fuzz/fuzz_target.h"

enum {
    CLAIMS_MAX = 24
};

static const struct gpu_limits limits = {.cc_major = 9,
                                         .max_warps_per_sm = 64,
                                         .max_ctas_per_sm = 32,
                                         .registers_per_sm = 65536,
                                         .max_registers_per_thread = 255,
                                         .max_registers_per_cta = 65536,
                                         .register_allocation_unit = 256,
                                         .warp_allocation_granularity = 4,
                                         .sub_cores_per_sm = 4,
                                         .max_threads_per_cta = 1024,
                                         .smem_per_sm_bytes = 233472,
                                         .smem_per_cta_optin_bytes = 232448,
                                         .smem_per_cta_default_bytes = 49152,
                                         .smem_reserved_per_cta_bytes = 1024,
                                         .smem_allocation_unit_bytes = 128,
                                         .named_barriers_per_sm = 64,
                                         .max_cluster_portable = 8,
                                         .max_cluster = 16,
                                         .carveout_count = 1,
                                         .carveout_kib = {228}};

static void parse_lines(char *text, struct kernel_claim_list *list)
{
    for (char *line = strtok(text, "\n"); line != NULL && list->count < CLAIMS_MAX; line = strtok(NULL, "\n")) {
        struct error error = {0};
        const size_t count = list->count;
        if (stated_claim_parse(line, list, &error) != STATUS_OK) {
            FUZZ_REQUIRE(error.text[0] != '\0');
            list->count = count;
        }
    }
}

static void check_case(const struct claim_case *item, unsigned seen[CLAIMS_MAX])
{
    struct claim_occupancy occupancy;
    FUZZ_REQUIRE(item->story_count >= 1 && item->claim_count >= 1);
    for (size_t i = 0; i < item->claim_count; i++) {
        FUZZ_REQUIRE(item->claims[i] < CLAIMS_MAX && seen[item->claims[i]]++ == 0);
    }
    for (size_t i = 0; i < item->comparison_count; i++) {
        const struct claim_comparison *comparison = &item->comparisons[i];
        FUZZ_REQUIRE(comparison->reading_count >= 1);
        for (size_t r = 0; r < comparison->reading_count; r++) {
            FUZZ_REQUIRE(comparison->readings[r].value.low <= comparison->readings[r].value.high);
            FUZZ_REQUIRE(comparison->readings[r].count >= 1);
        }
        const struct claim_value *trusted = claim_case_value(item, comparison->figure);
        FUZZ_REQUIRE(trusted->low == comparison->readings[0].value.low);
    }
    FUZZ_REQUIRE((item->conflict_count > 0) == (item->story_count > 1));
    for (size_t i = 0; i < item->story_count; i++) {
        claim_story_occupancy(&item->stories[i], &limits, &occupancy);
        FUZZ_REQUIRE(occupancy.ctas_low <= occupancy.ctas_high && occupancy.ctas_high <= 32);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct kernel_claim_list list = {0};
    struct claim_cases cases = {0};
    struct error error = {0};
    unsigned seen[CLAIMS_MAX] = {0};
    if (text == NULL) {
        return 0;
    }
    if (size > 0) {
        memcpy(text, data, size);
    }
    text[size] = '\0';
    parse_lines(text, &list);
    claims_normalise(&list);
    if (claim_cases_find(&list, NULL, &cases, &error) == STATUS_OK) {
        for (size_t i = 0; i < cases.count; i++) {
            check_case(&cases.items[i], seen);
        }
    } else {
        FUZZ_REQUIRE(error.text[0] != '\0');
    }
    claim_cases_release(&cases);
    kernel_claim_list_release(&list);
    free(text);
    return 0;
}
