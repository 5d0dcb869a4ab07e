/* SPDX-License-Identifier: GPL-3.0-or-later
 * Fuzz target: a cubin (ELF); the list of kernels must be whole, or empty with a message. */
#include "evidence/code/cubin_file.h"
#include "tests/fuzz/fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct compiled_kernel_list list = {0};
    struct error error = {0};
    const char *bytes = (const char *)data;
    if (cubin_parse(bytes, size, "input.cubin", &list, &error) == STATUS_OK) {
        FUZZ_REQUIRE(list.count > 0 && list.count <= CUBIN_KERNELS_MAX && cubin_is_elf(bytes, size));
        for (size_t i = 0; i < list.count; i++) {
            FUZZ_REQUIRE(list.items[i].name != NULL && list.items[i].note != NULL);
            for (int figure = 0; figure < COMPILED_FIGURE_COUNT; figure++) {
                const struct code_figure *known = &list.items[i].figures[figure];
                FUZZ_REQUIRE(known->state != FIGURE_UNKNOWN || known->value == 0);
            }
        }
    } else {
        FUZZ_REQUIRE(error.text[0] != '\0' && list.count == 0);
    }
    compiled_kernel_list_release(&list);
    return 0;
}
