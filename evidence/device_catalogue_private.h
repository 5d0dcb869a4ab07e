/* SPDX-License-Identifier: GPL-3.0-or-later
 * Private to evidence/device_catalogue.c (the collection) and evidence/device_file.c (one file). */
#ifndef OCCAM_EVIDENCE_DEVICE_CATALOGUE_PRIVATE_H
#define OCCAM_EVIDENCE_DEVICE_CATALOGUE_PRIVATE_H

#include <stdbool.h>

#include "base/csv.h"
#include "base/text_buffer.h"
#include "evidence/device_catalogue.h"

/* One file. The device's texts point into table; entries are never moved or freed before the catalogue is. */
struct device_entry {
    struct gpu_device device;
    struct csv_table table;
    char *origin;
    struct text_buffer limits_note; /* of a compute capability */
};

struct entry_list {
    struct device_entry **items;
    size_t count, capacity;
};

struct device_catalogue {
    struct entry_list products;     /* by cc, then name */
    struct entry_list capabilities; /* by cc */
    struct entry_list replaced;     /* kept because callers may hold borrowed pointers */
};

/* An empty entry with every figure absent; NULL without memory. */
struct device_entry *device_entry_create(const char *origin);
/* NULL is fine. */
void device_entry_free(struct device_entry *entry);
/* Fill entry->device from entry->table: a product (its compute capability is looked up in the catalogue), or the limits
 * of a compute capability. STATUS_BAD_DATA with file and line. */
MUST_CHECK enum status device_file_read_product(const struct device_catalogue *catalogue, struct device_entry *entry,
                                                struct error *error);
MUST_CHECK enum status device_file_read_limits(const struct device_catalogue *catalogue, struct device_entry *entry,
                                               struct error *error);
/* "12.0" into 12 and 0; false for anything else. */
bool compute_capability_parse(const char *text, unsigned *major, unsigned *minor);
/* NULL if the catalogue has no such capability. */
const struct device_entry *compute_capability_find(const struct device_catalogue *catalogue, unsigned major,
                                                   unsigned minor);
/* Appends " 7.0 7.5 ..." style names to out. */
void compute_capability_list(const struct device_catalogue *catalogue, struct text_buffer *out);

#endif
