/* SPDX-License-Identifier: GPL-3.0-or-later
 * What the reader and the writer of calibration files agree on. */
#ifndef OCCAM_EVIDENCE_CALIBRATION_FILE_PRIVATE_H
#define OCCAM_EVIDENCE_CALIBRATION_FILE_PRIVATE_H

#define CALIBRATION_FORMAT "occam calibration"

enum {
    CALIBRATION_FORMAT_VERSION = 1
};

#endif
