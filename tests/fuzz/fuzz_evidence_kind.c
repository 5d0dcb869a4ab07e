/* SPDX-License-Identifier: GPL-3.0-or-later
 * Fuzz target: what a file is by its first bytes. There is always an answer, a refusal says what to do, and the same
 * bytes are always the same. */
#include <stdlib.h>
#include <string.h>

#include "evidence/claims/evidence_head.h"
#include "tests/fuzz/fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (text == NULL) {
        return 0;
    }
    if (size > 0) {
        memcpy(text, data, size);
    }
    text[size] = '\0';
    const struct evidence_kind *second, *again;
    const struct evidence_kind *kind = evidence_recognise_bytes("input", text, size, &second);
    FUZZ_REQUIRE(kind != NULL && kind->name[0] != '\0');
    FUZZ_REQUIRE((kind->room == EVIDENCE_REFUSED) == (kind->advice != NULL));
    FUZZ_REQUIRE(second == NULL || (kind->room == EVIDENCE_CODE && second->room == EVIDENCE_CLAIMS));
    FUZZ_REQUIRE(evidence_recognise_bytes("input", text, size, &again) == kind && again == second);
    struct evidence_head head = {.path = "input", .bytes = text, .length = size};
    evidence_head_scan(&head);
    FUZZ_REQUIRE(head.key_count <= EVIDENCE_KEYS_MAX);
    for (size_t i = 0; i < head.key_count; i++) {
        FUZZ_REQUIRE(memchr(head.keys[i].text, '\0', EVIDENCE_KEY_SIZE) != NULL);
        FUZZ_REQUIRE(head.keys[i].depth <= 3);
    }
    free(text);
    return 0;
}
