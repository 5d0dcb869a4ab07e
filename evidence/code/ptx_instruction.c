/* SPDX-License-Identifier: GPL-3.0-or-later
 * What PTX mnemonics mean, by kind and modifiers (PTX ISA 9.0, chapter 9). */
#include "evidence/code/ptx_instruction.h"

#include <stdlib.h>
#include <string.h>

#include "evidence/code/ptx_opcodes.h"

bool ptx_slice_is(struct ptx_slice slice, const char *text)
{
    return strlen(text) == slice.length && memcmp(slice.text, text, slice.length) == 0;
}

bool ptx_slice_starts(struct ptx_slice slice, const char *text)
{
    const size_t length = strlen(text);
    return slice.length >= length && memcmp(slice.text, text, length) == 0;
}

void ptx_mnemonic_split(struct ptx_slice whole, struct ptx_mnemonic *mnemonic)
{
    mnemonic->whole = whole;
    mnemonic->count = 0;
    size_t start = 0;
    for (size_t i = 0; i <= whole.length && mnemonic->count < PTX_MODIFIERS_MAX; i++) {
        if (i == whole.length || whole.text[i] == '.') {
            mnemonic->parts[mnemonic->count++] = (struct ptx_slice){whole.text + start, i - start};
            start = i + 1;
        }
    }
}

/* ---- types ----------------------------------------------------------------------------------------------------- */
enum type_class {
    TYPE_INTEGER,
    TYPE_BITS,
    TYPE_F32,
    TYPE_F32X2,
    TYPE_HALF,
    TYPE_NARROW, /* fp8 and below, scales */
    TYPE_F64,
    TYPE_PREDICATE
};

struct type_row {
    const char *name;
    enum type_class class;
    uint32_t bytes, elements;
};

static const struct type_row types[] = {
    {"b128", TYPE_BITS, 16, 1},    {"b16", TYPE_BITS, 2, 1},       {"b16x2", TYPE_BITS, 4, 2},
    {"b32", TYPE_BITS, 4, 1},      {"b64", TYPE_BITS, 8, 1},       {"b8", TYPE_BITS, 1, 1},
    {"bf16", TYPE_HALF, 2, 1},     {"bf16x2", TYPE_HALF, 4, 2},    {"e2m1", TYPE_NARROW, 1, 1},
    {"e2m1x2", TYPE_NARROW, 1, 2}, {"e2m1x4", TYPE_NARROW, 2, 4},  {"e2m3", TYPE_NARROW, 1, 1},
    {"e2m3x2", TYPE_NARROW, 2, 2}, {"e2m3x4", TYPE_NARROW, 4, 4},  {"e3m2", TYPE_NARROW, 1, 1},
    {"e3m2x2", TYPE_NARROW, 2, 2}, {"e3m2x4", TYPE_NARROW, 4, 4},  {"e4m3", TYPE_NARROW, 1, 1},
    {"e4m3x2", TYPE_NARROW, 2, 2}, {"e4m3x4", TYPE_NARROW, 4, 4},  {"e5m2", TYPE_NARROW, 1, 1},
    {"e5m2x2", TYPE_NARROW, 2, 2}, {"e5m2x4", TYPE_NARROW, 4, 4},  {"f16", TYPE_HALF, 2, 1},
    {"f16x2", TYPE_HALF, 4, 2},    {"f32", TYPE_F32, 4, 1},        {"f32x2", TYPE_F32X2, 8, 2},
    {"f64", TYPE_F64, 8, 1},       {"pred", TYPE_PREDICATE, 0, 1}, {"s16", TYPE_INTEGER, 2, 1},
    {"s16x2", TYPE_INTEGER, 4, 2}, {"s2f6x2", TYPE_NARROW, 2, 2},  {"s32", TYPE_INTEGER, 4, 1},
    {"s64", TYPE_INTEGER, 8, 1},   {"s8", TYPE_INTEGER, 1, 1},     {"tf32", TYPE_F32, 4, 1},
    {"u16", TYPE_INTEGER, 2, 1},   {"u16x2", TYPE_INTEGER, 4, 2},  {"u32", TYPE_INTEGER, 4, 1},
    {"u64", TYPE_INTEGER, 8, 1},   {"u8", TYPE_INTEGER, 1, 1},     {"ue4m3", TYPE_NARROW, 1, 1},
    {"ue8m0", TYPE_NARROW, 1, 1},  {"ue8m0x2", TYPE_NARROW, 2, 2},
};

static int compare_type(const void *key, const void *row)
{
    return ptx_slice_compare(*(const struct ptx_slice *)key, ((const struct type_row *)row)->name);
}

static const struct type_row *type_of(struct ptx_slice part)
{
    return bsearch(&part, types, sizeof types / sizeof *types, sizeof *types, compare_type);
}

uint32_t ptx_type_bytes(struct ptx_slice type)
{
    const struct type_row *row = type_of(type);
    return row == NULL ? 0 : row->bytes;
}

static const struct type_row *last_type(const struct ptx_mnemonic *mnemonic)
{
    for (uint32_t i = mnemonic->count; i-- > 1;) {
        const struct type_row *row = type_of(mnemonic->parts[i]);
        if (row != NULL) {
            return row;
        }
    }
    return NULL;
}

/* The n-th type from the left, from 0. */
static const struct type_row *nth_type(const struct ptx_mnemonic *mnemonic, uint32_t n)
{
    for (uint32_t i = 1; i < mnemonic->count; i++) {
        const struct type_row *row = type_of(mnemonic->parts[i]);
        if (row != NULL && n-- == 0) {
            return row;
        }
    }
    return NULL;
}

static bool has(const struct ptx_mnemonic *mnemonic, const char *part)
{
    for (uint32_t i = 1; i < mnemonic->count; i++) {
        if (ptx_slice_is(mnemonic->parts[i], part)) {
            return true;
        }
    }
    return false;
}

static bool has_start(const struct ptx_mnemonic *mnemonic, const char *start)
{
    for (uint32_t i = 1; i < mnemonic->count; i++) {
        if (ptx_slice_starts(mnemonic->parts[i], start)) {
            return true;
        }
    }
    return false;
}

/* Number after `letter` at *at, or 0. */
static uint32_t shape_number(struct ptx_slice part, size_t *at, char letter)
{
    if (*at >= part.length || part.text[*at] != letter) {
        return 0;
    }
    uint32_t value = 0;
    for (++*at; *at < part.length && part.text[*at] >= '0' && part.text[*at] <= '9' && value < 100000; ++*at) {
        value = value * 10 + (uint32_t)(part.text[*at] - '0');
    }
    return value;
}

static void read_shape(const struct ptx_mnemonic *mnemonic, struct ptx_meaning *meaning)
{
    for (uint32_t i = 1; i < mnemonic->count; i++) {
        size_t at = 0;
        const uint32_t m = shape_number(mnemonic->parts[i], &at, 'm');
        const uint32_t n = m == 0 ? 0 : shape_number(mnemonic->parts[i], &at, 'n');
        const uint32_t k = n == 0 ? 0 : shape_number(mnemonic->parts[i], &at, 'k');
        if (k != 0 && at == mnemonic->parts[i].length) {
            meaning->m = m;
            meaning->n = n;
            meaning->k = k;
            return;
        }
    }
}

static void set_format(struct ptx_meaning *meaning, struct ptx_slice text)
{
    const size_t length = text.length < sizeof meaning->format ? text.length : sizeof meaning->format - 1;
    memcpy(meaning->format, text.text, length);
    meaning->format[length] = '\0';
}

/* ---- families -------------------------------------------------------------------------------------------------- */
static void read_vector_bytes(const struct ptx_mnemonic *mnemonic, struct ptx_meaning *meaning)
{
    const struct type_row *type = last_type(mnemonic);
    uint32_t count = 1;
    count = has(mnemonic, "v2") ? 2 : has(mnemonic, "v4") ? 4 : has(mnemonic, "v8") ? 8 : count;
    meaning->lane_bytes = type == NULL ? 0 : type->bytes * count;
}

static void load(const struct ptx_mnemonic *mnemonic, struct ptx_meaning *meaning)
{
    meaning->op = CODE_OP_GLOBAL_LOAD;
    if (has_start(mnemonic, "shared")) {
        meaning->op = CODE_OP_SHARED_LOAD;
    } else if (has(mnemonic, "local")) {
        meaning->op = CODE_OP_LOCAL_LOAD;
    } else if (has_start(mnemonic, "param")) {
        meaning->op = CODE_OP_CONSTANT_LOAD;
        meaning->is_parameter_load = true;
    } else if (has_start(mnemonic, "const")) {
        meaning->op = CODE_OP_CONSTANT_LOAD;
    } else if (!has(mnemonic, "global")) {
        meaning->generic = true;
    }
    read_vector_bytes(mnemonic, meaning);
}

static void store(const struct ptx_mnemonic *mnemonic, struct ptx_meaning *meaning)
{
    meaning->op = CODE_OP_GLOBAL_STORE;
    meaning->written = 0;
    if (has_start(mnemonic, "shared") || has(mnemonic, "async") || has(mnemonic, "bulk")) {
        meaning->op = CODE_OP_SHARED_STORE;
    } else if (has(mnemonic, "local")) {
        meaning->op = CODE_OP_LOCAL_STORE;
    } else if (has_start(mnemonic, "param")) {
        meaning->op = CODE_OP_MOVE; /* an argument of a call */
    } else if (!has(mnemonic, "global")) {
        meaning->generic = true;
    }
    read_vector_bytes(mnemonic, meaning);
}

static void atomic(const struct ptx_mnemonic *mnemonic, struct ptx_meaning *meaning)
{
    meaning->op = CODE_OP_ATOMIC;
    meaning->on_shared = has_start(mnemonic, "shared");
    meaning->written = ptx_slice_is(mnemonic->parts[0], "red") ? 0 : 1;
    read_vector_bytes(mnemonic, meaning);
}

static void multimem(const struct ptx_mnemonic *mnemonic, struct ptx_meaning *meaning)
{
    meaning->op = has(mnemonic, "ld_reduce") ? CODE_OP_GLOBAL_LOAD
                  : has(mnemonic, "st")      ? CODE_OP_GLOBAL_STORE
                                             : CODE_OP_ATOMIC;
    meaning->written = meaning->op == CODE_OP_GLOBAL_LOAD;
    read_vector_bytes(mnemonic, meaning);
}

static void bulk_copy(const struct ptx_mnemonic *mnemonic, struct ptx_meaning *meaning)
{
    if (has(mnemonic, "commit_group") || has(mnemonic, "wait_group") || has(mnemonic, "prefetch")) {
        return; /* groups of stores, or into L2 only: OTHER */
    }
    meaning->op = has(mnemonic, "tensor") ? CODE_OP_TENSOR_COPY : CODE_OP_BULK_COPY;
    meaning->wants_size = meaning->op == CODE_OP_BULK_COPY;
    for (uint32_t i = 1; i < mnemonic->count; i++) { /* destination comes first, then source */
        if (ptx_slice_is(mnemonic->parts[i], "global")) {
            meaning->to_global = true;
        }
        if (ptx_slice_is(mnemonic->parts[i], "global") || ptx_slice_starts(mnemonic->parts[i], "shared")) {
            break;
        }
    }
    meaning->source_address = meaning->to_global ? 0 : 1;
}

static void copy(const struct ptx_mnemonic *mnemonic, struct ptx_meaning *meaning)
{
    meaning->written = 0;
    if (has(mnemonic, "bulk")) {
        bulk_copy(mnemonic, meaning);
    } else if (has(mnemonic, "mbarrier")) {
        meaning->op = CODE_OP_MBARRIER;
    } else if (has(mnemonic, "commit_group")) {
        meaning->op = CODE_OP_ASYNC_COMMIT;
    } else if (has(mnemonic, "wait_group") || has(mnemonic, "wait_all")) {
        meaning->op = CODE_OP_ASYNC_WAIT;
        meaning->wants_depth = true;
    } else if (has(mnemonic, "async")) {
        meaning->op = CODE_OP_ASYNC_COPY;
        meaning->wants_size = true;
        meaning->source_address = 1;
    } else {
        meaning->known = false;
    }
}

/* A warp's 8 x 8 matrix of 16 bits is 4 bytes per lane. 16 x 16 matrices are narrow elements at a byte each. */
static void matrix_move(const struct ptx_mnemonic *mnemonic, struct ptx_meaning *meaning)
{
    const bool is_load = ptx_slice_is(mnemonic->parts[0], "ldmatrix");
    meaning->op = is_load ? CODE_OP_LDMATRIX : CODE_OP_STMATRIX;
    meaning->written = is_load;
    const uint32_t count = has(mnemonic, "x4") ? 4 : has(mnemonic, "x2") ? 2 : 1;
    meaning->lane_bytes = count * (has(mnemonic, "m16n16") ? 8 : 4);
}

static void mma(const struct ptx_mnemonic *mnemonic, struct ptx_meaning *meaning)
{
    meaning->op = CODE_OP_MMA;
    read_shape(mnemonic, meaning);
    const struct type_row *a = nth_type(mnemonic, 1); /* d, a, b, c */
    if (a != NULL) {
        set_format(meaning, (struct ptx_slice){a->name, strlen(a->name)});
    }
}

static void wmma(const struct ptx_mnemonic *mnemonic, struct ptx_meaning *meaning)
{
    if (has(mnemonic, "load")) {
        load(mnemonic, meaning);
        meaning->lane_bytes = 0; /* spread over the lanes in a way the ISA leaves open */
    } else if (has(mnemonic, "store")) {
        store(mnemonic, meaning);
        meaning->lane_bytes = 0;
    } else {
        mma(mnemonic, meaning);
        if (nth_type(mnemonic, 2) == NULL) { /* .d.c of fp16 products */
            set_format(meaning, (struct ptx_slice){"f16", 3});
        }
    }
}

static void wgmma(const struct ptx_mnemonic *mnemonic, struct ptx_meaning *meaning)
{
    meaning->op = CODE_OP_WGMMA_SYNC;
    meaning->written = 0;
    meaning->wants_depth = has(mnemonic, "wait_group");
    if (has(mnemonic, "mma_async")) {
        mma(mnemonic, meaning);
        meaning->op = CODE_OP_WGMMA;
        meaning->written = 1;
        meaning->first_also_read = true;
    }
}

static void tcgen05(const struct ptx_mnemonic *mnemonic, struct ptx_meaning *meaning)
{
    meaning->op = CODE_OP_TCGEN05_OTHER;
    meaning->written = has(mnemonic, "ld");
    if (!has(mnemonic, "mma")) {
        return;
    }
    meaning->op = CODE_OP_TCGEN05; /* the shape is in a descriptor that only the registers hold */
    for (uint32_t i = 1; i < mnemonic->count; i++) {
        if (ptx_slice_starts(mnemonic->parts[i], "kind::")) {
            set_format(meaning, (struct ptx_slice){mnemonic->parts[i].text + 6, mnemonic->parts[i].length - 6});
        }
    }
}

static void convert(const struct ptx_mnemonic *mnemonic, struct ptx_meaning *meaning)
{
    const struct type_row *to = nth_type(mnemonic, 0), *from = nth_type(mnemonic, 1);
    if (to == NULL || from == NULL) {
        meaning->op = has(mnemonic, "pack") ? CODE_OP_INTEGER : CODE_OP_CONVERT;
        return;
    }
    const bool both_integer = (to->class == TYPE_INTEGER || to->class == TYPE_BITS) &&
                              (from->class == TYPE_INTEGER || from->class == TYPE_BITS);
    meaning->op = both_integer ? CODE_OP_MOVE : CODE_OP_CONVERT;
    meaning->elements = to->elements > from->elements ? to->elements : from->elements;
}

static void arithmetic(const struct ptx_mnemonic *mnemonic, struct ptx_meaning *meaning)
{
    const struct type_row *type = last_type(mnemonic);
    meaning->op = CODE_OP_INTEGER;
    meaning->integer = true;
    if (type == NULL || type->class == TYPE_INTEGER || type->class == TYPE_BITS || type->class == TYPE_PREDICATE) {
        return;
    }
    meaning->integer = false;
    meaning->elements = type->elements;
    meaning->op = type->class == TYPE_F64     ? CODE_OP_FP64
                  : type->class == TYPE_F32X2 ? CODE_OP_FP32_PACKED
                  : type->class == TYPE_HALF  ? CODE_OP_HALF
                                              : CODE_OP_FP32;
    if (type->class == TYPE_HALF && has(mnemonic, "f32")) {
        meaning->op = CODE_OP_FP32; /* mixed: the sum is fp32 */
    }
}

static void divide(const struct ptx_mnemonic *mnemonic, struct ptx_meaning *meaning)
{
    arithmetic(mnemonic, meaning);
    if (meaning->op == CODE_OP_FP32) {
        meaning->op = CODE_OP_SPECIAL; /* by way of a reciprocal */
    }
}

static void exponential(const struct ptx_mnemonic *mnemonic, struct ptx_meaning *meaning)
{
    const struct type_row *type = last_type(mnemonic);
    meaning->op = CODE_OP_EXPONENTIAL;
    meaning->elements = type == NULL ? 1 : type->elements;
}

static void barrier(const struct ptx_mnemonic *mnemonic, struct ptx_meaning *meaning)
{
    meaning->written = has(mnemonic, "red");
    meaning->op = has(mnemonic, "warp") || has(mnemonic, "arrive") ? CODE_OP_OTHER : CODE_OP_BARRIER;
}

static void mbarrier(const struct ptx_mnemonic *mnemonic, struct ptx_meaning *meaning)
{
    meaning->op = CODE_OP_MBARRIER;
    meaning->wants_transaction = has(mnemonic, "expect_tx");
    meaning->written = !(has(mnemonic, "init") || has(mnemonic, "inval") || has(mnemonic, "expect_tx") ||
                         has(mnemonic, "complete_tx")) ||
                       has(mnemonic, "arrive");
}

static void vote(const struct ptx_mnemonic *mnemonic, struct ptx_meaning *meaning)
{
    (void)mnemonic;
    meaning->op = CODE_OP_REDUCE;
}

#define FIXED(function, operation)                                                                                     \
    static void function(const struct ptx_mnemonic *mnemonic, struct ptx_meaning *meaning)                             \
    {                                                                                                                  \
        (void)mnemonic;                                                                                                \
        meaning->op = CODE_OP_##operation;                                                                             \
    }
FIXED(special, SPECIAL)
FIXED(move, MOVE)
FIXED(shuffle, SHUFFLE)
#undef FIXED

static void integer(const struct ptx_mnemonic *mnemonic, struct ptx_meaning *meaning)
{
    (void)mnemonic;
    meaning->op = CODE_OP_INTEGER;
    meaning->integer = true;
}

static void mov(const struct ptx_mnemonic *mnemonic, struct ptx_meaning *meaning)
{
    (void)mnemonic;
    meaning->op = CODE_OP_MOVE;
    meaning->integer = true;
}

#define WRITES_NOTHING(function, operation)                                                                            \
    static void function(const struct ptx_mnemonic *mnemonic, struct ptx_meaning *meaning)                             \
    {                                                                                                                  \
        (void)mnemonic;                                                                                                \
        meaning->op = CODE_OP_##operation;                                                                             \
        meaning->written = 0;                                                                                          \
    }
WRITES_NOTHING(fence, FENCE)
WRITES_NOTHING(branch, BRANCH)
WRITES_NOTHING(leave, EXIT)
WRITES_NOTHING(nothing, OTHER)
#undef WRITES_NOTHING

static void call(const struct ptx_mnemonic *mnemonic, struct ptx_meaning *meaning)
{
    (void)mnemonic;
    meaning->op = CODE_OP_CALL;
    meaning->written = 0;
}

static void other(const struct ptx_mnemonic *mnemonic, struct ptx_meaning *meaning)
{
    (void)mnemonic;
    meaning->op = CODE_OP_OTHER;
}

#define READER_ENTRY(name, function) [PTX_KIND_##name] = function,
static void (*const readers[PTX_KIND_COUNT])(const struct ptx_mnemonic *mnemonic,
                                             struct ptx_meaning *meaning) = {PTX_KIND_LIST(READER_ENTRY)};
#undef READER_ENTRY

void ptx_meaning_of(const struct ptx_mnemonic *mnemonic, struct ptx_meaning *meaning)
{
    memset(meaning, 0, sizeof *meaning);
    meaning->written = 1;
    meaning->op = CODE_OP_OTHER;
    enum ptx_kind kind;
    if (ptx_opcode_find(mnemonic->parts[0], &kind)) {
        meaning->known = true;
        readers[kind](mnemonic, meaning);
    }
}
