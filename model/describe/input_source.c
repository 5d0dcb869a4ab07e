/* SPDX-License-Identifier: GPL-3.0-or-later
 * Names of input sources. Used by device files, scenarios and every report that says where a number came from. */
#include "model/describe/input_source.h"

#include "base/status.h"

const char *input_source_name(enum input_source source)
{
    static const char *const names[INPUT_SOURCE_COUNT] = {
        [INPUT_SOURCE_MEASURED] = "measured",     [INPUT_SOURCE_COMPILED] = "compiled",
        [INPUT_SOURCE_FITTED] = "fitted",         [INPUT_SOURCE_DATASHEET] = "datasheet",
        [INPUT_SOURCE_LITERATURE] = "literature", [INPUT_SOURCE_RULE] = "rule",
        [INPUT_SOURCE_FORMULA] = "formula",       [INPUT_SOURCE_USER] = "user",
        [INPUT_SOURCE_ASSUMED] = "assumed",       [INPUT_SOURCE_ABSENT] = "absent",
    };
    if ((unsigned)source >= (unsigned)INPUT_SOURCE_COUNT)
        BUG("input source %d does not exist", (int)source);
    return names[source];
}
