/* SPDX-License-Identifier: GPL-3.0-or-later
 * How often loops turn, from induction variables. Private to code_loops and code_profile. */
#ifndef OCCAM_EVIDENCE_CODE_CODE_TRIP_H
#define OCCAM_EVIDENCE_CODE_CODE_TRIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evidence/code/code_listing.h"
#include "evidence/code/code_loops.h"

/* Fills `trip` of every loop. false: memory ran out. */
bool code_trips_find(const struct code_listing *listing, struct code_graph *graph);

/* The only instruction inside the loop that writes the register: 1 found, 0 none, -1 several. */
int code_definition_in_loop(const struct code_graph *graph, uint32_t loop, uint32_t number, size_t *instruction);
/* What one turn adds to a register that is only ever stepped by literals. false: it is not such a register. */
bool code_register_step(const struct code_listing *listing, const struct code_graph *graph, uint32_t loop,
                        uint32_t number, int64_t *step);
/* Is the block passed in every turn of the loop (does it dominate each latch)? */
bool code_in_every_turn(const struct code_graph *graph, uint32_t loop, uint32_t block);
/* A copy or the sum of one register and a literal. */
bool code_is_step(const struct code_instruction *item, int64_t *literal);
/* "lt", "le", ... of a comparison of integers, false for anything else. */
bool code_comparison(const struct code_instruction *item, char comparison[4]);

#endif
