/* SPDX-License-Identifier: GPL-3.0-or-later
 * Entry point: finds the command, runs it, and makes sure that what it wrote has really arrived. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/options.h"

enum {
    COMMANDS_MAX = 64
};

/* Whether it was standard output's reader that went away: whoever closed the pipe needs no message. */
static bool reader_is_gone(const struct error *error)
{
    return error->status == STATUS_IO && ferror(stdout) != 0 && strstr(error->text, strerror(EPIPE)) != NULL;
}

int command_fail(const char *command_name, const struct error *error)
{
    char line[sizeof error->file + sizeof error->text + 64];

    if (reader_is_gone(error))
        return status_exit_code(error->status);
    (void)fprintf(stderr, "occam: %s: %s\n", command_name, error_describe(error, line, sizeof line));
    return status_exit_code(error->status);
}

/* A closed descriptor would be handed to the next file that is opened, and what is printed would land in it. Reading
 * ends make printing fail as it should. */
static void hold_standard_descriptors(void)
{
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++)
        if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
            (void)open("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

/* A full disk or a closed standard output must not look like success. A reader that went away (EPIPE where SIGPIPE is
 * ignored) knows it: no message. */
static int close_output(int exit_code)
{
    bool failed = ferror(stdout) != 0;
    int reason = errno;

    if (fflush(stdout) != 0) {
        failed = true;
        reason = errno;
    }
    if (fclose(stdout) != 0 && !failed) {
        failed = true;
        reason = errno;
    }
    if (!failed)
        return exit_code;
    if (exit_code != 0)
        return exit_code; /* the command has said why */
    if (reason != EPIPE)
        (void)fprintf(stderr, "occam: cannot write to standard output: %s\n", strerror(reason));
    return status_exit_code(STATUS_IO);
}

static int unknown_command(const char *name)
{
    const char *names[COMMANDS_MAX];
    struct error error = {0};

    if (command_count > COMMANDS_MAX)
        BUG("more than %d commands", COMMANDS_MAX);
    for (size_t i = 0; i < command_count; i++)
        names[i] = command_table[i].name;
    (void)error_set(&error, STATUS_USAGE, "unknown command \"%s\"", name);
    near_names_append(&error, name, names, command_count);
    (void)fprintf(stderr, "occam: %s (occam help lists the commands)\n", error.text);
    return status_exit_code(STATUS_USAGE);
}

/* "occam COMMAND --help" and "occam --help" are the same as "occam help [COMMAND]". */
static bool asks_for_help(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

static int dispatch(int argc, char **argv)
{
    char help[] = "help", version[] = "version";
    char *help_arguments[] = {help, argc > 1 ? argv[1] : NULL, NULL};
    char *version_arguments[] = {version, NULL};
    const struct command *command;

    if (argc < 2) {
        (void)fprintf(stderr, "occam: a command is missing (occam help lists them)\n");
        return status_exit_code(STATUS_USAGE);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return command_find("help")->run(1, help_arguments);
    if (strcmp(argv[1], "--version") == 0)
        return command_find("version")->run(1, version_arguments);
    command = command_find(argv[1]);
    if (command == NULL)
        return unknown_command(argv[1]);
    if (asks_for_help(argc - 1, argv + 1))
        return command_find("help")->run(2, help_arguments);
    return command->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    hold_standard_descriptors();
    return close_output(dispatch(argc, argv));
}
