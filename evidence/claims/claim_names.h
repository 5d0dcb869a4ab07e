/* SPDX-License-Identifier: GPL-3.0-or-later
 * Names of one kernel as compilers, profilers and Triton write them: mangled, demangled, plain, with the suffixes of
 * Triton 2.x. Used by claim_cases. */
#ifndef OCCAM_EVIDENCE_CLAIMS_CLAIM_NAMES_H
#define OCCAM_EVIDENCE_CLAIMS_CLAIM_NAMES_H

#include <stdbool.h>
#include <stddef.h>

enum {
    CLAIM_BASE_NAME_SIZE = 128
};

enum claim_name_form {
    CLAIM_NAME_PLAIN,    /* an identifier: extern "C", Triton, Nsight Compute's base names */
    CLAIM_NAME_MANGLED,  /* _Z... */
    CLAIM_NAME_DEMANGLED /* void ns::f<int>(float*) */
};
enum claim_name_form claim_name_form_of(const char *name);
/* The bare identifier: "matmul_kernel" of "matmul_kernel_0d1d2de", "f" of "_ZN2ns1fIiEvPf" and of
 * "void ns::f<int>(float*)". Cut to the size. Returns out; the name itself where it follows no rule. */
const char *claim_base_name(const char *name, char out[CLAIM_BASE_NAME_SIZE]);
/* Surely the same: equal, once Triton's suffix is left out. */
bool claim_names_equal(const char *left, const char *right);
/* Possibly the same: of different forms with one bare identifier; instantiations of one template share it. */
bool claim_names_compatible(const char *left, const char *right);

#endif
