/* SPDX-License-Identifier: GPL-3.0-or-later
 * The calibrations that a bare name finds: the user's folder, then what is built in. Used by `occam calibrate --list`.
 */
#ifndef OCCAM_EVIDENCE_CALIBRATION_LIST_H
#define OCCAM_EVIDENCE_CALIBRATION_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum {
    CALIBRATION_NAME_SIZE = 208
};

struct calibration_list_entry {
    char name[CALIBRATION_NAME_SIZE]; /* as calibration_file_read takes it */
    bool built_in;                    /* else in the user's folder */
};

/* Sorted by name; a file of the user's hides a built-in one of the same name, as it does when it is read. *entries is
 * the caller's to free. A user's folder that is not there has no entries; one that cannot be read is STATUS_IO. */
MUST_CHECK enum status calibration_list_create(struct calibration_list_entry **entries, size_t *count,
                                               struct error *error);

/* The built-in calibration that was learnt from this scenario on this device (their names): copied to name, "" if there
 * is none. Reads the first kilobyte of each. */
void calibration_list_built_in_for(const char *scenario, const char *device, char name[CALIBRATION_NAME_SIZE]);

#endif
