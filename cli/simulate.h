/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam simulate WHAT`: one entry point per simulator, each in its own cli/simulate_WHAT.c. A new one is a row in
 * cli/command_simulate.c. */
#ifndef OCCAM_CLI_SIMULATE_H
#define OCCAM_CLI_SIMULATE_H

#include "cli/options.h"

/* argv[0] is the simulator's name, the rest its options and operands. Errors are printed by the caller. */
MUST_CHECK enum status simulate_cta(int argc, char **argv, struct error *error);
MUST_CHECK enum status simulate_serving(int argc, char **argv, struct error *error);

#endif
