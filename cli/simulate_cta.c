/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam simulate cta`: CTAs on SMs, event by event. */
#include "cli/simulate.h"

enum status simulate_cta(int argc, char **argv, struct error *error)
{
    (void)argc;
    (void)argv;
    return error_set(error, STATUS_MISSING, "the CTA simulator is not built in yet");
}
