/* SPDX-License-Identifier: GPL-3.0-or-later
 * What every fuzz target defines: one call with arbitrary bytes. Called by libFuzzer or by replay_driver. */
#ifndef OCCAM_TESTS_FUZZ_FUZZ_TARGET_H
#define OCCAM_TESTS_FUZZ_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

/* data is borrowed, has no end mark, and may be NULL when size is 0. Any outcome but a crash, a sanitizer's complaint,
 * a leak or running out of time or memory is fine. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the process, so that the fuzzer keeps the input: for outcomes that must not be, whatever the input. */
#define FUZZ_REQUIRE(condition) ((condition) ? (void)0 : fuzz_fail(__FILE__, __LINE__, #condition))
#include <stdio.h>
#include <stdlib.h>
_Noreturn static inline void fuzz_fail(const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: must hold: %s\n", file, line, condition);
    abort();
}

#endif
