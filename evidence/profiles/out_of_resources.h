/* SPDX-License-Identifier: GPL-3.0-or-later
 * What Triton and those who wrap it write when a kernel asks for more than the device has, in all spellings since 2021.
 */
#ifndef OCCAM_EVIDENCE_PROFILES_OUT_OF_RESOURCES_H
#define OCCAM_EVIDENCE_PROFILES_OUT_OF_RESOURCES_H

#include <stdbool.h>
#include <stdint.h>

struct out_of_resources {
    uint64_t required, limit;
    char resource[48]; /* "shared memory", "tensor memory", "registers", ...; "" not named */
    char kernel[160];  /* where the text names it instead of the resource (Inductor); "" */
};

/* text is one line. False if it holds no such message with both numbers. */
bool out_of_resources_parse(const char *text, struct out_of_resources *out);
/* "out of resource: NAME" without numbers, which then stand on the next line: the name into out. */
bool out_of_resources_begins(const char *text, char kernel[160]);
/* True if the numbers are bytes of SMEM: named so, or not named and the limit is none of threads, registers, grid sides
 * or columns of tensor memory. */
bool out_of_resources_is_smem(const struct out_of_resources *message);

#endif
