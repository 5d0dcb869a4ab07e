/* SPDX-License-Identifier: GPL-3.0-or-later
 * gnuplot as a child process. Socket pairs instead of pipes, because send() with MSG_NOSIGNAL reports a gnuplot that
 * stopped reading as EPIPE without touching SIGPIPE; and poll() on all three ends, because a script and a picture are
 * both larger than a pipe's buffer. Called by plots/figure.c. */
#include "plots/gnuplot_pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum {
    CHANNEL_COUNT = 3,
    COMPLAINT_BYTES_MAX = 4096,
    OUTPUT_BYTES_MAX = 64 << 20
};

/* One end of each channel is ours, the other the child's; index = the child's file descriptor. -1 = closed. */
struct channels {
    int ours[CHANNEL_COUNT], theirs[CHANNEL_COUNT];
};

static void close_end(int *descriptor)
{
    if (*descriptor >= 0)
        (void)close(*descriptor);
    *descriptor = -1;
}

static void channels_close(struct channels *channels)
{
    for (int i = 0; i < CHANNEL_COUNT; i++) {
        close_end(&channels->ours[i]);
        close_end(&channels->theirs[i]);
    }
}

/* Moves a descriptor above 0..2, so that the dup2 calls in the child cannot overwrite a channel. */
static int raise_descriptor(int descriptor)
{
    int raised;

    if (descriptor > STDERR_FILENO)
        return descriptor;
    raised = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    (void)close(descriptor);
    return raised;
}

static enum status channels_open(struct channels *channels, struct error *error)
{
    for (int i = 0; i < CHANNEL_COUNT; i++)
        channels->ours[i] = channels->theirs[i] = -1;
    for (int i = 0; i < CHANNEL_COUNT; i++) {
        int pair[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
            return error_set(error, STATUS_IO, "cannot make a channel to gnuplot: %s", strerror(errno));
        channels->ours[i] = raise_descriptor(pair[0]);
        channels->theirs[i] = raise_descriptor(pair[1]);
        if (channels->ours[i] < 0 || channels->theirs[i] < 0)
            return error_set(error, STATUS_IO, "cannot make a channel to gnuplot: %s", strerror(errno));
    }
    return STATUS_OK;
}

/* Starts gnuplot with the child's ends as descriptors 0, 1, 2 and SIGPIPE as the system has it by default. */
static enum status start(const char *argument, const struct channels *channels, pid_t *child, struct error *error)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    char program[] = "gnuplot", option[32];
    char *arguments[] = {program, option, NULL};
    int outcome;

    if (strlen(argument) >= sizeof option)
        BUG("gnuplot argument too long");
    strcpy(option, argument);
    if (posix_spawn_file_actions_init(&actions) != 0)
        return error_set(error, STATUS_NO_MEMORY, "memory ran out while starting gnuplot");
    if (posix_spawnattr_init(&attributes) != 0) {
        (void)posix_spawn_file_actions_destroy(&actions);
        return error_set(error, STATUS_NO_MEMORY, "memory ran out while starting gnuplot");
    }
    (void)sigemptyset(&defaults);
    (void)sigaddset(&defaults, SIGPIPE);
    outcome = posix_spawnattr_setsigdefault(&attributes, &defaults);
    if (outcome == 0)
        outcome = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    for (int i = 0; i < CHANNEL_COUNT && outcome == 0; i++)
        outcome = posix_spawn_file_actions_adddup2(&actions, channels->theirs[i], i);
    if (outcome == 0)
        outcome = posix_spawnp(child, program, &actions, &attributes, arguments, environ);
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (outcome == ENOENT || outcome == EACCES || outcome == ENOTDIR)
        return error_set(error, STATUS_MISSING,
                         "gnuplot is not found in PATH (Debian and Ubuntu: apt-get install gnuplot-nox)");
    if (outcome != 0)
        return error_set(error, STATUS_IO, "cannot start gnuplot: %s", strerror(outcome));
    return STATUS_OK;
}

/* Sends what the socket takes now. Returns false when there is nothing more to send or the reader is gone. */
static bool feed(int descriptor, const char *script, size_t length, size_t *sent)
{
    ssize_t count = send(descriptor, script + *sent, length - *sent, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (count >= 0)
        *sent += (size_t)count;
    else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
        return false; /* the exit status tells why it stopped reading */
    return *sent < length;
}

/* Appends what is there, at most until the buffer holds limit bytes; the rest is read and dropped. Returns false at
 * the end of the stream. */
static bool collect(int descriptor, struct text_buffer *buffer, size_t limit, bool *cut)
{
    char chunk[16384];
    ssize_t count = recv(descriptor, chunk, sizeof chunk, MSG_DONTWAIT);

    if (count < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    if (buffer->length + (size_t)count <= limit)
        text_buffer_append_bytes(buffer, chunk, (size_t)count);
    else
        *cut = true;
    return count > 0;
}

/* Feeds and collects until gnuplot has closed both of its outputs. Returns true when output was cut. */
static bool exchange(struct channels *channels, const char *script, size_t length, struct text_buffer *output,
                     struct text_buffer *complaint)
{
    size_t sent = 0;
    bool output_cut = false, complaint_cut = false;

    while (channels->ours[1] >= 0 || channels->ours[2] >= 0) {
        struct pollfd ends[CHANNEL_COUNT];

        if (channels->ours[0] >= 0 && (script == NULL || sent == length))
            close_end(&channels->ours[0]);
        for (int i = 0; i < CHANNEL_COUNT; i++)
            ends[i] = (struct pollfd){.fd = channels->ours[i], .events = i == 0 ? POLLOUT : POLLIN};
        if (poll(ends, CHANNEL_COUNT, -1) < 0)
            continue; /* EINTR; other errors cannot come from valid arguments */
        if (ends[0].revents != 0 && !feed(channels->ours[0], script, length, &sent))
            close_end(&channels->ours[0]);
        if (ends[1].revents != 0 && !collect(channels->ours[1], output, OUTPUT_BYTES_MAX, &output_cut))
            close_end(&channels->ours[1]);
        if (ends[2].revents != 0 && !collect(channels->ours[2], complaint, COMPLAINT_BYTES_MAX, &complaint_cut))
            close_end(&channels->ours[2]);
    }
    return output_cut;
}

/* gnuplot repeats the command and marks the place before it says what is wrong: the first line that names a line
 * number or, failing that, the first line with words in it. Cuts complaint in place. */
static const char *first_complaint(char *complaint)
{
    char *saved = NULL, *first = NULL;

    if (complaint == NULL)
        return "it says nothing";
    for (char *line = strtok_r(complaint, "\r\n", &saved); line != NULL; line = strtok_r(NULL, "\r\n", &saved)) {
        line += strspn(line, " \t^");
        if (*line == '\0')
            continue;
        if (strncmp(line, "line ", 5) == 0)
            return line;
        if (first == NULL)
            first = line;
    }
    return first == NULL ? "it says nothing" : first;
}

static enum status judge(pid_t child, bool cut, char *complaint, struct error *error)
{
    int exit_state;

    while (waitpid(child, &exit_state, 0) < 0)
        if (errno != EINTR)
            return error_set(error, STATUS_IO, "cannot learn how gnuplot ended: %s", strerror(errno));
    if (WIFSIGNALED(exit_state))
        return error_set(error, STATUS_IO, "gnuplot was killed by signal %d", WTERMSIG(exit_state));
    if (WEXITSTATUS(exit_state) == 127) /* posix_spawn may report a program that cannot run this way */
        return error_set(error, STATUS_MISSING,
                         "gnuplot cannot be run (Debian and Ubuntu: apt-get install gnuplot-nox)");
    if (WEXITSTATUS(exit_state) != 0)
        return error_set(error, STATUS_IO, "gnuplot failed with exit status %d: %s", WEXITSTATUS(exit_state),
                         first_complaint(complaint));
    if (cut)
        return error_set(error, STATUS_LIMIT, "gnuplot wrote more than %d MiB", OUTPUT_BYTES_MAX >> 20);
    return STATUS_OK;
}

enum status gnuplot_run(const char *argument, const char *script, size_t script_length, struct text_buffer *output,
                        struct error *error)
{
    struct text_buffer complaint = {0};
    struct channels channels;
    enum status status;
    pid_t child;
    bool cut;

    status = channels_open(&channels, error);
    if (status == STATUS_OK)
        status = start(argument, &channels, &child, error);
    if (status == STATUS_OK) {
        for (int i = 0; i < CHANNEL_COUNT; i++)
            close_end(&channels.theirs[i]);
        cut = exchange(&channels, script, script_length, output, &complaint);
        channels_close(&channels);
        status = judge(child, cut, complaint.text, error);
        if (status == STATUS_OK && output->failed)
            status = error_set(error, STATUS_NO_MEMORY, "memory ran out while reading what gnuplot drew");
    }
    channels_close(&channels);
    text_buffer_release(&complaint);
    return status;
}
