/* SPDX-License-Identifier: GPL-3.0-or-later
 * Calibrations as JSON files: everything of struct calibration, and what it was made from. The format is described in
 * docs/DATA.md. */
#ifndef OCCAM_EVIDENCE_CALIBRATION_FILE_H
#define OCCAM_EVIDENCE_CALIBRATION_FILE_H

#include <stddef.h>

#include "model/describe/calibration.h"

/* Only written, for people and for programs that make the file again. Borrowed. */
struct calibration_provenance {
    size_t file_count;
    const char *const *files; /* with measurements */
    const char *program;      /* version of occam */
    uint64_t seed;
    const char *rows; /* how the training rows were chosen, in words */
};

/* Writes through a second file in the same folder, which then takes the name: a reader sees the old file or the new
 * one. STATUS_IO with errno's reason, nothing is left behind. */
MUST_CHECK enum status calibration_file_write(const char *path, const struct calibration *calibration,
                                              const struct calibration_provenance *provenance, struct error *error);

/* name: a path (it holds a '/', or such a file is there), or a bare name: NAME.json of
 * $XDG_CONFIG_HOME/occam/calibrations (else ~/.config/occam/calibrations), then the built-in data/calibrations. Numbers
 * read back exactly. Unknown name: STATUS_MISSING with those that are known. Every key is checked: STATUS_BAD_DATA
 * names file and key (line and column where it is not JSON). Release with calibration_release. */
MUST_CHECK enum status calibration_file_read(const char *name, struct calibration *calibration, struct error *error);

/* The same from text[0..length), called file in messages. */
MUST_CHECK enum status calibration_text_read(const char *text, size_t length, const char *file,
                                             struct calibration *calibration, struct error *error);

#endif
