/* SPDX-License-Identifier: GPL-3.0-or-later
 * Braces outside of strings, 64 bytes of JSON at a time, as bits; strings by the prefix sum (modulo 2) of quotes. Used
 * by trace_events.c. */
#ifndef OCCAM_EVIDENCE_PROFILES_TRACE_BLOCKS_H
#define OCCAM_EVIDENCE_PROFILES_TRACE_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    TRACE_BLOCK_BYTES = 64
};

/* Bit i stands for bytes[i]. Set for every { and } outside of strings, and also for a few other characters there
 * (y and DEL), which the caller must tell apart. *is_in_string and *is_escaped carry over from block to block. A raw
 * line feed ends a string: JSON has none there, and writers that forget to escape a quote get back in step. */
uint64_t trace_block_braces(const char bytes[TRACE_BLOCK_BYTES], bool *is_in_string, bool *is_escaped);
/* The same with nothing but arithmetic on words, for processors of other kinds; on all of them for tests. */
uint64_t trace_block_braces_by_words(const char bytes[TRACE_BLOCK_BYTES], bool *is_in_string, bool *is_escaped);

#endif
