/* SPDX-License-Identifier: GPL-3.0-or-later
 * Fuzz target: a text as ptxas log and as cuobjdump's resource report; kernels, or a message and none. */
#include <string.h>

#include "evidence/code/compiler_log.h"
#include "evidence/code/resource_usage_text.h"
#include "tests/fuzz/fuzz_target.h"

static void check(enum status status, struct compiled_kernel_list *list, const struct error *error)
{
    if (status == STATUS_OK) {
        FUZZ_REQUIRE(list->count > 0);
        for (size_t i = 0; i < list->count; i++) {
            FUZZ_REQUIRE(list->items[i].name != NULL && strchr(list->items[i].name, '\n') == NULL);
            FUZZ_REQUIRE(list->items[i].line > 0 && strchr(list->items[i].note, '\n') == NULL);
        }
    } else {
        FUZZ_REQUIRE(list->count == 0 && error->text[0] != '\0');
    }
    compiled_kernel_list_release(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct compiled_kernel_list list = {0};
    struct error error = {0};
    bool is_log = compiler_log_is_one(text, size);
    enum status status = compiler_log_parse(text, size, "input.log", &list, &error);
    FUZZ_REQUIRE(is_log || status != STATUS_OK);
    check(status, &list, &error);
    error = (struct error){0};
    status = resource_usage_text_parse(text, size, "input.txt", &list, &error);
    check(status, &list, &error);
    return 0;
}
