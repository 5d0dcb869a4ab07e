/* SPDX-License-Identifier: GPL-3.0-or-later
 * The outermost object byte by byte, the array of events in blocks of 64 bytes. */
#include "evidence/profiles/trace_events.h"

#include <stdlib.h>
#include <string.h>

#include "evidence/profiles/trace_blocks.h"
#include "evidence/profiles/trace_fields.h"

#define NOWHERE SIZE_MAX

enum {
    KEY_BYTES_MAX = 32, /* longer keys are none that is looked for */
    FIRST_CAPACITY_BYTES = TRACE_READ_BYTES + 4096,
    /* What is kept, the block before it, and always room to read something. */
    CAPACITY_BYTES = TRACE_EVENT_BYTES_MAX + TRACE_READ_BYTES + 2 * TRACE_BLOCK_BYTES
};

enum status trace_events_init(struct trace_events *events, struct byte_stream *stream, const char *name,
                              struct error *error)
{
    *events = (struct trace_events){.stream = stream, .name = name, .keep = NOWHERE, .block = NOWHERE};
    events->capacity = FIRST_CAPACITY_BYTES;
    events->bytes = malloc(events->capacity + TRACE_BLOCK_BYTES);
    if (events->bytes == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory to read %s", name);
    }
    memset(events->bytes, ' ', TRACE_BLOCK_BYTES);
    return STATUS_OK;
}

void trace_events_release(struct trace_events *events)
{
    free(events->bytes);
    events->bytes = NULL;
}

/* --- the buffer ----------------------------------------------------------------------------------------------------
 */

static size_t smaller(size_t left, size_t right)
{
    return left < right ? left : right;
}

/* What is kept has grown too large: it goes, except for what its beginning says. */
static void stop_keeping(struct trace_events *self)
{
    self->dropped_category = trace_event_category(self->bytes + self->keep, self->end - self->keep);
    self->keep = NOWHERE;
}

/* Room for more than what is kept; false without memory. */
static bool reserve(struct trace_events *self)
{
    if (self->capacity - self->end >= TRACE_READ_BYTES / 2 || self->capacity == CAPACITY_BYTES) {
        return true;
    }
    size_t capacity = smaller(2 * self->capacity, CAPACITY_BYTES);
    char *bytes = realloc(self->bytes, capacity + TRACE_BLOCK_BYTES);
    if (bytes == NULL) {
        self->is_at_end = true;
        self->status = error_set(self->error, STATUS_NO_MEMORY, "no memory to read %s", self->name);
        return false;
    }
    self->bytes = bytes;
    self->capacity = capacity;
    return true;
}

/* Drops what nobody needs and reads more behind the rest; false at the end of the text. */
static bool refill(struct trace_events *self)
{
    if (self->is_at_end) {
        return false;
    }
    if (self->keep != NOWHERE && self->end - self->keep > TRACE_EVENT_BYTES_MAX) {
        stop_keeping(self);
    }
    size_t drop = smaller(smaller(self->keep, self->block), smaller(self->cursor, self->end));
    memmove(self->bytes, self->bytes + drop, self->end - drop);
    self->base += drop;
    self->end -= drop;
    self->cursor -= drop;
    self->keep -= self->keep != NOWHERE ? drop : 0;
    self->block -= self->block != NOWHERE ? drop : 0;
    if (!reserve(self)) {
        return false;
    }
    size_t wanted = smaller(TRACE_READ_BYTES, self->capacity - self->end), got = 0;
    self->status = byte_stream_read(self->stream, self->bytes + self->end, wanted, &got, self->error);
    self->is_at_end = self->status != STATUS_OK || got < wanted;
    self->end += self->status == STATUS_OK ? got : 0;
    memset(self->bytes + self->end, ' ', TRACE_BLOCK_BYTES);
    return got > 0;
}

/* Is there a byte at the cursor? */
static bool has_byte(struct trace_events *self)
{
    return self->cursor < self->end || (refill(self) && self->cursor < self->end);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* The next byte that is neither space nor, if wanted, a comma; it stays at the cursor. False at the end. */
static bool next_byte(struct trace_events *self, bool skips_commas, char *c)
{
    while (has_byte(self)) {
        *c = self->bytes[self->cursor];
        if (!is_space(*c) && !(skips_commas && *c == ',')) {
            return true;
        }
        self->cursor++;
    }
    return false;
}

/* --- values byte by byte -------------------------------------------------------------------------------------------
 */

/* Steps over the string at the cursor; its first bytes go into key, if not NULL, longer ones as "". */
static bool skip_string(struct trace_events *self, char key[KEY_BYTES_MAX])
{
    size_t length = 0;
    self->cursor++;
    while (has_byte(self)) {
        char c = self->bytes[self->cursor++];
        if (c == '"') {
            if (key != NULL) {
                key[length < KEY_BYTES_MAX ? length : 0] = '\0';
            }
            return true;
        }
        if (c == '\\' && has_byte(self)) {
            self->cursor++;
        }
        if (key != NULL && length < KEY_BYTES_MAX) {
            key[length] = c;
        }
        length++;
    }
    return false;
}

/* Steps over the value at the cursor; false when the text ends in it. */
static bool skip_value(struct trace_events *self)
{
    uint64_t depth = 0;
    bool has_begun = false;
    while (has_byte(self)) {
        char c = self->bytes[self->cursor];
        bool is_end = c == ',' || c == ']' || c == '}';
        if (depth == 0 && has_begun && (is_end || is_space(c))) {
            return true;
        }
        if (c == '"') {
            if (!skip_string(self, NULL)) {
                return false;
            }
        } else {
            depth += c == '{' || c == '[' ? 1 : 0;
            depth -= (c == '}' || c == ']') && depth > 0 ? 1 : 0;
            self->cursor++;
        }
        has_begun = true;
    }
    return false;
}

/* --- events --------------------------------------------------------------------------------------------------------
 */

/* Scanning in blocks begins anew at the cursor, outside of any string. */
static void begin_blocks(struct trace_events *self)
{
    self->block = NOWHERE;
    self->braces = 0;
    self->is_in_string = self->is_escaped = false;
}

/* Masks of the block behind the last one; false at the end of the text. */
static bool next_block(struct trace_events *self)
{
    self->block = self->block == NOWHERE ? self->cursor : self->block + TRACE_BLOCK_BYTES;
    self->cursor = self->cursor > self->block ? self->cursor : self->block;
    if (self->block + TRACE_BLOCK_BYTES > self->end) {
        (void)refill(self);
        if (self->block >= self->end) {
            return false;
        }
    }
    self->braces = trace_block_braces(self->bytes + self->block, &self->is_in_string, &self->is_escaped);
    return true;
}

/* Takes the next brace outside of strings; the cursor goes behind it. */
static bool next_brace(struct trace_events *self, char *brace)
{
    for (;;) {
        while (self->braces == 0) {
            if (!next_block(self)) {
                return false;
            }
        }
        size_t at = self->block + (size_t)__builtin_ctzll(self->braces);
        self->braces &= self->braces - 1;
        *brace = self->bytes[at];
        if (*brace == '{' || *brace == '}') {
            self->cursor = at + 1;
            return true;
        }
    }
}

static void set_bad(struct trace_item *item, const char *reason)
{
    item->kind = TRACE_ITEM_BAD;
    item->reason = reason;
}

/* The event that opens at the cursor, to its closing brace. True: *item is an item for the caller. */
static bool take_event(struct trace_events *self, struct trace_item *item, bool *is_ended)
{
    uint64_t depth = 0;
    char brace;
    item->offset = self->base + self->cursor;
    self->keep = self->cursor;
    do {
        if (!next_brace(self, &brace)) {
            *is_ended = true;
            return false;
        }
        depth += brace == '{' ? 1 : 0;
        depth -= brace == '}' && depth > 0 ? 1 : 0;
    } while (depth > 0);
    item->ordinal = ++self->event_count;
    if (self->keep != NOWHERE && self->cursor - self->keep > TRACE_EVENT_BYTES_MAX) {
        stop_keeping(self);
    }
    if (self->keep == NOWHERE) {
        set_bad(item, "larger than 1 MiB");
        return self->dropped_category == TRACE_CATEGORY_KERNEL || self->dropped_category == TRACE_CATEGORY_UNCLEAR;
    }
    item->kind = TRACE_ITEM_KERNEL;
    item->text = self->bytes + self->keep;
    item->length = self->cursor - self->keep;
    self->keep = NOWHERE;
    const enum trace_category category = trace_event_category(item->text, item->length);
    if (category == TRACE_CATEGORY_OPERATOR) {
        item->kind = TRACE_ITEM_OPERATOR;
        /* Looked for by its first letter, which is rarer than a quote. */
        return span_find(&(struct text_span){item->text, item->text + item->length}, "Input Dims\"");
    }
    return category != TRACE_CATEGORY_OTHER;
}

/* An element that is no object. */
static bool take_other(struct trace_events *self, struct trace_item *item)
{
    item->offset = self->base + self->cursor;
    item->ordinal = ++self->event_count;
    set_bad(item, "not an object");
    self->block = NOWHERE;
    bool has_end = skip_value(self);
    begin_blocks(self);
    return has_end;
}

/* True: an item; false: the array or the text is at its end. */
static bool next_in_array(struct trace_events *self, struct trace_item *item)
{
    char c;
    bool is_ended = false;
    uint64_t start = self->base + self->cursor;
    while (next_byte(self, true, &c) && c != ']') {
        start = self->base + self->cursor;
        if (c != '{') {
            if (take_other(self, item)) {
                return true;
            }
            is_ended = true;
        } else if (take_event(self, item, &is_ended)) {
            return true;
        }
        if (is_ended) {
            self->is_cut = self->is_cut_in_event = true;
            self->offset = start;
            self->phase = TRACE_PHASE_END;
            return false;
        }
    }
    if (!has_byte(self)) {
        self->is_cut = true;
        self->offset = self->base + self->cursor;
        self->phase = TRACE_PHASE_END;
        return false;
    }
    self->cursor++;
    begin_blocks(self);
    self->phase = self->is_bare_array ? TRACE_PHASE_END : TRACE_PHASE_KEYS;
    return false;
}

/* --- around them ---------------------------------------------------------------------------------------------------
 */

static void begin_array(struct trace_events *self)
{
    self->cursor++;
    self->has_events = true;
    self->phase = TRACE_PHASE_EVENTS;
    begin_blocks(self);
}

static void end_here(struct trace_events *self, bool is_cut)
{
    self->is_cut = is_cut;
    self->offset = self->base + self->cursor;
    self->phase = TRACE_PHASE_END;
}

/* The value of deviceProperties. True: *item is it, or why it was passed over. */
static bool take_devices(struct trace_events *self, struct trace_item *item)
{
    self->keep = self->cursor;
    item->offset = self->base + self->cursor;
    item->ordinal = 0;
    if (!skip_value(self)) {
        self->keep = NOWHERE;
        end_here(self, true);
        return false;
    }
    if (self->keep == NOWHERE || self->cursor - self->keep > TRACE_EVENT_BYTES_MAX) {
        set_bad(item, "deviceProperties is larger than 1 MiB");
    } else {
        item->kind = TRACE_ITEM_DEVICES;
        item->text = self->bytes + self->keep;
        item->length = self->cursor - self->keep;
    }
    self->keep = NOWHERE;
    return true;
}

/* One key of the outermost object and its value. True: *item is an item. */
static bool next_key(struct trace_events *self, struct trace_item *item)
{
    char c = '\0', key[KEY_BYTES_MAX + 1] = "";
    if (!next_byte(self, true, &c) || c == '}') {
        end_here(self, c != '}');
        self->cursor += c == '}' ? 1 : 0;
        return false;
    }
    bool is_good = c == '"' && skip_string(self, key) && next_byte(self, false, &c) && c == ':';
    self->cursor += is_good ? 1 : 0;
    if (!is_good || !next_byte(self, false, &c)) {
        end_here(self, true);
        return false;
    }
    if (strcmp(key, "traceEvents") == 0 && c == '[') {
        begin_array(self);
        return false;
    }
    if (strcmp(key, "deviceProperties") == 0) {
        return take_devices(self, item);
    }
    if (!skip_value(self)) {
        end_here(self, true);
    }
    return false;
}

static enum status begin(struct trace_events *self, struct error *error)
{
    char c;
    if (has_byte(self) && self->end - self->cursor >= 3 && memcmp(self->bytes + self->cursor, "\xef\xbb\xbf", 3) == 0) {
        self->cursor += 3;
    }
    if (!next_byte(self, false, &c)) {
        return self->status != STATUS_OK ? self->status
                                         : error_set_at(error, STATUS_BAD_DATA, self->name, 0, 0,
                                                        "the file has no text, a trace is expected");
    }
    self->phase = TRACE_PHASE_KEYS;
    self->is_bare_array = c == '[';
    if (self->is_bare_array) {
        begin_array(self);
    } else if (c != '{') {
        return error_set_at(error, STATUS_BAD_DATA, self->name, 1, 0,
                            "a trace begins with { or [, this with byte 0x%02x", (unsigned)(unsigned char)c);
    } else {
        self->cursor++;
    }
    return STATUS_OK;
}

enum status trace_events_next(struct trace_events *events, struct trace_item *item, struct error *error)
{
    *item = (struct trace_item){.kind = TRACE_ITEM_END, .reason = ""};
    events->error = error;
    if (events->phase == TRACE_PHASE_START) {
        enum status status = begin(events, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    while (events->phase != TRACE_PHASE_END) {
        if (events->phase == TRACE_PHASE_EVENTS ? next_in_array(events, item) : next_key(events, item)) {
            return events->status;
        }
    }
    item->kind = TRACE_ITEM_END;
    if (events->status != STATUS_OK) {
        return events->status;
    }
    if (!events->has_events) {
        return error_set_at(error, STATUS_BAD_DATA, events->name, 0, 0, "%s traceEvents, which a trace has",
                            events->is_cut ? "the text ends before the array" : "there is no array");
    }
    char c;
    events->has_rest = !events->is_cut && next_byte(events, false, &c);
    return STATUS_OK;
}
