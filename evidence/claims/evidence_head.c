/* SPDX-License-Identifier: GPL-3.0-or-later
 * Looks at the beginning of a file without trusting it. */
#include "evidence/claims/evidence_head.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* gzread passes plain files through as they are: one way for both. */
static enum status read_start(int descriptor, const char *path, char *buffer, size_t capacity,
                              struct evidence_head *head, struct error *error)
{
    gzFile file = gzdopen(descriptor, "rb");
    if (file == NULL) {
        (void)close(descriptor);
        return error_set_at(error, STATUS_NO_MEMORY, path, 0, 0, "no memory to read it");
    }
    int count = gzread(file, buffer, (unsigned)capacity);
    head->is_packed = gzdirect(file) == 0;
    head->is_whole = count >= 0 && (size_t)count < capacity;
    head->length = count > 0 ? (size_t)count : 0; /* a broken archive: what came before the fault */
    buffer[head->length] = '\0';
    const int failed = count < 0 && !head->is_packed ? errno : 0;
    (void)gzclose(file);
    return failed == 0 ? STATUS_OK : error_set_at(error, STATUS_IO, path, 0, 0, "cannot be read: %s", strerror(failed));
}

enum status evidence_head_read(const char *path, char *buffer, size_t capacity, struct evidence_head *head,
                               struct error *error)
{
    struct stat about;
    *head = (struct evidence_head){.path = path, .bytes = buffer};
    buffer[0] = '\0';
    /* O_NONBLOCK: opening a pipe without a writer must not wait. */
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) {
        return error_set_at(error, STATUS_MISSING, path, 0, 0, "cannot be opened: %s", strerror(errno));
    }
    if (fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) {
        (void)close(descriptor);
        return error_set_at(error, STATUS_BAD_DATA, path, 0, 0, "no regular file (write what a pipe gives to a file)");
    }
    enum status status = read_start(descriptor, path, buffer, capacity, head, error);
    if (status == STATUS_OK) {
        evidence_head_scan(head);
    }
    return status;
}

/* --- keys of JSON --------------------------------------------------------------------------------------------------
 */

struct key_scanner {
    struct evidence_head *head;
    const char *at, *end;
    int depth; /* of objects */
    long open; /* brackets of both kinds */
};

static void keep_key(struct evidence_head *head, int depth, const char *text, size_t length)
{
    struct evidence_key key = {.depth = depth};
    if (head->key_count == EVIDENCE_KEYS_MAX || depth > 3) {
        return;
    }
    memcpy(key.text, text, length < sizeof key.text - 1 ? length : sizeof key.text - 1);
    if (!evidence_has_key(head, depth, key.text)) {
        head->keys[head->key_count++] = key;
    }
}

static void skip_blanks(struct key_scanner *self)
{
    while (self->at < self->end && isspace((unsigned char)*self->at) != 0) {
        self->at++;
    }
}

/* At a quote: steps behind the string; a key is followed by a colon. */
static void take_string(struct key_scanner *self)
{
    const char *start = ++self->at;
    while (self->at < self->end && *self->at != '"') {
        self->at += *self->at == '\\' && self->at + 1 < self->end ? 2 : 1;
    }
    if (self->at >= self->end) {
        return;
    }
    const size_t length = (size_t)(self->at - start);
    self->at++;
    skip_blanks(self);
    if (self->at < self->end && *self->at == ':') {
        keep_key(self->head, self->depth, start, length);
    }
}

void evidence_head_scan(struct evidence_head *head)
{
    struct key_scanner self = {.head = head, .at = head->bytes, .end = head->bytes + head->length};
    if (head->length >= 3 && memcmp(head->bytes, "\xef\xbb\xbf", 3) == 0) {
        self.at += 3;
    }
    skip_blanks(&self);
    head->key_count = 0;
    head->is_json = self.at < self.end && (*self.at == '{' || *self.at == '[');
    while (head->is_json && self.at < self.end) {
        const char c = *self.at;
        if (c == '"') {
            take_string(&self);
            continue;
        }
        self.depth += (c == '{') - (c == '}');
        self.open += (c == '{' || c == '[') - (c == '}' || c == ']');
        self.at++;
        if (self.open <= 0) {
            break; /* the first document of JSON lines is enough */
        }
    }
}

bool evidence_has_key(const struct evidence_head *head, int depth, const char *text)
{
    for (size_t i = 0; i < head->key_count; i++) {
        if (head->keys[i].depth == depth && strcmp(head->keys[i].text, text) == 0) {
            return true;
        }
    }
    return false;
}

bool evidence_keys_are_numbers(const struct evidence_head *head, int depth)
{
    size_t numbers = 0, others = 0;
    for (size_t i = 0; i < head->key_count; i++) {
        const char *text = head->keys[i].text;
        if (head->keys[i].depth == depth) {
            const bool is_number = text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
            numbers += is_number;
            others += !is_number;
        }
    }
    /* Newer files name the Triton version beside the batch sizes. */
    return numbers > 0 && (others == 0 || (others == 1 && evidence_has_key(head, depth, "triton_version")));
}

bool evidence_next_line(const char **text, const char *end, const char **line, size_t *length)
{
    if (*text >= end) {
        return false;
    }
    const char *stop = memchr(*text, '\n', (size_t)(end - *text));
    *line = *text;
    *length = (size_t)((stop != NULL ? stop : end) - *text);
    *text = stop != NULL ? stop + 1 : end;
    if (*length > 0 && (*line)[*length - 1] == '\r') {
        --*length;
    }
    return true;
}
