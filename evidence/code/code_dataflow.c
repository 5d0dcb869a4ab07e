/* SPDX-License-Identifier: GPL-3.0-or-later
 * Two flows over registers (docs/MODEL.md CODE-3). Which loads feed an address: one pass over a turn of the loop. Which
 * bits of the thread's index each bit of a register depends on: passes over the kernel until nothing changes. */
#include "evidence/code/code_dataflow.h"

#include <math.h>
#include <string.h>

enum {
    VALUE_BITS = 64,
    THREAD_BITS = 10,
    ALL_THREAD_BITS = (1 << THREAD_BITS) - 1,
    LANE_THREAD_BITS = 31,
    REGISTERS_MAX = 1 << 18, /* 128 bytes each */
    PASSES_MAX = 16
};

struct value {
    uint16_t bits[VALUE_BITS]; /* of each bit of the register: the thread bits it depends on */
};

struct thread_flow {
    const struct code_listing *listing;
    struct value *values; /* by register */
    uint16_t *any;        /* union over a value's bits */
    bool changed;
    bool several_dimensions;
};

/* ---- thread bits ----------------------------------------------------------------------------------------------- */
static bool starts(const struct code_instruction *item, const char *text)
{
    return strncmp(item->mnemonic, text, strlen(text)) == 0;
}

static void spread(struct value *out, uint16_t bits)
{
    for (int i = 0; i < VALUE_BITS; i++) {
        out->bits[i] |= bits;
    }
}

static void merge(struct value *out, const struct value *in)
{
    for (int i = 0; i < VALUE_BITS; i++) {
        out->bits[i] |= in->bits[i];
    }
}

/* A sum or product: a bit depends on all bits at or below it. */
static void carry(struct value *value)
{
    for (int i = 1; i < VALUE_BITS; i++) {
        value->bits[i] |= value->bits[i - 1];
    }
}

static void shift(struct value *value, int64_t left, bool is_signed)
{
    struct value out;
    for (int i = 0; i < VALUE_BITS; i++) {
        const int64_t from = i - left;
        out.bits[i] = from < 0            ? 0
                      : from < VALUE_BITS ? value->bits[from]
                      : is_signed         ? value->bits[VALUE_BITS - 1]
                                          : 0;
    }
    *value = out;
}

static void special_value(struct thread_flow *flow, enum code_special special, struct value *out)
{
    switch (special) {
    case CODE_SPECIAL_THREAD_X:
        for (int i = 0; i < THREAD_BITS; i++) {
            out->bits[i] = (uint16_t)(1 << i);
        }
        break;
    case CODE_SPECIAL_THREAD:
        flow->several_dimensions = true;
        spread(out, ALL_THREAD_BITS);
        break;
    case CODE_SPECIAL_LANE:
        for (int i = 0; i < 5; i++) {
            out->bits[i] = (uint16_t)(1 << i);
        }
        break;
    case CODE_SPECIAL_WARP:
        for (int i = 0; i < 5; i++) {
            out->bits[i] = (uint16_t)(32 << i);
        }
        break;
    case CODE_SPECIAL_NONE:
    case CODE_SPECIAL_CTA:
    case CODE_SPECIAL_OTHER:
        break;
    }
}

/* One register and one literal, where that says more than the union of all bits. false: it does not. */
static bool literal_value(const struct code_instruction *item, struct value *value)
{
    const int64_t literal = item->immediate;
    const bool is_signed = strstr(item->mnemonic, ".s") != NULL;
    if (starts(item, "and.")) {
        for (int i = 0; i < VALUE_BITS; i++) {
            value->bits[i] = (uint64_t)literal >> i & 1 ? value->bits[i] : 0;
        }
    } else if (starts(item, "or.") || starts(item, "xor.")) {
        return true;
    } else if (starts(item, "shl.") && literal >= 0 && literal < VALUE_BITS) {
        shift(value, literal, false);
    } else if (starts(item, "shr.") && literal >= 0 && literal < VALUE_BITS) {
        shift(value, -literal, is_signed);
    } else if (starts(item, "bfe.")) {
        const int64_t position = literal & 0xffffffff, length = literal >> 32;
        if (position >= VALUE_BITS || length < 1 || length > VALUE_BITS) {
            return false;
        }
        shift(value, -position, false);
        for (int64_t i = length; i < VALUE_BITS; i++) {
            value->bits[i] = is_signed ? value->bits[length - 1] : 0;
        }
    } else if (starts(item, "add.") || starts(item, "sub.")) {
        carry(value);
    } else if ((starts(item, "mul.lo") || starts(item, "mul.wide")) && literal > 0) {
        if ((literal & (literal - 1)) == 0) {
            shift(value, __builtin_ctzll((unsigned long long)literal), false);
        } else {
            carry(value);
        }
    } else {
        return false;
    }
    return true;
}

static uint16_t union_of_reads(const struct thread_flow *flow, const struct code_instruction *item)
{
    uint16_t bits = 0;
    for (uint32_t i = 0; i < item->read_count; i++) {
        bits |= flow->any[item->reads[i]];
    }
    return bits;
}

/* Bit by bit where the operation works so; *out is zero before. */
static bool bitwise_value(const struct thread_flow *flow, const struct code_instruction *item, struct value *out)
{
    const bool sum = starts(item, "add.") || starts(item, "sub.") || starts(item, "mul.lo") ||
                     starts(item, "mul.wide") || starts(item, "mad.lo") || starts(item, "mad.wide");
    const bool logic = starts(item, "or.") || starts(item, "xor.") || starts(item, "and.") || starts(item, "not.") ||
                       starts(item, "lop3.");
    const bool select = starts(item, "selp.");
    if (!sum && !logic && !select) {
        return false;
    }
    const uint32_t values = select && item->read_count > 0 ? item->read_count - 1u : item->read_count;
    for (uint32_t i = 0; i < values; i++) {
        merge(out, &flow->values[item->reads[i]]);
    }
    if (sum) {
        carry(out);
    }
    if (select && item->read_count > 0) {
        spread(out, flow->any[item->reads[values]]);
    }
    return true;
}

static void item_value(struct thread_flow *flow, const struct code_instruction *item, struct value *out)
{
    const uint16_t all = union_of_reads(flow, item);
    const uint32_t own = (uint32_t)item->read_count - (item->guard != 0 && item->read_count > 0 ? 1u : 0u);
    if (item->op == CODE_OP_MOVE && item->special != CODE_SPECIAL_NONE) {
        special_value(flow, item->special, out);
    } else if (all == 0) {
        return;
    } else if (item->op == CODE_OP_MOVE && own == 1 && item->write_count == 1) {
        *out = flow->values[item->reads[0]];
        if (strstr(item->mnemonic, "s64.s32") != NULL) {
            for (int i = 32; i < VALUE_BITS; i++) {
                out->bits[i] |= out->bits[31];
            }
        }
    } else if (item->op == CODE_OP_INTEGER && item->has_immediate && own == 1) {
        *out = flow->values[item->reads[0]];
        if (!literal_value(item, out)) {
            spread(out, all);
        }
    } else if (item->op != CODE_OP_INTEGER || !bitwise_value(flow, item, out)) {
        spread(out, all);
    }
    if (item->guard != 0) {
        spread(out, flow->any[item->guard]);
    }
    if (all != 0 && (item->op == CODE_OP_LDMATRIX || item->op == CODE_OP_MMA || item->op == CODE_OP_SHUFFLE)) {
        spread(out, LANE_THREAD_BITS);
    }
}

static void pass_item(struct thread_flow *flow, const struct code_instruction *item)
{
    struct value value;
    if (item->write_count == 0) {
        return;
    }
    memset(&value, 0, sizeof value);
    item_value(flow, item, &value);
    uint16_t any = 0;
    for (int i = 0; i < VALUE_BITS; i++) {
        any |= value.bits[i];
    }
    if (any == 0) {
        return;
    }
    for (uint32_t w = 0; w < item->write_count; w++) {
        struct value *old = &flow->values[item->writes[w]];
        for (int i = 0; i < VALUE_BITS; i++) {
            flow->changed |= (value.bits[i] & ~old->bits[i]) != 0;
            old->bits[i] |= value.bits[i];
        }
        flow->any[item->writes[w]] |= any;
    }
}

static enum status find_thread_bits(const struct code_listing *listing, const struct code_graph *graph,
                                    struct arena *arena, struct code_dataflow *out)
{
    out->thread_bits = arena_allocate(arena, listing->count, sizeof *out->thread_bits);
    if (out->thread_bits == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (listing->register_count >= REGISTERS_MAX) {
        return STATUS_OK;
    }
    struct arena scratch = {0};
    struct thread_flow flow = {.listing = listing, .changed = true};
    flow.values = arena_allocate(&scratch, (size_t)listing->register_count + 1, sizeof *flow.values);
    flow.any = arena_allocate(&scratch, (size_t)listing->register_count + 1, sizeof *flow.any);
    if (flow.values == NULL || flow.any == NULL) {
        arena_release(&scratch);
        return STATUS_NO_MEMORY;
    }
    for (int pass = 0; pass < PASSES_MAX && flow.changed; pass++) {
        flow.changed = false;
        for (uint32_t i = 0; i < graph->rpo_count; i++) {
            const struct code_block *block = &graph->blocks[graph->rpo[i]];
            for (size_t j = 0; j < block->count; j++) {
                pass_item(&flow, &listing->items[block->first + j]);
            }
        }
    }
    for (size_t i = 0; i < listing->count; i++) {
        for (uint32_t j = 0; j < listing->items[i].address_count; j++) {
            out->thread_bits[i] |= flow.any[listing->items[i].addresses[j]];
        }
    }
    out->threads_settled = !flow.changed;
    out->several_dimensions = flow.several_dimensions;
    arena_release(&scratch);
    return STATUS_OK;
}

double code_distinct_threads(uint16_t bits, uint32_t threads)
{
    uint32_t kept = 0;
    for (int i = 0; i < THREAD_BITS; i++) {
        kept += (bits >> i & 1) != 0 && threads > 1u << i;
    }
    const uint32_t distinct = 1u << kept;
    return distinct < threads ? distinct : threads;
}

/* ---- loads that feed addresses --------------------------------------------------------------------------------- */
struct load_flow {
    const struct code_listing *listing;
    struct code_dataflow *out;
    unsigned char *taint;        /* by register */
    size_t *loaded_by;           /* by register: 1 + the global load whose result it is, 0 none or already used */
    unsigned char *read_in_loop; /* by register */
    bool batch_open, batch_used, batch_closed;
    uint32_t waits;    /* SASS: latencies that the warp has waited out so far in the turn */
    uint32_t *went_at; /* SASS: that number when a load went out, by instruction */
};

static bool is_global_read(const struct code_instruction *item)
{
    return item->op == CODE_OP_GLOBAL_LOAD || item->op == CODE_OP_ASYNC_COPY ||
           ((item->op == CODE_OP_BULK_COPY || item->op == CODE_OP_TENSOR_COPY) && !item->to_global);
}

/* Machine code goes out in its order: what reads a load's result waits for it, and so does all that follows. A load
 * whose address another load of the turn gave counts with that one: its second latency is that of a gather. */
static void follow_waits(struct load_flow *flow, const struct code_instruction *item, size_t index)
{
    for (uint32_t i = 0; i < item->read_count; i++) {
        const size_t load = flow->loaded_by[item->reads[i]];
        if (load != 0 && flow->went_at[load - 1] >= flow->waits) {
            flow->waits = flow->went_at[load - 1] + 1;
        }
    }
    if (item->op == CODE_OP_GLOBAL_LOAD) {
        const bool dependent = (flow->out->flags[index] & CODE_FROM_GLOBAL) != 0 && flow->waits > 0;
        flow->went_at[index] = dependent ? flow->waits - 1 : flow->waits;
        flow->out->load_phases = fmax(flow->out->load_phases, 1.0 + flow->went_at[index]);
    }
}

/* PTX may be put into another order, but not across barriers: a batch of loads is closed by a use of the last one and
 * then a barrier. */
static void follow_batches(struct load_flow *flow, const struct code_instruction *item, bool uses)
{
    if (item->op == CODE_OP_GLOBAL_LOAD) {
        if (!flow->batch_open || flow->batch_closed) {
            flow->out->load_phases++;
            flow->batch_open = true;
            flow->batch_used = flow->batch_closed = false;
        }
    } else if (uses) {
        flow->batch_used = true;
    } else if (item->op == CODE_OP_BARRIER && flow->batch_used) {
        flow->batch_closed = true;
    }
}

/* Does anything in the loop read what is loaded? */
static bool is_wanted(const struct load_flow *flow, const struct code_instruction *item)
{
    for (uint32_t i = 0; i < item->write_count; i++) {
        if (flow->read_in_loop[item->writes[i]]) {
            return true;
        }
    }
    return false;
}

static void follow_item(struct load_flow *flow, size_t index)
{
    const struct code_instruction *item = &flow->listing->items[index];
    unsigned char taint = 0, address = 0;
    size_t carried = 0;
    bool uses = false;
    const bool copy = item->op == CODE_OP_MOVE && item->read_count == 1;
    for (uint32_t i = 0; i < item->read_count; i++) {
        const uint32_t number = item->reads[i];
        taint |= flow->taint[number];
        address |= i < item->address_count ? flow->taint[number] : 0;
        if (flow->loaded_by[number] != 0 && copy) {
            carried = flow->loaded_by[number]; /* handed on */
        } else if (flow->loaded_by[number] != 0) {
            flow->out->flags[flow->loaded_by[number] - 1] &= (unsigned char)~CODE_PREFETCHED;
            uses = true;
        }
    }
    if (is_global_read(item)) {
        flow->out->flags[index] |= address;
    }
    if (flow->listing->is_sass) {
        follow_waits(flow, item, index);
    } else {
        follow_batches(flow, item, uses);
    }
    const bool is_load = item->op == CODE_OP_GLOBAL_LOAD;
    if (is_load) {
        taint = CODE_FROM_GLOBAL;
        flow->out->flags[index] |= is_wanted(flow, item) ? CODE_PREFETCHED : 0;
        carried = index + 1;
    } else if (item->op == CODE_OP_SHARED_LOAD || item->op == CODE_OP_LDMATRIX) {
        taint = CODE_FROM_SHARED;
    }
    for (uint32_t i = 0; i < item->write_count; i++) {
        const uint32_t number = item->writes[i];
        flow->taint[number] = item->predicated ? flow->taint[number] | taint : taint;
        if (!item->predicated || carried != 0) {
            flow->loaded_by[number] = carried;
        }
    }
}

static enum status follow_loop(const struct code_listing *listing, const struct code_graph *graph, uint32_t loop,
                               struct arena *arena, struct code_dataflow *out)
{
    out->flags = arena_allocate(arena, listing->count, sizeof *out->flags);
    if (out->flags == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (loop == CODE_NONE) {
        return STATUS_OK;
    }
    struct arena scratch = {0};
    struct load_flow flow = {.listing = listing, .out = out};
    flow.taint = arena_allocate(&scratch, (size_t)listing->register_count + 1, sizeof *flow.taint);
    flow.loaded_by = arena_allocate(&scratch, (size_t)listing->register_count + 1, sizeof *flow.loaded_by);
    flow.read_in_loop = arena_allocate(&scratch, (size_t)listing->register_count + 1, sizeof *flow.read_in_loop);
    flow.went_at = arena_allocate(&scratch, listing->count, sizeof *flow.went_at);
    if (flow.taint == NULL || flow.loaded_by == NULL || flow.read_in_loop == NULL || flow.went_at == NULL) {
        arena_release(&scratch);
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < listing->count; i++) {
        for (uint32_t j = 0; code_loop_contains(graph, loop, graph->block_of[i]) && j < listing->items[i].read_count;
             j++) {
            flow.read_in_loop[listing->items[i].reads[j]] = 1;
        }
    }
    for (uint32_t i = 0; i < graph->rpo_count; i++) {
        const struct code_block *block = &graph->blocks[graph->rpo[i]];
        for (size_t j = 0; code_loop_contains(graph, loop, graph->rpo[i]) && j < block->count; j++) {
            follow_item(&flow, block->first + j);
        }
    }
    arena_release(&scratch);
    return STATUS_OK;
}

enum status code_dataflow_compute(const struct code_listing *listing, const struct code_graph *graph, uint32_t loop,
                                  struct arena *arena, struct code_dataflow *flow)
{
    memset(flow, 0, sizeof *flow);
    const enum status status = follow_loop(listing, graph, loop, arena, flow);
    return status == STATUS_OK ? find_thread_bits(listing, graph, arena, flow) : status;
}
