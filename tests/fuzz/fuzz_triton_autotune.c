/* SPDX-License-Identifier: GPL-3.0-or-later
 * Fuzz target: what Triton's autotuner leaves, as a file of results and as output. */
#include "evidence/profiles/profile_readers.h"
#include "tests/fuzz/fuzz_claims.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_read_claims(triton_autotune_file_read, data, size);
    fuzz_read_claims(triton_autotune_log_read, data, size);
    return 0;
}
