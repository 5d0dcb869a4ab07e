/* SPDX-License-Identifier: GPL-3.0-or-later
 * Spaces whose every value is known, for replays of searches: a tuner's results, the shapes of a table of times, or
 * spaces that are made here. Used by tests/replay/. */
#ifndef OCCAM_TESTS_SUPPORT_REPLAY_SPACE_H
#define OCCAM_TESTS_SUPPORT_REPLAY_SPACE_H

#include "calibrate/experiment/search_space.h"
#include "calibrate/experiment/search_table.h"

struct replay_space {
    struct search_table table;
    struct search_space space;
    double least; /* of all times */
    size_t failures;
};

/* Spaces of one kind: a repeat r of a search takes number r % count. */
struct replay_family {
    char name[96];
    size_t count;
    struct replay_space *spaces;
};

/* source: the path of a tuner's results; `TABLE.csv:SHAPE,..:KNOB,..`, each combination of the SHAPE columns with
 * at least 12 times a space of its own over the KNOB columns, value `time_us`, failed where that is empty; or
 * `made:KIND` (replay_space_kinds). Release with replay_family_release. */
MUST_CHECK enum status replay_family_read(const char *source, struct replay_family *family, struct error *error);
void replay_family_release(struct replay_family *family);

/* Fills the table (values, times) of the instance-th space of this kind; the same numbers on every machine but for the
 * last digits of libm. False for an unknown kind. */
MUST_CHECK bool replay_space_make(const char *kind, uint64_t instance, struct search_table *table);

#endif
