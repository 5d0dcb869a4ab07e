/* SPDX-License-Identifier: GPL-3.0-or-later
 * Fuzz target: a configuration that Inductor chose. Its tables are read by the target of autotuning logs. */
#include "evidence/profiles/profile_readers.h"
#include "tests/fuzz/fuzz_claims.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_read_claims(inductor_config_read, data, size);
    return 0;
}
