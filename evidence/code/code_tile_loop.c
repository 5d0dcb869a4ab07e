/* SPDX-License-Identifier: GPL-3.0-or-later
 * From counts per warp to the tile loop of a CTA (docs/MODEL.md, CODE-5). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "evidence/code/code_profile.h"

#define LANES        32.0
#define SECTOR_BYTES 32.0

struct mapping {
    const struct code_profile *profile;
    const struct code_tally *turn;
    uint32_t warps;
    struct tile_loop *loop;
    char *assumed;
    size_t assumed_size, assumed_length;
};

static void assume(struct mapping *self, const char *text)
{
    if (self->assumed == NULL || self->assumed_length >= self->assumed_size) {
        return;
    }
    const int written = snprintf(self->assumed + self->assumed_length, self->assumed_size - self->assumed_length,
                                 "%s%s", self->assumed_length > 0 ? "; " : "", text);
    self->assumed_length += written > 0 ? (size_t)written : 0;
}

/* fp8 stands for the 8-bit integers, which run at its rate. false: no format of the model. */
static bool format_of(const char *name, enum number_format *format)
{
    static const struct {
        const char *name;
        enum number_format format;
    } known[] = {{"bf16", NUMBER_FORMAT_BF16},    {"f16", NUMBER_FORMAT_FP16},     {"tf32", NUMBER_FORMAT_TF32},
                 {"e4m3", NUMBER_FORMAT_FP8},     {"e5m2", NUMBER_FORMAT_FP8},     {"s8", NUMBER_FORMAT_FP8},
                 {"u8", NUMBER_FORMAT_FP8},       {"e2m3", NUMBER_FORMAT_FP8},     {"e3m2", NUMBER_FORMAT_FP8},
                 {"e2m1", NUMBER_FORMAT_FP4},     {"f8f6f4", NUMBER_FORMAT_FP8},   {"mxf4", NUMBER_FORMAT_FP4},
                 {"mxf8f6f4", NUMBER_FORMAT_FP8}, {"mxf4nvf4", NUMBER_FORMAT_FP4}, {"i8", NUMBER_FORMAT_FP8}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].name, name) == 0) {
            *format = known[i].format;
            return true;
        }
    }
    return false;
}

static uint32_t whole(double value)
{
    return value < 1 ? 1 : value > 1e6 ? 1000000 : (uint32_t)(value + 0.5);
}

/* CODE-5: a product that gives each warp `chains` accumulators to each of which it adds `length` instructions. */
static void add_product(struct mapping *self, const struct code_mma *mma, const struct code_chains *chains,
                        enum number_format format)
{
    struct tile_loop *loop = self->loop;
    if (loop->mma_count == TILE_LOOP_MMA_MAX) {
        assume(self, "products beyond the fourth kind are left out");
        return;
    }
    struct mma_op *op = &loop->mma[loop->mma_count++];
    *op = (struct mma_op){.k = mma->k,
                          .count = chains->length,
                          .format = format,
                          .instruction_m = mma->m,
                          .instruction_n = mma->n,
                          .instruction_k = mma->k,
                          .layout = MMA_LAYOUT_SPLIT_M};
    if (mma->op == CODE_OP_WGMMA) { /* four warps share one instruction */
        op->warpgroup = true;
        op->m = mma->m * ((self->warps + 3) / 4) * whole(chains->count);
        op->n = mma->n;
    } else { /* every warp in its own rows: nothing is replicated twice */
        op->m = mma->m * self->warps;
        op->n = mma->n * whole(chains->count);
    }
}

static void map_products(struct mapping *self)
{
    const struct code_tally *turn = &self->profile->iteration;
    self->loop->mma_count = 0;
    memset(self->loop->mma, 0, sizeof self->loop->mma);
    for (uint32_t i = 0; i < turn->mma_count; i++) {
        const struct code_mma *mma = &turn->mma[i];
        enum number_format format;
        if (mma->m == 0 || mma->n == 0 || mma->k == 0) {
            assume(self, "products whose shape the code does not hold are left out");
        } else if (!format_of(mma->format, &format)) {
            assume(self, "products of a type the model has no rate for are left out");
        } else {
            for (uint32_t j = 0; j < mma->chain_kinds; j++) {
                add_product(self, mma, &mma->chains[j], format);
            }
        }
    }
    if (turn->most[CODE_OP_WGMMA] > 0 && self->profile->has_producer) {
        assume(self, "all warps multiply, although some only copy");
    }
    self->loop->smem_operands = 0; /* operand reads are counted as they are */
    self->loop->replicated_ops = self->loop->operand_ops = 0;
}

/* ---- loads ----------------------------------------------------------------------------------------------------- */
static void set_load(struct tile_load *load, double bytes)
{
    if (bytes <= 0) {
        load->rows = 0;
        return;
    }
    if (load->row_bytes > 0 && bytes >= load->row_bytes) {
        load->rows = bytes / load->row_bytes;
        return;
    }
    load->rows = 1;
    load->row_bytes = bytes;
    load->alignment_bytes = SECTOR_BYTES;
}

/* Bytes per CTA and turn: all, with dependent addresses, and of each the part by async copies. */
struct load_bytes {
    double all, gather, async, gather_async;
};

static struct load_bytes bytes_of(struct mapping *self, const struct code_tally *turn)
{
    struct load_bytes bytes = {turn->distinct_bytes, turn->gather_distinct_bytes, turn->async_distinct_bytes,
                               turn->gather_async_distinct_bytes};
    if (isnan(bytes.all)) {
        const double threads = LANES * self->warps;
        const double copies = turn->lane_bytes[CODE_TRAFFIC_ASYNC_COPY];
        bytes.all = threads * (turn->lane_bytes[CODE_TRAFFIC_GLOBAL_LOAD] + copies);
        bytes.gather = threads * (turn->gather_lane_bytes + turn->gather_shared_lane_bytes);
        bytes.async = threads * copies;
        bytes.gather_async = bytes.gather < bytes.async ? bytes.gather : bytes.async;
        assume(self, "every thread loads its own bytes");
    }
    const double bulk = turn->expected_bytes > 0 ? turn->expected_bytes : turn->bulk_bytes;
    bytes.all += bulk;
    bytes.async += bulk;
    if (bulk == 0 && turn->most[CODE_OP_BULK_COPY] + turn->most[CODE_OP_TENSOR_COPY] > 0) {
        assume(self, "the size of bulk copies is not in the code: they are left out");
    }
    return bytes;
}

static void map_loads(struct mapping *self)
{
    const struct code_profile *profile = self->profile;
    struct tile_loop *loop = self->loop;
    const struct load_bytes bytes = bytes_of(self, self->turn);
    const double stream = bytes.all - bytes.gather, stream_async = bytes.async - bytes.gather_async;
    const double plain = profile->iteration.lane_bytes[CODE_TRAFFIC_GLOBAL_LOAD];
    const bool prefetched = plain > 0 && profile->prefetched_lane_bytes > plain / 2;
    set_load(&loop->stream, stream);
    set_load(&loop->gather, bytes.gather);
    loop->gather.index_dependent = bytes.gather > 0;
    loop->stream.pipelined = stream_async > stream / 2 || (stream_async == 0 && prefetched);
    loop->gather.pipelined = bytes.gather_async > bytes.gather / 2;
    loop->stream.exposures = loop->gather.exposures = profile->load_phases > 1 ? profile->load_phases : 1;
    loop->stream.in_flight_bytes = loop->gather.in_flight_bytes = 0;
    if (stream > 0 && stream_async > 0 && stream_async < stream) {
        assume(self, "loads and async copies are taken together, by the larger part");
    }
    if (bytes.gather > 0 && loop->gather.rows == 1) {
        assume(self, "gathered bytes are whole sectors");
    }
    loop->early_fraction = isnan(profile->pipeline.early_fraction) ? 0 : profile->pipeline.early_fraction;
    loop->buffers = 1;
    if (profile->pipeline.buffers_known && profile->pipeline.kind != CODE_PIPELINE_NONE) {
        loop->buffers = fmax(profile->pipeline.buffers - profile->pipeline.held_tiles, 1);
    } else if (profile->pipeline.kind != CODE_PIPELINE_NONE) {
        loop->buffers = fmax(loop->declared_stages - 1, 1);
        assume(self, loop->declared_stages > 1 ? "one tile less on its way than stages are declared"
                                               : "one buffer: the code does not tell");
    } else if (prefetched) {
        loop->buffers = 2;
    }
}

/* ---- the rest -------------------------------------------------------------------------------------------------- */
static double stored_bytes(const struct mapping *self, const struct code_tally *tally)
{
    return tally->lane_bytes[CODE_TRAFFIC_GLOBAL_STORE] * LANES * self->warps;
}

static void map_operations(struct mapping *self)
{
    const struct code_tally *turn = &self->profile->iteration;
    struct tile_loop *loop = self->loop;
    const double threads = LANES * self->warps;
    loop->fp32_ops = threads * (turn->most[CODE_OP_FP32] + 2 * turn->most[CODE_OP_FP32_PACKED]);
    loop->special_ops = threads * (turn->exponential_elements + turn->most[CODE_OP_SPECIAL]);
    loop->convert_ops = threads * turn->convert_elements;
    loop->shuffle_ops = threads * (turn->most[CODE_OP_SHUFFLE] + turn->most[CODE_OP_REDUCE]);
    loop->smem_bytes =
        threads * (turn->lane_bytes[CODE_TRAFFIC_SHARED_LOAD] + turn->lane_bytes[CODE_TRAFFIC_SHARED_STORE]);
    loop->barriers = turn->most[CODE_OP_BARRIER];
    loop->spill_bytes = turn->lane_bytes[CODE_TRAFFIC_LOCAL_LOAD] + turn->lane_bytes[CODE_TRAFFIC_LOCAL_STORE];
    if (!self->profile->is_sass) {
        loop->spill_bytes = NAN; /* decided after PTX */
    }
    loop->local_bytes = (double)self->profile->local_bytes;
    loop->warp_instructions = loop->edge_instructions = 0;
    loop->operand_waits = self->profile->operand_waits;
    loop->product_waits = self->profile->product_waits;
    if (self->profile->is_sass) {
        loop->edge_instructions = self->profile->prologue.instructions_most + self->profile->epilogue.instructions_most;
        loop->warp_instructions = (turn->instructions_sure + turn->instructions_most) / 2;
        if (turn->instructions_most > turn->instructions_sure) {
            assume(self, "half of what lies behind branches runs");
        }
    }
    if (turn->half_elements > 0 || turn->most[CODE_OP_FP64] > 0) {
        loop->fp32_ops += threads * (turn->most[CODE_OP_HALF] + turn->most[CODE_OP_FP64]);
        assume(self, "fp16 and fp64 arithmetic is counted as fp32");
    }
}

static void map_outside(struct mapping *self)
{
    const struct code_profile *profile = self->profile;
    struct tile_loop *loop = self->loop;
    const struct code_tally *before = &profile->prologue;
    const double asked = before->lane_bytes[CODE_TRAFFIC_GLOBAL_LOAD] * LANES * self->warps;
    const double distinct = before->distinct_bytes - before->async_distinct_bytes;
    loop->prologue_bytes = isnan(distinct) ? asked : distinct;
    if (before->most[CODE_OP_ASYNC_COPY] > 0) {
        if (profile->pipeline.kind == CODE_PIPELINE_NONE) {
            loop->prologue_bytes += isnan(before->async_distinct_bytes)
                                        ? before->lane_bytes[CODE_TRAFFIC_ASYNC_COPY] * LANES * self->warps
                                        : before->async_distinct_bytes;
        } else {
            assume(self, "async copies before the loop are its first tiles");
        }
    }
    loop->epilogue_bytes = stored_bytes(self, &profile->epilogue);
    if (stored_bytes(self, &profile->iteration) > 0) {
        assume(self, "stores inside the loop are left out");
    }
    if (profile->outer_turns != 1) {
        assume(self, "the loop runs inside another one: iterations are of all its turns");
    }
}

enum status code_profile_tile_loop(const struct code_profile *profile, uint32_t warps, struct tile_loop *loop,
                                   char *assumed, size_t assumed_size, struct error *error)
{
    if (assumed != NULL && assumed_size > 0) {
        assumed[0] = '\0';
    }
    if (!profile->has_loop) {
        return error_set(error, STATUS_DOMAIN, "kernel '%.200s' has no loop", profile->name);
    }
    if (warps == 0) {
        warps = profile->threads / 32 + (profile->threads % 32 != 0);
    }
    if (warps == 0 || warps > 64) {
        return error_set(error, STATUS_DOMAIN, "kernel '%.200s' does not say its threads: give the warps per CTA",
                         profile->name);
    }
    struct mapping self = {.profile = profile,
                           .turn = profile->has_producer ? &profile->producer : &profile->iteration,
                           .warps = warps,
                           .loop = loop,
                           .assumed = assumed,
                           .assumed_size = assumed_size};
    map_products(&self);
    map_loads(&self);
    map_operations(&self);
    map_outside(&self);
    return STATUS_OK;
}
