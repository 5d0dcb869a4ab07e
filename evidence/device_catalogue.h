/* SPDX-License-Identifier: GPL-3.0-or-later
 * All known GPUs and compute capabilities: built in, from the user's directory, from --device-file. */
#ifndef OCCAM_EVIDENCE_DEVICE_CATALOGUE_H
#define OCCAM_EVIDENCE_DEVICE_CATALOGUE_H

#include <stddef.h>

#include "model/describe/gpu_device.h"

struct device_catalogue; /* opaque; devices and their strings are borrowed until it is freed */

/* Reads the built-in files, then *.csv of $OCCAM_DEVICE_DIR or else $XDG_CONFIG_HOME/occam/devices or
 * ~/.config/occam/devices if that exists; a user file of the same name replaces the built-in one. */
MUST_CHECK enum status device_catalogue_create(struct device_catalogue **catalogue, struct error *error);
void device_catalogue_free(struct device_catalogue *catalogue);
/* Adds or replaces the device of one file (its name is the file's stem); *device may be NULL. */
MUST_CHECK enum status device_catalogue_add_file(struct device_catalogue *catalogue, const char *path,
                                                 const struct gpu_device **device, struct error *error);
/* Forgiving look-up: case, hyphens, underscores, spaces and a leading "nvidia" or "geforce" do not matter; the file
 * stem, the title, or an unambiguous part of them; "sm_120", "sm120" and "12.0" give limits only. Several matches or
 * none: STATUS_NOT_FOUND with a list of near names in the text. */
MUST_CHECK enum status device_catalogue_find(const struct device_catalogue *catalogue, const char *name,
                                             const struct gpu_device **device, struct error *error);
/* Products first by cc then name; then the bare compute capabilities. */
size_t device_catalogue_count(const struct device_catalogue *catalogue);
const struct gpu_device *device_catalogue_get(const struct device_catalogue *catalogue, size_t index);
/* Where a device was read from: "built in" or a path. */
const char *device_catalogue_origin(const struct device_catalogue *catalogue, const struct gpu_device *device);
/* Citation and note of the limits of a compute capability ("" if none). */
const char *device_catalogue_limits_note(const struct device_catalogue *catalogue, unsigned cc_major,
                                         unsigned cc_minor);

#endif
