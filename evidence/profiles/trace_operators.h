/* SPDX-License-Identifier: GPL-3.0-or-later
 * Operators of a trace that was recorded with the shapes of their inputs (PyTorch's record_shapes), found by the id
 * that the launches of their kernels carry. Used by trace_reader.c. */
#ifndef OCCAM_EVIDENCE_PROFILES_TRACE_OPERATORS_H
#define OCCAM_EVIDENCE_PROFILES_TRACE_OPERATORS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "evidence/profiles/kernel_claim.h"

enum {
    TRACE_OPERATORS_MAX = 1 << 16,      /* that differ in name or inputs */
    TRACE_OPERATOR_CALLS_MAX = 1 << 21, /* of one file */
    TRACE_OPERATOR_BYTES_MAX = 4096,    /* name and inputs of one */
    TRACE_OPERATOR_NONE = 0,
    TRACE_OPERATOR_UNCLEAR = UINT32_MAX /* two operators have the id */
};

struct trace_operator {
    const char *bytes; /* name, dims, types and values behind each other, as in the file */
    size_t lengths[4];
    uint64_t hash;
};

struct trace_call {
    int64_t id;
    uint32_t which; /* operator + 1, or TRACE_OPERATOR_UNCLEAR */
};

/* Open hash tables of powers of two; slots hold index + 1. Zero-initialise; trace_operators_release. */
struct trace_operators {
    struct arena arena;
    struct trace_operator *items;
    struct trace_call *calls; /* itself the table; which 0: free */
    uint32_t *slots;
    size_t count, capacity, slot_count, call_count, call_slots;
    uint64_t left_out; /* calls without room, or larger than TRACE_OPERATOR_BYTES_MAX */
};

void trace_operators_release(struct trace_operators *operators);
/* The event of an operator; one that does not say id, name and inputs, or is unusual, is passed over. */
MUST_CHECK enum status trace_operators_note(struct trace_operators *operators, const char *text, size_t length,
                                            struct error *error);
/* The operator + 1 of that id among those noted so far; TRACE_OPERATOR_NONE, TRACE_OPERATOR_UNCLEAR. */
uint32_t trace_operators_find(const struct trace_operators *operators, int64_t id);
/* Into the claim, texts in the list's arena; inputs that are no lists of whole numbers leave it as it is. */
MUST_CHECK enum status trace_operators_claim(const struct trace_operators *operators, uint32_t which,
                                             struct kernel_claim_list *list, struct kernel_claim *claim,
                                             struct error *error);

#endif
