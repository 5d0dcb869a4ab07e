/* SPDX-License-Identifier: GPL-3.0-or-later
 * SHA-256: seals of predictions and of a ledger's rows. */
#ifndef OCCAM_BASE_SHA256_H
#define OCCAM_BASE_SHA256_H

#include <stddef.h>

enum {
    SHA256_HEX_SIZE = 65
};
/* SHA-256 of length bytes as 64 hex digits. Returns out. */
const char *sha256_hex(const char *text, size_t length, char out[SHA256_HEX_SIZE]);

#endif
