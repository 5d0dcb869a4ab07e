/* SPDX-License-Identifier: GPL-3.0-or-later
 * Fuzz target: one JSON file of a Triton cache; a kernel, or none, or a message. */
#include "evidence/code/triton_entry.h"
#include "tests/fuzz/fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct compiled_kernel_list list = {0};
    struct error error = {0};
    struct triton_entry entry;
    enum triton_json_kind kind;
    if (triton_entry_parse((const char *)data, size, "input.json", &list, &kind, &entry, &error) == STATUS_OK) {
        FUZZ_REQUIRE(list.count == (kind == TRITON_JSON_KERNEL ? 1 : 0));
        FUZZ_REQUIRE(entry.warp_size >= 1 && entry.warp_size <= 128);
        if (list.count == 1) {
            const struct code_figure *threads = &list.items[0].figures[COMPILED_THREADS];
            const struct code_figure *warps = &list.items[0].figures[COMPILED_NUM_WARPS];
            FUZZ_REQUIRE(threads->state == warps->state && threads->value == warps->value * entry.warp_size);
        }
    } else {
        FUZZ_REQUIRE(error.text[0] != '\0' && list.count == 0);
    }
    compiled_kernel_list_release(&list);
    return 0;
}
