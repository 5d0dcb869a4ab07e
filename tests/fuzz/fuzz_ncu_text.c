/* SPDX-License-Identifier: GPL-3.0-or-later
 * Fuzz target: what Nsight Compute prints without --csv. */
#include "evidence/profiles/profile_readers.h"
#include "tests/fuzz/fuzz_claims.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_read_claims(ncu_text_read, data, size);
    return 0;
}
