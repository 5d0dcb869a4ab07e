/* SPDX-License-Identifier: GPL-3.0-or-later
 * A ring of blocks between one thread that fills them and one that takes from them. */
#include "evidence/read_ahead.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCKS = 8,
    BLOCK_BYTES = 512 << 10
};

struct read_ahead {
    read_ahead_source source;
    void *context;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Under the lock. Blocks taken..filled-1 (modulo BLOCKS) are full; the others belong to the thread. */
    size_t filled, taken;
    size_t lengths[BLOCKS];
    bool is_at_end, is_stopped;
    enum status status; /* of the source's last call */
    struct error error;
    /* Only the taker's. */
    size_t used; /* of the block `taken` */
    unsigned char bytes[BLOCKS][BLOCK_BYTES];
};

/* Waits for an empty block; false when there is to be no more. */
static bool wait_for_room(struct read_ahead *self, size_t *block)
{
    (void)pthread_mutex_lock(&self->lock);
    while (!self->is_stopped && self->filled - self->taken == BLOCKS) {
        (void)pthread_cond_wait(&self->changed, &self->lock);
    }
    *block = self->filled % BLOCKS;
    bool goes_on = !self->is_stopped && !self->is_at_end;
    (void)pthread_mutex_unlock(&self->lock);
    return goes_on;
}

static void *fill_blocks(void *context)
{
    struct read_ahead *self = context;
    size_t block;
    while (wait_for_room(self, &block)) {
        size_t length = 0;
        struct error error = {0};
        enum status status = self->source(self->context, self->bytes[block], BLOCK_BYTES, &length, &error);
        (void)pthread_mutex_lock(&self->lock);
        self->lengths[block] = length;
        self->filled++;
        self->is_at_end = status != STATUS_OK || length < BLOCK_BYTES;
        self->status = status;
        self->error = error;
        (void)pthread_cond_signal(&self->changed);
        (void)pthread_mutex_unlock(&self->lock);
    }
    return NULL;
}

struct read_ahead *read_ahead_start(read_ahead_source source, void *context)
{
    struct read_ahead *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return NULL;
    }
    self->source = source;
    self->context = context;
    if (pthread_mutex_init(&self->lock, NULL) != 0) {
        free(self);
        return NULL;
    }
    if (pthread_cond_init(&self->changed, NULL) != 0) {
        (void)pthread_mutex_destroy(&self->lock);
        free(self);
        return NULL;
    }
    if (pthread_create(&self->thread, NULL, fill_blocks, self) != 0) {
        (void)pthread_cond_destroy(&self->changed);
        (void)pthread_mutex_destroy(&self->lock);
        free(self);
        return NULL;
    }
    return self;
}

/* Waits for a full block; false at the end. */
static bool wait_for_block(struct read_ahead *self, size_t *length)
{
    (void)pthread_mutex_lock(&self->lock);
    while (self->filled == self->taken && !self->is_at_end) {
        (void)pthread_cond_wait(&self->changed, &self->lock);
    }
    bool has_block = self->filled > self->taken;
    *length = has_block ? self->lengths[self->taken % BLOCKS] : 0;
    (void)pthread_mutex_unlock(&self->lock);
    return has_block;
}

static void give_back(struct read_ahead *self)
{
    (void)pthread_mutex_lock(&self->lock);
    self->taken++;
    self->used = 0;
    (void)pthread_cond_signal(&self->changed);
    (void)pthread_mutex_unlock(&self->lock);
}

enum status read_ahead_take(struct read_ahead *ahead, void *buffer, size_t capacity, size_t *length,
                            struct error *error)
{
    size_t block_bytes;
    *length = 0;
    while (*length < capacity && wait_for_block(ahead, &block_bytes)) {
        size_t left = block_bytes - ahead->used, count = left < capacity - *length ? left : capacity - *length;
        memcpy((unsigned char *)buffer + *length, ahead->bytes[ahead->taken % BLOCKS] + ahead->used, count);
        *length += count;
        ahead->used += count;
        if (ahead->used == block_bytes) {
            give_back(ahead);
        }
    }
    if (*length == capacity) {
        return STATUS_OK;
    }
    /* The end was seen under the lock: the thread changes nothing any more. */
    if (ahead->status != STATUS_OK && error != NULL) {
        *error = ahead->error;
    }
    return ahead->status;
}

bool read_ahead_is_done(struct read_ahead *ahead)
{
    (void)pthread_mutex_lock(&ahead->lock);
    bool is_done = ahead->is_at_end;
    (void)pthread_mutex_unlock(&ahead->lock);
    return is_done;
}

void read_ahead_free(struct read_ahead *ahead)
{
    if (ahead == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&ahead->lock);
    ahead->is_stopped = true;
    (void)pthread_cond_signal(&ahead->changed);
    (void)pthread_mutex_unlock(&ahead->lock);
    (void)pthread_join(ahead->thread, NULL);
    (void)pthread_cond_destroy(&ahead->changed);
    (void)pthread_mutex_destroy(&ahead->lock);
    free(ahead);
}
