/* SPDX-License-Identifier: GPL-3.0-or-later
 * CODE-4: how far ahead of their use asynchronous copies run: the groups are played through turn by turn. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/code/code_profile_private.h"
#include "evidence/code/code_trip.h"

enum {
    EVENTS_MAX = 4096,  /* commits and waits of one turn */
    OPEN_MAX = 1 << 15, /* groups in flight at once */
    TURNS = 512,        /* played through; waits leave at most 255 groups open */
    SETTLED_TURN = 384, /* from here on the pipeline is taken to be full */
    RING_SLOTS_MAX = 64,
    HOPS_MAX = 8
};

const char *code_pipeline_name(enum code_pipeline_kind kind)
{
    static const char *const names[] = {"none", "groups", "barriers"};
    return names[kind];
}

/* A commit of copies of `bytes` per lane, or a wait that leaves `depth` groups open. */
struct event {
    bool is_wait;
    int32_t depth;
    double bytes;
};

struct group {
    uint32_t turn, place; /* where it was committed: the place-th commit of a turn */
    double bytes;
};

struct player {
    struct event events[EVENTS_MAX];
    size_t count;
    double turn_bytes;
    struct group open[OPEN_MAX];
    size_t first, last; /* of `open` */
    double open_bytes, most_open_bytes;
    double weight, weighted_turns; /* of groups that ended late enough */
};

static void add_event(struct player *player, const struct code_instruction *item, double *pending_bytes)
{
    if (item->op == CODE_OP_ASYNC_COPY) {
        *pending_bytes += item->lane_bytes;
    } else if (player->count < EVENTS_MAX && item->op == CODE_OP_ASYNC_COMMIT) {
        player->events[player->count++] = (struct event){false, -1, *pending_bytes};
        *pending_bytes = 0;
    } else if (player->count < EVENTS_MAX && item->op == CODE_OP_ASYNC_WAIT) {
        player->events[player->count++] = (struct event){true, item->depth < 0 ? 0 : item->depth, 0};
    }
}

static void collect(struct code_profiler *self, enum code_stretch stretch, struct player *player)
{
    double pending_bytes = 0;
    player->count = 0;
    for (uint32_t i = 0; i < self->graph.rpo_count; i++) {
        const struct code_block *block = &self->graph.blocks[self->graph.rpo[i]];
        if (self->stretch[self->graph.rpo[i]] != stretch) {
            continue;
        }
        for (size_t j = 0; j < block->count; j++) {
            add_event(player, &self->listing->items[block->first + j], &pending_bytes);
        }
    }
}

static void play(struct player *player, uint32_t turn)
{
    uint32_t place = 0;
    for (size_t i = 0; i < player->count; i++) {
        const struct event *event = &player->events[i];
        if (!event->is_wait) {
            if (player->last - player->first < OPEN_MAX) {
                player->open[player->last++ % OPEN_MAX] = (struct group){turn, place++, event->bytes};
                player->open_bytes += event->bytes;
            }
            if (turn >= SETTLED_TURN && player->open_bytes > player->most_open_bytes) {
                player->most_open_bytes = player->open_bytes;
            }
            continue;
        }
        while (player->last - player->first > (size_t)event->depth) {
            const struct group *done = &player->open[player->first++ % OPEN_MAX];
            player->open_bytes -= done->bytes;
            if (turn >= SETTLED_TURN) {
                player->weight += done->bytes;
                player->weighted_turns += done->bytes * (turn - done->turn);
            }
        }
    }
}

/* ---- ring index ------------------------------------------------------------------------------------------------ */
/* Slots of a ring whose index wraps when the comparison says so: "x > 2 ? 0 : x" with x = i + 1, or "i == 2 ? 0 : x",
 * which compares one step earlier. 0: not such a comparison. */
static double wrap_of(const struct code_instruction *compare, int64_t step, int64_t earlier)
{
    char comparison[4] = "";
    if (step <= 0 || !compare->has_immediate || compare->read_count != 1 || !code_comparison(compare, comparison)) {
        return 0;
    }
    const bool after = strcmp(comparison, "gt") == 0 || strcmp(comparison, "le") == 0;
    const double slots = ((double)compare->immediate + (double)earlier + (after ? 1 : 0)) / (double)step;
    return slots >= 2 && slots <= RING_SLOTS_MAX && slots == floor(slots) ? slots : 0;
}

/* Does `number` come from `source` through copies inside the loop? */
static bool is_copy_of(const struct code_profiler *self, uint32_t loop, uint32_t number, uint32_t source)
{
    for (int hop = 0; hop < HOPS_MAX && number != source; hop++) {
        size_t copy;
        int64_t added;
        if (code_definition_in_loop(&self->graph, loop, number, &copy) != 1 ||
            !code_is_step(&self->listing->items[copy], &added) || added != 0) {
            return false;
        }
        number = self->listing->items[copy].reads[0];
    }
    return number == source;
}

/* i = p ? 0 : x with x = i + step, where p compares x or i with a literal. */
static double ring_of_parts(const struct code_profiler *self, uint32_t loop, uint32_t index, uint32_t next,
                            const struct code_instruction *test)
{
    size_t sum;
    int64_t step;
    if (test->read_count == 0 || code_definition_in_loop(&self->graph, loop, next, &sum) != 1 ||
        !code_is_step(&self->listing->items[sum], &step) || step == 0 ||
        !is_copy_of(self, loop, self->listing->items[sum].reads[0], index)) {
        return 0;
    }
    if (test->reads[0] == next) {
        return wrap_of(test, step, 0);
    }
    return is_copy_of(self, loop, test->reads[0], index) ? wrap_of(test, step, step) : 0;
}

/* The select that wraps an index. */
static double ring_of_select(const struct code_profiler *self, uint32_t loop, const struct code_instruction *select)
{
    for (uint32_t i = 0; i < select->read_count; i++) {
        size_t compare;
        char comparison[4];
        if (code_definition_in_loop(&self->graph, loop, select->reads[i], &compare) != 1 ||
            !code_comparison(&self->listing->items[compare], comparison)) {
            continue;
        }
        for (uint32_t j = 0; j < select->read_count; j++) {
            const double slots =
                j == i ? 0
                       : ring_of_parts(self, loop, select->writes[0], select->reads[j], &self->listing->items[compare]);
            if (slots > 0) {
                return slots;
            }
        }
    }
    return 0;
}

/* i = (i + 1) & 3. */
static double ring_of_mask(const struct code_profiler *self, uint32_t loop, const struct code_instruction *mask)
{
    size_t sum;
    int64_t step;
    if (!mask->has_immediate || mask->read_count != 1 || mask->immediate < 1 || mask->immediate >= RING_SLOTS_MAX ||
        (mask->immediate & (mask->immediate + 1)) != 0 ||
        code_definition_in_loop(&self->graph, loop, mask->reads[0], &sum) != 1 ||
        !code_is_step(&self->listing->items[sum], &step) || step != 1) {
        return 0;
    }
    return self->listing->items[sum].reads[0] == mask->writes[0] ? (double)(mask->immediate + 1) : 0;
}

static double find_ring(const struct code_profiler *self, uint32_t loop)
{
    double slots = NAN;
    for (uint32_t i = 0; i < self->graph.loops[loop].block_count; i++) {
        const struct code_block *block = &self->graph.blocks[self->graph.loops[loop].blocks[i]];
        for (size_t j = 0; j < block->count; j++) {
            const struct code_instruction *item = &self->listing->items[block->first + j];
            double found = 0;
            if (item->write_count != 1 || (item->op != CODE_OP_INTEGER && item->op != CODE_OP_UNIFORM)) {
                continue;
            }
            if (strncmp(item->mnemonic, "selp.", 5) == 0 || strncmp(item->mnemonic, "SEL", 3) == 0 ||
                strncmp(item->mnemonic, "USEL", 4) == 0) {
                found = ring_of_select(self, loop, item);
            } else if (strncmp(item->mnemonic, "and.", 4) == 0) {
                found = ring_of_mask(self, loop, item);
            }
            slots = found > 0 && !(found <= slots) ? found : slots;
        }
    }
    return slots;
}

/* Where in the turn its copies stand: in the code's order, branches not weighed. */
static double early_fraction(const struct code_profiler *self, uint32_t loop)
{
    double place = 0, bytes = 0, weighted = 0;
    for (uint32_t i = 0; i < self->graph.rpo_count; i++) {
        const struct code_block *block = &self->graph.blocks[self->graph.rpo[i]];
        for (size_t j = 0; code_loop_contains(&self->graph, loop, self->graph.rpo[i]) && j < block->count; j++) {
            const struct code_instruction *item = &self->listing->items[block->first + j];
            place++;
            const bool copy = item->op == CODE_OP_ASYNC_COPY ||
                              ((item->op == CODE_OP_BULK_COPY || item->op == CODE_OP_TENSOR_COPY) && !item->to_global);
            const double weight = !copy ? 0 : item->lane_bytes > 0 ? item->lane_bytes : 1;
            bytes += weight;
            weighted += weight * place;
        }
    }
    return bytes > 0 && place > 0 ? 1 - weighted / bytes / place : (double)NAN;
}

/* ---- the whole ------------------------------------------------------------------------------------------------- */
/* Does wgmma still read a tile when the next copy is issued? Then that tile's slot is one more. Behind mbarriers, where
 * slots are counted and not copies, one of them is always being read. */
static bool product_outlives_turn(const struct code_profiler *self)
{
    bool outlives = false;
    const struct code_loop *loop = &self->graph.loops[self->profile->main_loop];
    if (self->profile->iteration.most[CODE_OP_WGMMA] == 0) {
        return false;
    }
    for (uint32_t i = 0; i < loop->block_count; i++) {
        const struct code_block *block = &self->graph.blocks[loop->blocks[i]];
        for (size_t j = 0; j < block->count; j++) {
            const struct code_instruction *item = &self->listing->items[block->first + j];
            if (item->op == CODE_OP_WGMMA_SYNC && item->depth >= 0) {
                outlives = item->depth > 0;
            }
        }
    }
    return outlives;
}

static void settle_groups(struct code_profiler *self, struct player *player)
{
    struct code_pipeline *pipeline = &self->profile->pipeline;
    pipeline->prologue_commits = self->profile->prologue.most[CODE_OP_ASYNC_COMMIT];
    pipeline->commits_per_iteration = self->profile->iteration.most[CODE_OP_ASYNC_COMMIT];
    collect(self, CODE_STRETCH_PROLOGUE, player);
    play(player, 0);
    collect(self, CODE_STRETCH_LOOP, player);
    for (size_t i = 0; i < player->count; i++) {
        const struct event *event = &player->events[i];
        player->turn_bytes += event->bytes;
        if (event->is_wait && (pipeline->wait_depth < 0 || event->depth < pipeline->wait_depth)) {
            pipeline->wait_depth = event->depth;
        }
    }
    if (pipeline->wait_depth < 0 || player->turn_bytes == 0) {
        code_note(self->profile,
                  pipeline->wait_depth < 0 ? "no wait for the copies inside the loop" : "copies of unknown size");
        return;
    }
    for (uint32_t turn = 1; turn <= TURNS; turn++) {
        play(player, turn);
    }
    pipeline->ahead_iterations = player->weight > 0 ? player->weighted_turns / player->weight : (double)NAN;
    pipeline->open_tiles = player->most_open_bytes / player->turn_bytes;
    pipeline->held_tiles = product_outlives_turn(self) ? 1 : 0;
    pipeline->buffers = ceil(pipeline->open_tiles - 1e-9) + pipeline->held_tiles;
    pipeline->buffers = pipeline->buffers < 1 ? 1 : pipeline->buffers;
    pipeline->buffers_known = true;
}

static void settle_ring(struct code_profiler *self)
{
    struct code_pipeline *pipeline = &self->profile->pipeline;
    if (isnan(pipeline->ring_slots)) {
        return;
    }
    if (pipeline->buffers_known && fabs(pipeline->ring_slots - pipeline->buffers) > 1) {
        code_note(self->profile, "a ring of %g slots, while the groups say %g tiles", pipeline->ring_slots,
                  pipeline->buffers);
    }
    pipeline->buffers = pipeline->ring_slots;
    pipeline->buffers_known = true;
}

bool code_pipeline_find(struct code_profiler *self)
{
    struct code_profile *profile = self->profile;
    struct code_pipeline *pipeline = &profile->pipeline;
    *pipeline = (struct code_pipeline){.wait_depth = -1,
                                       .ahead_iterations = NAN,
                                       .open_tiles = NAN,
                                       .ring_slots = NAN,
                                       .early_fraction = NAN,
                                       .buffers = 1,
                                       .buffers_known = true};
    if (!profile->has_loop) {
        return true;
    }
    const struct code_tally *copies = profile->has_producer ? &profile->producer : &profile->iteration;
    const bool bulk = copies->most[CODE_OP_BULK_COPY] + copies->most[CODE_OP_TENSOR_COPY] > 0;
    const bool groups = copies->most[CODE_OP_ASYNC_COPY] > 0;
    if (!bulk && !groups) {
        return true;
    }
    pipeline->early_fraction = early_fraction(self, profile->main_loop);
    pipeline->ring_slots = find_ring(self, profile->main_loop);
    pipeline->buffers_known = false;
    pipeline->buffers = NAN;
    if (bulk || copies->most[CODE_OP_ASYNC_COMMIT] == 0) {
        pipeline->kind = CODE_PIPELINE_BARRIERS;
        pipeline->barriers_initialised = 0;
        for (size_t i = 0; i < self->listing->count; i++) {
            pipeline->barriers_initialised += strncmp(self->listing->items[i].mnemonic, "mbarrier.init", 13) == 0;
        }
        pipeline->held_tiles = profile->iteration.most[CODE_OP_WGMMA] > 0 ? 1 : 0;
        settle_ring(self);
        if (!pipeline->buffers_known) {
            code_note(profile, "copies end at mbarriers: how many tiles run ahead is not told by the code seen");
        }
        return true;
    }
    struct player *player = calloc(1, sizeof *player);
    if (player == NULL) {
        return false;
    }
    pipeline->kind = CODE_PIPELINE_GROUPS;
    settle_groups(self, player);
    settle_ring(self);
    free(player);
    return true;
}
