/* SPDX-License-Identifier: GPL-3.0-or-later
 * Names of the tile-loop enumerations. */
#include "model/describe/tile_loop.h"

#include <stddef.h>

const char *number_format_name(enum number_format format)
{
    static const char *const names[NUMBER_FORMAT_COUNT] = {"bf16", "fp16", "fp8", "fp4", "tf32"};
    return (unsigned)format < NUMBER_FORMAT_COUNT ? names[format] : "unknown";
}
