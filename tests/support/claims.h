/* SPDX-License-Identifier: GPL-3.0-or-later
 * Reading claims in tests. */
#ifndef OCCAM_TESTS_SUPPORT_CLAIMS_H
#define OCCAM_TESTS_SUPPORT_CLAIMS_H

#include <stddef.h>

#include "evidence/profiles/kernel_claim.h"

typedef enum status (*claims_reader)(const char *path, struct kernel_claim_list *list, struct error *error);

/* Reads a file; anything but STATUS_OK fails the test with its message. Release *list. */
void claims_must_read(claims_reader read, const char *path, struct kernel_claim_list *list);
/* The same of bytes written to a temporary file called name. */
void claims_must_read_text(claims_reader read, const char *name, const char *bytes, size_t length,
                           struct kernel_claim_list *list);
/* Status of reading bytes as a file called name; *error filled, no claims kept. */
enum status claims_read_status(claims_reader read, const char *name, const char *bytes, size_t length,
                               struct error *error);
/* Fails the test unless the figure is known to be exactly value. */
void assert_figure(const struct kernel_claim *claim, enum claim_figure figure, double value);
void assert_interval(const struct kernel_claim *claim, enum claim_figure figure, double low, double high);
void assert_unknown(const struct kernel_claim *claim, enum claim_figure figure);
/* Text of the knob, NULL if there is none. */
const char *claim_knob(const struct kernel_claim *claim, const char *name);

#endif
