/* SPDX-License-Identifier: GPL-3.0-or-later
 * A GPU as a device file (docs/DATA.md "Device files"). Used by `occam calibrate --figures --output`. */
#ifndef OCCAM_EVIDENCE_DEVICE_FILE_WRITER_H
#define OCCAM_EVIDENCE_DEVICE_FILE_WRITER_H

#include "model/describe/gpu_device.h"

/* Every figure the device has, with its citation, kind and note; text fields cite `origin` ("device nvidia-h200").
 * heading: the comment line at the top, without "# ". What device_catalogue_add_file reads back is the same device,
 * figures to twelve digits. Written to a second file that then takes the name; STATUS_IO with errno's reason, and
 * nothing is left behind. */
MUST_CHECK enum status device_file_write(const char *path, const struct gpu_device *device, const char *origin,
                                         const char *heading, struct error *error);

#endif
