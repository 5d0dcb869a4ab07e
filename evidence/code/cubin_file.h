/* SPDX-License-Identifier: GPL-3.0-or-later
 * Compiled kernels out of a cubin (ELF, machine 190): registers, SMEM, stack, threads, barriers, architecture. */
#ifndef OCCAM_EVIDENCE_CODE_CUBIN_FILE_H
#define OCCAM_EVIDENCE_CODE_CUBIN_FILE_H

#include "evidence/code/compiled_kernel.h"

enum {
    CUBIN_BYTES_MAX = 256 << 20,
    CUBIN_KERNELS_MAX = 1 << 16
};

/* The bytes begin like an ELF file, or like one of NVIDIA's containers of several. */
bool cubin_is_elf(const char *bytes, size_t length);
bool cubin_is_fatbin(const char *bytes, size_t length);

/* Appends one record per kernel (entry functions; device functions are left out) to *list, in the order of their code.
 * ABI versions 7 (CUDA 12) and 8 (CUDA 13), linked or relocatable. `name` is used in messages and as the records' file;
 * the bytes are only needed during the call and never changed.
 * - Registers: EIATTR_REGCOUNT of .nv.info; sh_info of .text only where that is missing, because from sm_90 on it is 0.
 * - Static SMEM: .nv.shared.KERNEL, less the reserve that linked code of sm_90 and later holds.
 * - Threads: REQNTID exact, MAX_THREADS a bound. Dynamic SMEM and spills are not in a cubin.
 * - In relocatable files registers and stack are bounds from below: called functions join at link time.
 * Anything that points outside the file, is cut short or contradicts itself: STATUS_BAD_DATA, nothing appended; files
 * without kernels likewise. */
MUST_CHECK enum status cubin_parse(const char *bytes, size_t length, const char *name,
                                   struct compiled_kernel_list *list, struct error *error);

#endif
