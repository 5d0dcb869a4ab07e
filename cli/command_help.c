/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam help`: the commands, or one command's options and examples. */
#include <stdio.h>

#include "cli/command.h"
#include "cli/command_texts.h"
#include "cli/options.h"

static void list_commands(void)
{
    (void)printf("occam predicts what a GPU kernel or serving configuration will do, before it is run.\n\n"
                 "Usage: occam COMMAND [ARGUMENT ...]\n\nCommands:\n");
    for (size_t i = 0; i < command_count; i++)
        (void)printf("  %-10s  %s\n", command_table[i].name, command_table[i].summary);
    (void)printf("\n`occam help COMMAND` shows options and examples. Start with\n"
                 "`occam predict dsv4-flash-sparse-decode`.\n");
}

int command_help(int argc, char **argv)
{
    const char *names[64];
    struct operands operands;
    struct error error = {0};
    const struct command *command;

    if (options_parse(argc, argv, NULL, 0, "COMMAND", 0, 1, &operands, &error) != STATUS_OK)
        return command_fail("help", &error);
    if (operands.count == 0) {
        list_commands();
        return 0;
    }
    command = command_find(operands.items[0]);
    if (command == NULL) {
        for (size_t i = 0; i < command_count; i++)
            names[i] = command_table[i].name;
        (void)error_set(&error, STATUS_USAGE, "unknown command \"%s\"", operands.items[0]);
        near_names_append(&error, operands.items[0], names, command_count);
        return command_fail("help", &error);
    }
    (void)printf("occam %s: %s\n\nUsage: occam %s\n\n%s", command->name, command->summary, command->usage,
                 command->help);
    return 0;
}
