/* SPDX-License-Identifier: GPL-3.0-or-later
 * What the readers of tuners' results share: where they are in the file, the facts its head states, and the entry that
 * is being put together. Used by tuner_*.c. */
#ifndef OCCAM_EVIDENCE_PROFILES_TUNER_READER_PRIVATE_H
#define OCCAM_EVIDENCE_PROFILES_TUNER_READER_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evidence/arena.h"
#include "evidence/profiles/json_pull.h"
#include "evidence/profiles/kernel_claim.h"

enum {
    TUNER_CLAIMS_MAX = 1 << 19, /* configurations of one file; more are counted as skipped */
    TUNER_TIMES_MAX = 1 << 16,  /* repeats of one configuration that are kept */
    TUNER_KEY_BYTES = 64        /* longer keys are none that is known */
};

#define TUNER_TIME_US_MAX 1e15 /* thirty years */

/* Keys of an entry that may come once. */
enum tuner_key {
    TUNER_KEY_KNOBS = 1,
    TUNER_KEY_TIME = 2,
    TUNER_KEY_RUNS = 4,
    TUNER_KEY_OUTCOME = 8,
    TUNER_KEY_LAUNCHES = 16
};

/* What the head of a file states; texts belong to head_arena. */
struct tuner_head {
    bool is_seen; /* anything of it */
    const char *device, *kernel;
    double us_per_unit; /* of times; 0 not stated */
    bool is_opencl_size;
    size_t knob_count;
    const char *knobs[CLAIM_PARAMETERS_MAX];
};

/* The configuration being read. */
struct tuner_entry {
    double time_us; /* NaN: not stated */
    bool is_failed, has_key_twice;
    unsigned keys_seen; /* bits of enum tuner_key */
    char failure[96];
    size_t time_count, time_capacity;
    double *times_us;
};

struct tuner_reader {
    const char *path;
    struct kernel_claim_list *list;
    struct json_pull *pull;
    struct json_taken taken;
    bool is_cut; /* the file ended; nothing more is to be taken */
    struct tuner_head head;
    bool has_whole_head; /* from a pass of its own */
    struct arena head_arena;
    struct kernel_claim *claim; /* of the entry; NULL between entries, or when there are too many */
    struct tuner_entry entry;
    uint64_t entry_count;
    bool has_counters; /* hardware counters were taken with the times */
    struct error *error;
};

/* The next piece into self->taken; JSON_PIECE_CUT sets is_cut. */
MUST_CHECK enum status tuner_next(struct tuner_reader *self);
/* Passes over the value (or key and value) that self->taken begins. */
MUST_CHECK enum status tuner_skip(struct tuner_reader *self);
/* The next key of an object into key, cut at its size, and the first piece of its value into taken. *more false behind
 * the last one and at the end of the file. */
MUST_CHECK enum status tuner_next_member(struct tuner_reader *self, char key[TUNER_KEY_BYTES], bool *more);
/* The next element of an array into taken; *more as above. */
MUST_CHECK enum status tuner_next_element(struct tuner_reader *self, bool *more);
/* A copy of the text just taken. */
MUST_CHECK enum status tuner_copy_text(struct tuner_reader *self, const char **text);

/* A new claim for the entry that begins with the piece in taken. self->claim stays NULL beyond TUNER_CLAIMS_MAX. */
MUST_CHECK enum status tuner_begin_entry(struct tuner_reader *self, enum claim_source source);
/* Notes that the entry has the key; the second time makes the entry one that is left out. */
void tuner_see_key(struct tuner_entry *entry, enum tuner_key key);
/* The value in taken as a knob; null and containers are passed over. */
MUST_CHECK enum status tuner_add_knob(struct tuner_reader *self, const char *name, size_t name_length);
/* Whether that can be a time in microseconds: 0 to TUNER_TIME_US_MAX, whose squares can still be added. */
bool tuner_is_time(double time_us);
/* The array in taken as times of single runs. */
MUST_CHECK enum status tuner_add_times(struct tuner_reader *self, double us_per_unit);
void tuner_fail_entry(struct tuner_entry *entry, const char *format, ...) PRINTF_LIKE(2, 3);
/* Turns the entry into times of its claim; an entry that the end of the file cut is dropped. */
void tuner_end_entry(struct tuner_reader *self);
/* "miliseconds", "ms", "Microseconds", ...; 0 unknown. */
double tuner_us_per_unit(const char *unit);

/* With the piece that opens the container in taken. */
MUST_CHECK enum status tuner_read_kernel_tuner_cache(struct tuner_reader *self);
MUST_CHECK enum status tuner_read_t4_results(struct tuner_reader *self);
MUST_CHECK enum status tuner_read_ktt_results(struct tuner_reader *self);

/* An array of results: read_entry for each that is an object, others are counted as bad entries. */
MUST_CHECK enum status tuner_read_objects(struct tuner_reader *self,
                                          enum status (*read_entry)(struct tuner_reader *self));

#endif
