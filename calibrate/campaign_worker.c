/* SPDX-License-Identifier: GPL-3.0-or-later
 * The worker process of a campaign, both ends: a crash, a hang or a broken GPU context costs one configuration. Started
 * by posix_spawn, never forked: CUDA and OpenMP do not survive a fork. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "calibrate/campaign_private.h"

extern char **environ;

static bool write_all(int descriptor, const void *bytes, size_t count)
{
    const char *at = bytes;
    while (count > 0) {
        ssize_t written = write(descriptor, at, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        at += written;
        count -= (size_t)written;
    }
    return true;
}

enum receipt {
    RECEIPT_COMPLETE,
    RECEIPT_END,
    RECEIPT_LATE
};

static enum receipt read_all(int descriptor, void *bytes, size_t count, double limit_s)
{
    char *at = bytes;
    double end = clock_now_s() + limit_s;
    while (count > 0) {
        struct pollfd watched = {.fd = descriptor, .events = POLLIN};
        double left_ms = ceil((end - clock_now_s()) * 1e3);
        if (left_ms <= 0.0)
            return RECEIPT_LATE;
        int ready = poll(&watched, 1, left_ms > 1e6 ? 1000000 : (int)left_ms);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready < 0)
            return RECEIPT_END;
        if (ready == 0)
            continue; /* the clock above decides */
        ssize_t got = read(descriptor, at, count);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return RECEIPT_END;
        at += got;
        count -= (size_t)got;
    }
    return RECEIPT_COMPLETE;
}

/* ---- the campaign's side ------------------------------------------------------------------------------------------
 */

/* Reaps the process; describes how it ended. */
static void reap(struct campaign_process *process, bool force, char *text, size_t text_size)
{
    int status = 0;
    if (force)
        kill(process->pid, SIGKILL);
    while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (text && WIFSIGNALED(status))
        snprintf(text, text_size, "the worker was ended by signal %d", WTERMSIG(status));
    else if (text)
        snprintf(text, text_size, "the worker ended with exit code %d", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    if (process->to >= 0)
        close(process->to);
    close(process->from);
    *process = (struct campaign_process){0};
}

static int spawn(struct campaign_process *process, char *const *argv, int input[2], int output[2])
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input[0], 0);
    posix_spawn_file_actions_adddup2(&actions, output[1], 1);
    posix_spawnattr_init(&attributes);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE); /* ignored here, not there */
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    int failed = posix_spawnp(&process->pid, argv[0], &actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

enum status campaign_process_start(struct campaign_process *process, char *const *argv, double limit_s,
                                   struct measure_facts *facts, struct error *error)
{
    int input[2], output[2];
    *process = (struct campaign_process){0};
    if (pipe(input) != 0)
        return error_set(error, STATUS_IO, "a pipe to the worker: %s", strerror(errno));
    if (pipe(output) != 0) {
        close(input[0]);
        close(input[1]);
        return error_set(error, STATUS_IO, "a pipe from the worker: %s", strerror(errno));
    }
    for (int i = 0; i < 2; i++) { /* the worker keeps its own copies only, else it would never see the end of input */
        fcntl(input[i], F_SETFD, FD_CLOEXEC);
        fcntl(output[i], F_SETFD, FD_CLOEXEC);
    }
    int failed = spawn(process, argv, input, output);
    close(input[0]);
    close(output[1]);
    process->to = input[1];
    process->from = output[0];
    if (failed) {
        close(process->to);
        close(process->from);
        process->pid = 0;
        return error_set(error, STATUS_IO, "%s: %s", argv[0], strerror(failed));
    }
    struct worker_hello hello;
    char ended[80];
    enum receipt receipt = read_all(process->from, &hello, sizeof hello, limit_s);
    if (receipt != RECEIPT_COMPLETE || hello.version != WORKER_VERSION) {
        reap(process, true, ended, sizeof ended);
        return error_set(error, STATUS_IO, "the worker did not start: %s",
                         receipt == RECEIPT_LATE ? "over its time limit" : ended);
    }
    if (hello.status != STATUS_OK) {
        reap(process, true, NULL, 0);
        return error_set(error, hello.status, "%s", hello.error.text);
    }
    *facts = hello.facts;
    return STATUS_OK;
}

void campaign_process_measure(struct campaign_process *process, const struct measure_config *config, double limit_s,
                              struct measure_result *result)
{
    char text[1024];
    measure_config_format(config, text, sizeof text);
    enum receipt receipt = RECEIPT_END;
    if (write_all(process->to, text, strlen(text)) && write_all(process->to, "\n", 1))
        receipt = read_all(process->from, result, sizeof *result, limit_s);
    if (receipt == RECEIPT_COMPLETE) {
        if (measure_outcome_is_fatal(result->outcome))
            campaign_process_stop(process);
        return;
    }
    memset(result, 0, sizeof *result);
    result->relative_error = result->cold.median_us = result->warm.median_us = result->single.median_us = NAN;
    result->before = result->after = (struct measure_sensors){NAN, NAN, NAN, NAN, 0};
    reap(process, true, result->reason, sizeof result->reason);
    result->outcome = MEASURE_OUTCOME_CRASHED;
    if (receipt == RECEIPT_LATE) {
        result->outcome = MEASURE_OUTCOME_TIMED_OUT;
        snprintf(result->reason, sizeof result->reason, "over the limit of %g s", limit_s);
    }
}

void campaign_process_stop(struct campaign_process *process)
{
    if (!process->pid)
        return;
    char nothing;
    close(process->to);
    process->to = -1;
    bool late = read_all(process->from, &nothing, 1, 5.0) == RECEIPT_LATE;
    reap(process, late, NULL, 0);
}

/* ---- the worker's side ---------------------------------------------------------------------------------------------
 */

/* One line without its end; false at the end of input or when it is too long. */
static bool read_line(int descriptor, char *line, size_t size)
{
    size_t length = 0;
    for (;;) {
        char byte;
        ssize_t got = read(descriptor, &byte, 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || length + 1 >= size)
            return false;
        if (byte == '\n')
            break;
        line[length++] = byte;
    }
    line[length] = '\0';
    return true;
}

int campaign_worker_refuse(enum status status, const struct error *error, int out)
{
    struct worker_hello hello;
    memset(&hello, 0, sizeof hello);
    hello.version = WORKER_VERSION;
    hello.status = status;
    hello.error = *error;
    write_all(out, &hello, sizeof hello);
    return status_exit_code(status);
}

int campaign_worker(struct measure_device *device, const struct measure_options *options, int in, int out)
{
    struct worker_hello hello;
    char line[1032];
    memset(&hello, 0, sizeof hello);
    hello.version = WORKER_VERSION;
    hello.facts = *measure_device_facts(device);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a hung launch would outlive a campaign that was killed */
#endif
    int exit_code = write_all(out, &hello, sizeof hello) ? 0 : 1;
    while (exit_code == 0 && read_line(in, line, sizeof line)) {
        struct measure_config config;
        struct measure_result result;
        struct error error = {0};
        enum status status = measure_config_parse(line, &config, &error);
        if (status == STATUS_OK)
            status = measure_run(device, &config, options, &result, &error);
        if (status == STATUS_NO_MEMORY) { /* the host's: says nothing of the configuration */
            result.outcome = MEASURE_OUTCOME_NOT_TRIED;
            snprintf(result.reason, sizeof result.reason, "%.255s", error.text);
            status = STATUS_OK;
        }
        if (status != STATUS_OK || !write_all(out, &result, sizeof result))
            exit_code = 1;
        else if (measure_outcome_is_fatal(result.outcome))
            break;
    }
    measure_device_close(device);
    return exit_code;
}
