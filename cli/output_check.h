/* SPDX-License-Identifier: GPL-3.0-or-later
 * Can a file be written? Asked before minutes of work, by the commands that write one at the end. */
#ifndef OCCAM_CLI_OUTPUT_CHECK_H
#define OCCAM_CLI_OUTPUT_CHECK_H

#include "base/status.h"

/* STATUS_IO where the path is a folder, its folder is not there or not writable, or the file is there and cannot be
 * written. Nothing is created. path NULL: STATUS_OK. Says what is so now; the write itself may still fail. */
MUST_CHECK enum status output_check(const char *path, struct error *error);

#endif
