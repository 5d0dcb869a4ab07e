/* SPDX-License-Identifier: GPL-3.0-or-later
 * Plain and gzip files as one stream of bytes (zlib). */
#include "evidence/byte_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/text_buffer.h"
#include "evidence/read_ahead.h"

enum {
    INPUT_BYTES = 256 << 10,
    OUTPUT_BYTES_MAX = 1 << 30, /* of one call of zlib, whose counts have 32 bits */
    GZIP_MAGIC_FIRST = 0x1f,
    GZIP_MAGIC_SECOND = 0x8b,
    GZIP_WINDOW_BITS = 15 + 16 /* zlib: the largest window, and a gzip header is expected */
};

struct byte_stream {
    char name[256];
    int descriptor;              /* -1: memory */
    const unsigned char *memory; /* what is left of it */
    size_t memory_bytes;
    unsigned char *input; /* read but not yet delivered or expanded: [at, end) */
    size_t input_capacity;
    size_t at, end;
    uint64_t consumed_bytes; /* of the file, in blocks before this one */
    bool is_gzip, has_inflate, is_at_end;
    z_stream inflate;
    struct read_ahead *ahead; /* NULL: expanded when asked for */
    char damage[160];
};

/* --- the file ------------------------------------------------------------------------------------------------------
 */

/* Up to capacity bytes; fewer only at the end. */
static enum status fetch(struct byte_stream *self, unsigned char *buffer, size_t capacity, size_t *length,
                         struct error *error)
{
    *length = 0;
    if (self->descriptor < 0) {
        *length = capacity < self->memory_bytes ? capacity : self->memory_bytes;
        if (*length > 0) {
            memcpy(buffer, self->memory, *length);
            self->memory += *length;
            self->memory_bytes -= *length;
        }
        return STATUS_OK;
    }
    while (*length < capacity) {
        ssize_t got = read(self->descriptor, buffer + *length, capacity - *length);
        if (got == 0) {
            return STATUS_OK;
        }
        if (got < 0 && errno != EINTR) {
            return error_set_at(error, STATUS_IO, self->name, 0, 0, "reading failed: %s", strerror(errno));
        }
        *length += got > 0 ? (size_t)got : 0;
    }
    return STATUS_OK;
}

static enum status fetch_input(struct byte_stream *self, struct error *error)
{
    self->consumed_bytes += self->end;
    self->at = self->end = 0;
    return fetch(self, self->input, self->input_capacity, &self->end, error);
}

/* Looks at the first block: is it gzip? */
static enum status start(struct byte_stream *self, struct error *error)
{
    /* A short text needs no more; one byte more than it has, so that its end is seen. */
    bool is_short = self->descriptor < 0 && self->memory_bytes < INPUT_BYTES;
    self->input_capacity = is_short ? self->memory_bytes + 1 : INPUT_BYTES;
    self->input = malloc(self->input_capacity);
    if (self->input == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory to read %s", self->name);
    }
    enum status status = fetch_input(self, error);
    if (status != STATUS_OK) {
        return status;
    }
    self->is_gzip = self->end >= 2 && self->input[0] == GZIP_MAGIC_FIRST && self->input[1] == GZIP_MAGIC_SECOND;
    if (self->is_gzip) {
        if (inflateInit2(&self->inflate, GZIP_WINDOW_BITS) != Z_OK) {
            return error_set(error, STATUS_NO_MEMORY, "no memory to expand %s", self->name);
        }
        self->has_inflate = true;
    }
    return STATUS_OK;
}

static enum status create(const char *name, struct byte_stream **stream, struct error *error)
{
    *stream = calloc(1, sizeof **stream);
    if (*stream == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory to read %s", name);
    }
    (*stream)->descriptor = -1;
    (void)snprintf((*stream)->name, sizeof(*stream)->name, "%s", name);
    return STATUS_OK;
}

static enum status started(struct byte_stream **stream, struct error *error)
{
    enum status status = start(*stream, error);
    if (status != STATUS_OK) {
        byte_stream_free(*stream);
        *stream = NULL;
    }
    return status;
}

enum status byte_stream_open(const char *path, struct byte_stream **stream, struct error *error)
{
    *stream = NULL;
    struct stat about;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        return error_set_at(error, STATUS_MISSING, path, 0, 0, "cannot be opened: %s", strerror(errno));
    }
    enum status status = STATUS_OK;
    if (fstat(descriptor, &about) != 0) {
        status = error_set_at(error, STATUS_IO, path, 0, 0, "reading failed: %s", strerror(errno));
    } else if (S_ISDIR(about.st_mode)) {
        status = error_set_at(error, STATUS_BAD_DATA, path, 0, 0, "is a directory, a file is expected");
    } else {
        status = create(path, stream, error);
    }
    if (status != STATUS_OK) {
        (void)close(descriptor);
        return status;
    }
    (*stream)->descriptor = descriptor;
    return started(stream, error);
}

enum status byte_stream_open_memory(const void *bytes, size_t length, const char *name, struct byte_stream **stream,
                                    struct error *error)
{
    *stream = NULL;
    enum status status = create(name, stream, error);
    if (status != STATUS_OK) {
        return status;
    }
    (*stream)->memory = bytes;
    (*stream)->memory_bytes = length;
    return started(stream, error);
}

void byte_stream_free(struct byte_stream *stream)
{
    if (stream == NULL) {
        return;
    }
    read_ahead_free(stream->ahead);
    if (stream->has_inflate) {
        (void)inflateEnd(&stream->inflate);
    }
    if (stream->descriptor >= 0) {
        (void)close(stream->descriptor);
    }
    free(stream->input);
    free(stream);
}

bool byte_stream_is_gzip(const struct byte_stream *stream)
{
    return stream->is_gzip;
}

const char *byte_stream_damage(const struct byte_stream *stream)
{
    return stream->ahead == NULL || read_ahead_is_done(stream->ahead) ? stream->damage : "";
}

/* --- expansion -----------------------------------------------------------------------------------------------------
 */

static void end_with(struct byte_stream *self, const char *what, const char *reason)
{
    uint64_t offset = self->consumed_bytes + self->at;
    self->is_at_end = true;
    (void)snprintf(self->damage, sizeof self->damage, "the gzip data %s at byte %llu%s%s", what,
                   (unsigned long long)offset, reason[0] != '\0' ? ": " : "", reason);
}

/* At least two bytes of input, unless the file has no more. */
static enum status refill(struct byte_stream *self, struct error *error)
{
    if (self->end - self->at >= 2) {
        return STATUS_OK;
    }
    if (self->at == self->end) {
        return fetch_input(self, error);
    }
    size_t more = 0;
    self->consumed_bytes += self->at;
    self->input[0] = self->input[self->at];
    self->at = 0;
    self->end = 1;
    enum status status = fetch(self, self->input + 1, self->input_capacity - 1, &more, error);
    self->end += more;
    return status;
}

/* Behind one member: another one follows, or padding with zeros as tapes have it, or something else. */
static enum status next_member(struct byte_stream *self, struct error *error)
{
    enum status status = refill(self, error);
    while (status == STATUS_OK && self->at < self->end && self->input[self->at] == 0) {
        self->at++;
        status = refill(self, error);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (self->at == self->end) {
        self->is_at_end = true;
    } else if (self->end - self->at < 2 || self->input[self->at] != GZIP_MAGIC_FIRST ||
               self->input[self->at + 1] != GZIP_MAGIC_SECOND) {
        end_with(self, "is followed by something else", "");
    } else if (inflateReset(&self->inflate) != Z_OK) {
        end_with(self, "is damaged", "the expansion cannot start again");
    }
    return STATUS_OK;
}

static enum status expand(void *context, void *buffer, size_t capacity, size_t *length, struct error *error)
{
    struct byte_stream *self = context;
    enum status status = STATUS_OK;
    *length = 0;
    while (status == STATUS_OK && *length < capacity && !self->is_at_end) {
        size_t room = capacity - *length < OUTPUT_BYTES_MAX ? capacity - *length : OUTPUT_BYTES_MAX;
        if (self->at == self->end) {
            status = fetch_input(self, error);
            if (status != STATUS_OK) {
                break;
            }
        }
        self->inflate.next_in = self->input + self->at;
        self->inflate.avail_in = (uInt)(self->end - self->at);
        self->inflate.next_out = (Bytef *)buffer + *length;
        self->inflate.avail_out = (uInt)room;
        int result = inflate(&self->inflate, Z_NO_FLUSH);
        self->at = self->end - self->inflate.avail_in;
        *length += room - self->inflate.avail_out;
        if (result == Z_STREAM_END) {
            status = next_member(self, error);
        } else if (result == Z_MEM_ERROR) {
            status = error_set(error, STATUS_NO_MEMORY, "no memory to expand %s", self->name);
        } else if (result == Z_BUF_ERROR && self->at == self->end && self->end < self->input_capacity) {
            /* No progress without more input, and there is none. */
            end_with(self, "ends early", "");
        } else if (result != Z_OK && result != Z_BUF_ERROR) {
            end_with(self, "is damaged", self->inflate.msg != NULL ? self->inflate.msg : "");
        }
    }
    return status;
}

void byte_stream_read_ahead(struct byte_stream *stream)
{
    if (stream->is_gzip && stream->ahead == NULL) {
        stream->ahead = read_ahead_start(expand, stream);
    }
}

enum status byte_stream_read(struct byte_stream *stream, void *buffer, size_t capacity, size_t *length,
                             struct error *error)
{
    if (stream->ahead != NULL) {
        return read_ahead_take(stream->ahead, buffer, capacity, length, error);
    }
    if (stream->is_gzip) {
        return expand(stream, buffer, capacity, length, error);
    }
    size_t first = stream->end - stream->at < capacity ? stream->end - stream->at : capacity, more = 0;
    if (first > 0) {
        memcpy(buffer, stream->input + stream->at, first);
    }
    stream->at += first;
    enum status status =
        first < capacity ? fetch(stream, (unsigned char *)buffer + first, capacity - first, &more, error) : STATUS_OK;
    *length = first + more;
    return status;
}

/* --- whole files ---------------------------------------------------------------------------------------------------
 */

static enum status append_all(struct byte_stream *stream, const char *path, size_t limit_bytes,
                              struct text_buffer *text, struct error *error)
{
    char *block = malloc(INPUT_BYTES);
    enum status status = block == NULL ? error_set(error, STATUS_NO_MEMORY, "no memory to read %s", path) : STATUS_OK;
    size_t length = INPUT_BYTES;
    text_buffer_append(text, "");
    while (status == STATUS_OK && length == INPUT_BYTES) {
        status = byte_stream_read(stream, block, INPUT_BYTES, &length, error);
        if (status == STATUS_OK && length > limit_bytes - text->length) {
            status = error_set_at(error, STATUS_LIMIT, path, 0, 0, "has more than %zu bytes%s, which is the limit",
                                  limit_bytes, stream->is_gzip ? " when expanded" : "");
        } else if (status == STATUS_OK) {
            text_buffer_append_bytes(text, block, length);
            status = text->failed ? error_set(error, STATUS_NO_MEMORY, "no memory to read %s", path) : STATUS_OK;
        }
    }
    free(block);
    if (status == STATUS_OK && stream->damage[0] != '\0') {
        status = error_set_at(error, STATUS_BAD_DATA, path, 0, 0, "%s", stream->damage);
    }
    return status;
}

enum status byte_stream_read_all(const char *path, size_t limit_bytes, char **text, size_t *length, struct error *error)
{
    struct byte_stream *stream = NULL;
    struct text_buffer buffer = {0};
    enum status status = byte_stream_open(path, &stream, error);
    if (status == STATUS_OK) {
        status = append_all(stream, path, limit_bytes, &buffer, error);
    }
    byte_stream_free(stream);
    if (status != STATUS_OK) {
        text_buffer_release(&buffer);
        return status;
    }
    *text = buffer.text;
    *length = buffer.length;
    return STATUS_OK;
}
