/* SPDX-License-Identifier: GPL-3.0-or-later
 * A shell by posix_spawn (OpenMP does not survive a fork), its output by poll, so that a command that hangs is ended.
 */
#include "calibrate/experiment/user_command.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

extern char **environ;

enum {
    TAIL_BYTES = 1 << 16, /* of the output; the number is looked for in it */
    NAME_BYTES_MAX = 128
};

static enum status append_value(const char *name, const char *const *names, const double *values, size_t count,
                                struct text_buffer *out, struct error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            char number[32];
            text_buffer_append(out, number_format(values[i], number));
            return STATUS_OK;
        }
    }
    return error_set(error, STATUS_USAGE,
                     "the command names {%s}, which is no knob or workload variable ({{ is a brace)", name);
}

enum status user_command_fill(const char *pattern, const char *const *names, const double *values, size_t count,
                              struct text_buffer *out, struct error *error)
{
    for (const char *at = pattern; *at != '\0';) {
        if (*at != '{' || at[1] == '{') {
            text_buffer_append_bytes(out, at, 1);
            at += *at == '{' ? 2 : 1;
            continue;
        }
        const char *end = strchr(at, '}');
        char name[NAME_BYTES_MAX];
        if (end == NULL || (size_t)(end - at) > sizeof name) {
            return error_set(error, STATUS_USAGE, "the command has a { without } ({{ is a brace)");
        }
        memcpy(name, at + 1, (size_t)(end - at - 1));
        name[end - at - 1] = '\0';
        const enum status status = append_value(name, names, values, count, out, error);
        if (status != STATUS_OK) {
            return status;
        }
        at = end + 1;
    }
    return out->failed ? error_set(error, STATUS_NO_MEMORY, "no memory for a command") : STATUS_OK;
}

/* While a command runs, what would end this process is taken note of first: the command has a process group of its own,
 * so that its time limit reaches all of it, and a Ctrl-C would miss it. */
struct guard {
    sigset_t before;
    int signals; /* signalfd; -1: there is none, and an interruption leaves the command running */
    int caught;  /* 0: none */
};

static void guard_begin(struct guard *guard)
{
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGHUP);
    *guard = (struct guard){.signals = signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK)};
    sigemptyset(&guard->before);
    (void)sigprocmask(guard->signals >= 0 ? SIG_BLOCK : SIG_UNBLOCK, guard->signals >= 0 ? &ending : &guard->before,
                      &guard->before);
}

static bool guard_caught(struct guard *guard)
{
    struct signalfd_siginfo info;
    if (guard->signals >= 0 && read(guard->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        guard->caught = (int)info.ssi_signo;
    }
    return guard->caught != 0;
}

/* Ends as the signal would have, now that the command is gone. */
static void guard_end(struct guard *guard)
{
    if (guard->signals >= 0) {
        close(guard->signals);
    }
    (void)sigprocmask(SIG_SETMASK, &guard->before, NULL);
    if (guard->caught != 0) {
        (void)raise(guard->caught);
    }
}

static enum status start_shell(const char *command, const sigset_t *mask, pid_t *pid, int *from, struct error *error)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char *arguments[] = {(char[]){"sh"}, (char[]){"-c"}, strdup(command), NULL};
    int ends[2];
    if (arguments[2] == NULL || pipe(ends) != 0) {
        free(arguments[2]);
        return error_set(error, STATUS_IO, "no pipe to a command: %s", strerror(errno));
    }
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, mask);
    const int code = posix_spawn(pid, "/bin/sh", &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    free(arguments[2]);
    close(ends[1]);
    *from = ends[0];
    if (code != 0) {
        close(ends[0]);
        return error_set(error, STATUS_IO, "/bin/sh does not start: %s", strerror(code));
    }
    return STATUS_OK;
}

/* The end of the output into tail; false when the time ran out or somebody wants this process to end. */
static bool read_tail(int from, double end_s, struct guard *guard, char *tail, size_t *length)
{
    for (;;) {
        struct pollfd watched[] = {{.fd = from, .events = POLLIN}, {.fd = guard->signals, .events = POLLIN}};
        const double left_ms = ceil((end_s - clock_now_s()) * 1e3);
        if (left_ms <= 0 || guard_caught(guard)) {
            return false;
        }
        const int ready = poll(watched, 2, left_ms > 1e6 ? 1000000 : (int)left_ms);
        if (ready == 0 || (ready < 0 && errno == EINTR) || (ready > 0 && watched[0].revents == 0)) {
            continue;
        }
        if (*length > TAIL_BYTES / 2) {
            memmove(tail, tail + *length - TAIL_BYTES / 2, TAIL_BYTES / 2);
            *length = TAIL_BYTES / 2;
        }
        const ssize_t got = ready < 0 ? -1 : read(from, tail + *length, TAIL_BYTES - *length);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return true;
        }
        *length += (size_t)got;
    }
}

/* A command may close its output and go on. */
static int wait_end(pid_t pid, double end_s, struct guard *guard, bool *timed_out)
{
    int state = 0;
    for (;;) {
        const pid_t ended = waitpid(pid, &state, *timed_out || guard->caught != 0 ? 0 : WNOHANG);
        if (ended == pid || (ended < 0 && errno != EINTR)) {
            return state;
        }
        struct pollfd watched = {.fd = guard->signals, .events = POLLIN};
        (void)poll(&watched, 1, 20);
        *timed_out = clock_now_s() > end_s;
        if (guard_caught(guard) || *timed_out) {
            (void)kill(-pid, SIGKILL);
        }
    }
}

static const char *doubt_text(enum printed_doubt doubt)
{
    return doubt == PRINTED_DOUBT_THOUSANDS
               ? "its last number has a comma before three digits: thousands, or another number?"
           : doubt == PRINTED_DOUBT_DECIMAL_COMMA
               ? "its number has a comma before its last digits: print a decimal point"
               : "its number has a space before three digits: print it without";
}

static void judge_end(int state, const char *tail, size_t length, enum printed_unit wanted,
                      struct user_command_result *result)
{
    if (result->timed_out) {
        (void)snprintf(result->reason, sizeof result->reason, "over its time limit");
    } else if (WIFSIGNALED(state)) {
        (void)snprintf(result->reason, sizeof result->reason, "ended by signal %d", WTERMSIG(state));
    } else if (WEXITSTATUS(state) != 0) {
        (void)snprintf(result->reason, sizeof result->reason, "exit code %d", WEXITSTATUS(state));
    } else if (!printed_number_find(tail, length, wanted, &result->number)) {
        (void)snprintf(result->reason, sizeof result->reason, "no number in its output");
    } else if (result->number.doubt != PRINTED_DOUBT_NONE) {
        result->unreadable = true;
        (void)snprintf(result->reason, sizeof result->reason, "%s", doubt_text(result->number.doubt));
    } else if (!(result->number.value > 0)) {
        (void)snprintf(result->reason, sizeof result->reason, "gave %g, expected more than 0", result->number.value);
    } else {
        result->ok = true;
    }
}

enum status user_command_run(const char *command, double limit_s, enum printed_unit wanted,
                             struct user_command_result *result, struct error *error)
{
    char *tail = malloc(TAIL_BYTES);
    const double begin_s = clock_now_s(), end_s = limit_s > 0 ? begin_s + limit_s : HUGE_VAL;
    struct guard guard;
    size_t length = 0;
    pid_t pid = 0;
    int from = -1;
    *result = (struct user_command_result){.number = {.value = (double)NAN}};
    guard_begin(&guard);
    enum status status = tail ? start_shell(command, &guard.before, &pid, &from, error)
                              : error_set(error, STATUS_NO_MEMORY, "no memory for output");
    if (status == STATUS_OK) {
        const bool has_ended = read_tail(from, end_s, &guard, tail, &length);
        result->timed_out = !has_ended && guard.caught == 0;
        if (!has_ended) {
            (void)kill(-pid, SIGKILL);
        }
        close(from);
        const int state = wait_end(pid, end_s, &guard, &result->timed_out);
        result->seconds = clock_now_s() - begin_s;
        judge_end(state, tail, length, wanted, result);
    }
    guard_end(&guard);
    free(tail);
    return status;
}
