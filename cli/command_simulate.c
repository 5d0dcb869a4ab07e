/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam simulate`: which simulator, and its errors. */
#include <string.h>

#include "cli/command.h"
#include "cli/command_texts.h"
#include "cli/simulate.h"

static const struct {
    const char *name;
    enum status (*run)(int argc, char **argv, struct error *error);
} simulators[] = {
    {"cta", simulate_cta},
    {"serving", simulate_serving},
};
enum {
    SIMULATORS = sizeof simulators / sizeof simulators[0]
};

static enum status unknown_simulator(const char *name, struct error *error)
{
    const char *names[SIMULATORS];
    enum status status;

    for (size_t i = 0; i < SIMULATORS; i++)
        names[i] = simulators[i].name;
    if (name == NULL)
        return error_set(error, STATUS_USAGE, "what is to be simulated? (occam help simulate)");
    status = error_set(error, STATUS_USAGE, "no simulator is called \"%s\"", name);
    near_names_append(error, name, names, SIMULATORS);
    return status;
}

int command_simulate(int argc, char **argv)
{
    struct error error = {0};
    enum status status = STATUS_USAGE;
    size_t i = 0;

    while (i < SIMULATORS && (argc < 2 || strcmp(argv[1], simulators[i].name) != 0))
        i++;
    if (i == SIMULATORS)
        status = unknown_simulator(argc < 2 ? NULL : argv[1], &error);
    else
        status = simulators[i].run(argc - 1, argv + 1, &error);
    return status == STATUS_OK ? 0 : command_fail("simulate", &error);
}
