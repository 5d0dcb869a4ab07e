/* SPDX-License-Identifier: GPL-3.0-or-later
 * Fuzz target: a profiler trace, plain or gzip; claims, or a message. Where every event could be parsed, the quick way
 * must have said the same. */
#include <math.h>
#include <string.h>

#include "evidence/profiles/trace_blocks.h"
#include "evidence/profiles/trace_reader_private.h"
#include "tests/fuzz/fuzz_target.h"

static enum status read_all(const uint8_t *data, size_t size, bool parses_all, struct kernel_claim_list *list)
{
    struct byte_stream *stream = NULL;
    struct error error = {0};
    enum status status = byte_stream_open_memory(data, size, "input", &stream, &error);
    if (status == STATUS_OK) {
        status = trace_read_stream(stream, "input", parses_all, list, &error);
        byte_stream_free(stream);
    }
    FUZZ_REQUIRE((status == STATUS_OK) == (error.text[0] == '\0'));
    return status;
}

static void check_claim(const struct kernel_claim *claim)
{
    const struct claim_time *time = &claim->time;
    FUZZ_REQUIRE(claim->name[0] != '\0' && claim->ordinal > 0);
    FUZZ_REQUIRE(time->count == 0 || (time->minimum_us >= 0 && time->minimum_us <= time->median_us &&
                                      time->median_us <= time->maximum_us && time->last_us <= time->maximum_us));
    for (int i = 0; i < CLAIM_FIGURE_COUNT; i++) {
        FUZZ_REQUIRE(!claim->figures[i].is_known || claim->figures[i].low <= claim->figures[i].high);
    }
}

/* Masks of the first block, both ways. */
static void check_block(const uint8_t *data, size_t size)
{
    char block[TRACE_BLOCK_BYTES] = {0};
    memcpy(block, data, size < sizeof block ? size : sizeof block);
    for (int state = 0; state < 4; state++) {
        bool in_string = state & 1, escaped = state & 2, in_string_too = in_string, escaped_too = escaped;
        FUZZ_REQUIRE(trace_block_braces(block, &in_string, &escaped) ==
                     trace_block_braces_by_words(block, &in_string_too, &escaped_too));
        FUZZ_REQUIRE(in_string == in_string_too && escaped == escaped_too);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct kernel_claim_list quick = {0}, sure = {0};
    if (size > 0) {
        check_block(data, size);
    }
    enum status status = read_all(data, size, false, &quick);
    FUZZ_REQUIRE(read_all(data, size, true, &sure) == status);
    for (size_t i = 0; i < quick.count && status == STATUS_OK; i++) {
        check_claim(&quick.items[i]);
    }
    if (status == STATUS_OK && sure.skipped == 0) {
        FUZZ_REQUIRE(quick.skipped == 0 && quick.count == sure.count && strcmp(quick.remark, sure.remark) == 0);
        for (size_t i = 0; i < sure.count; i++) {
            const struct kernel_claim *left = &quick.items[i], *right = &sure.items[i];
            FUZZ_REQUIRE(strcmp(left->name, right->name) == 0 && left->ordinal == right->ordinal);
            FUZZ_REQUIRE(left->time.count == right->time.count);
            FUZZ_REQUIRE(left->time.count == 0 ||
                         (left->time.mean_us == right->time.mean_us && left->time.median_us == right->time.median_us));
            FUZZ_REQUIRE(memcmp(left->grid, right->grid, sizeof left->grid) == 0);
        }
    }
    kernel_claim_list_release(&quick);
    kernel_claim_list_release(&sure);
    return 0;
}
