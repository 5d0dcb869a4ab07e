/* SPDX-License-Identifier: GPL-3.0-or-later
 * The trace reader over bytes that are no file, for tests and fuzzing. */
#ifndef OCCAM_EVIDENCE_PROFILES_TRACE_READER_PRIVATE_H
#define OCCAM_EVIDENCE_PROFILES_TRACE_READER_PRIVATE_H

#include <stdbool.h>

#include "base/status.h"
#include "evidence/byte_stream.h"
#include "evidence/profiles/kernel_claim.h"

/* parses_all: every event of a kernel goes through the parser; for comparison with the quick way, which must say the
 * same. */
MUST_CHECK enum status trace_read_stream(struct byte_stream *stream, const char *name, bool parses_all,
                                         struct kernel_claim_list *list, struct error *error);

#endif
