/* SPDX-License-Identifier: GPL-3.0-or-later
 * For fuzz targets of readers that take a path and give claims: what must hold of every claim. */
#ifndef OCCAM_TESTS_FUZZ_FUZZ_CLAIMS_H
#define OCCAM_TESTS_FUZZ_FUZZ_CLAIMS_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/text_buffer.h"
#include "evidence/profiles/kernel_claim.h"
#include "tests/fuzz/fuzz_file.h"

static bool fuzz_is_text(const char *text)
{
    size_t bad;
    return text != NULL && utf8_check(text, strlen(text), &bad) == STATUS_OK;
}

static bool fuzz_is_time(double time_us)
{
    return isnan(time_us) || (isfinite(time_us) && time_us >= 0.0);
}

static void fuzz_check_claim(const struct kernel_claim *claim)
{
    FUZZ_REQUIRE(fuzz_is_text(claim->name) && fuzz_is_text(claim->device) && fuzz_is_text(claim->note));
    for (size_t i = 0; i < CLAIM_FIGURE_COUNT; i++) {
        const struct claim_value *value = &claim->figures[i];
        FUZZ_REQUIRE(!value->is_known ||
                     (isfinite(value->low) && isfinite(value->high) && value->low >= 0.0 && value->low <= value->high));
    }
    for (size_t i = 0; i < claim->parameter_count; i++) {
        FUZZ_REQUIRE(fuzz_is_text(claim->parameters[i].name) && fuzz_is_text(claim->parameters[i].text));
        FUZZ_REQUIRE(!isinf(claim->parameters[i].value));
    }
    const struct claim_time *time = &claim->time;
    FUZZ_REQUIRE(fuzz_is_time(time->median_us) && fuzz_is_time(time->mean_us) && fuzz_is_time(time->minimum_us) &&
                 fuzz_is_time(time->maximum_us) && fuzz_is_time(time->last_us) && fuzz_is_time(time->deviation_us));
    FUZZ_REQUIRE(time->count == 0 || !isnan(time->mean_us) || !isnan(time->median_us));
    FUZZ_REQUIRE(!claim->is_failed || claim->note[0] != '\0');
}

/* Reads the input and checks what comes of it. */
static void fuzz_read_claims(enum status (*read)(const char *, struct kernel_claim_list *, struct error *),
                             const uint8_t *data, size_t size)
{
    struct kernel_claim_list list = {0};
    struct error error = {0};
    enum status status = read(fuzz_file_write(data, size), &list, &error);
    if (status == STATUS_OK) {
        for (size_t i = 0; i < list.count; i++) {
            fuzz_check_claim(&list.items[i]);
        }
        FUZZ_REQUIRE((list.skipped > 0) == (list.first_skipped[0] != '\0') && fuzz_is_text(list.first_skipped));
        FUZZ_REQUIRE(fuzz_is_text(list.remark));
    } else {
        FUZZ_REQUIRE(error.text[0] != '\0');
    }
    kernel_claim_list_release(&list);
}

#endif
