/* SPDX-License-Identifier: GPL-3.0-or-later
 * The quick way to the figures of a launch: straight from the text of its event, for events written as profilers write
 * them. Most events of a file are laid out alike, so what stands between the values of one is compared with the next
 * instead of being taken apart again. Used by trace_reader.c. */
#ifndef OCCAM_EVIDENCE_PROFILES_TRACE_SCAN_H
#define OCCAM_EVIDENCE_PROFILES_TRACE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evidence/profiles/trace_launch.h"

enum {
    TRACE_LAYOUTS = 4,
    TRACE_LAYOUT_VALUES_MAX = 40,
    TRACE_LAYOUT_BYTES_MAX = 1024
};

/* What stands before each value and behind the last one, in one piece; and what the values are. */
struct trace_layout {
    char literals[TRACE_LAYOUT_BYTES_MAX];
    size_t literal_bytes;
    unsigned value_count;
    uint16_t literal_lengths[TRACE_LAYOUT_VALUES_MAX + 1];
    uint8_t roles[TRACE_LAYOUT_VALUES_MAX], kinds[TRACE_LAYOUT_VALUES_MAX];
};

/* Zero-initialise. */
struct trace_scan {
    struct trace_layout layouts[TRACE_LAYOUTS];
    unsigned latest, next_replaced;
};

/* False where anything is unusual (an escape in the name, a figure that is no number, a key twice): then the event must
 * be parsed. name points into the text. What only a full parse tells is unknown. */
bool trace_scan_launch(struct trace_scan *scan, const char *text, size_t length, struct trace_launch *launch);

#endif
