/* SPDX-License-Identifier: GPL-3.0-or-later
 * What SASS mnemonics mean, by kind and modifiers (CUDA Binary Utilities, instruction set reference; modifiers as
 * printed by nvdisasm 12.8 for sm_80 to sm_120). */
#include "evidence/code/sass_instruction.h"

#include <string.h>

#include "evidence/code/sass_opcodes.h"

void sass_mnemonic_split(struct sass_slice whole, struct sass_mnemonic *mnemonic)
{
    mnemonic->whole = whole;
    mnemonic->count = 0;
    size_t start = 0;
    for (size_t i = 0; i <= whole.length && mnemonic->count < SASS_PARTS_MAX; i++) {
        if (i == whole.length || whole.text[i] == '.') {
            mnemonic->parts[mnemonic->count++] = (struct sass_slice){whole.text + start, i - start};
            start = i + 1;
        }
    }
}

bool sass_mnemonic_has(const struct sass_mnemonic *mnemonic, const char *part)
{
    for (uint32_t i = 1; i < mnemonic->count; i++) {
        if (sass_slice_is(mnemonic->parts[i], part)) {
            return true;
        }
    }
    return false;
}

static bool is(const struct sass_mnemonic *mnemonic, const char *name)
{
    return sass_slice_is(mnemonic->parts[0], name);
}

static bool has(const struct sass_mnemonic *mnemonic, const char *part)
{
    return sass_mnemonic_has(mnemonic, part);
}

static bool name_ends(const struct sass_mnemonic *mnemonic, const char *end)
{
    const struct sass_slice name = mnemonic->parts[0];
    const size_t length = strlen(end);
    return name.length >= length && memcmp(name.text + name.length - length, end, length) == 0;
}

static void set_widths(struct sass_meaning *meaning, uint32_t width)
{
    meaning->write_width = width;
    for (size_t i = 0; i < SASS_SOURCES_MAX; i++) {
        meaning->widths[i] = width;
    }
}

/* --- memory ------------------------------------------------------------------------------------------------------- */

static uint32_t access_bytes(const struct sass_mnemonic *mnemonic)
{
    static const struct {
        const char *part;
        uint32_t bytes;
    } sizes[] = {{"U8", 1}, {"S8", 1}, {"U16", 2}, {"S16", 2}, {"64", 8}, {"128", 16}, {"256", 32}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (has(mnemonic, sizes[i].part)) {
            return sizes[i].bytes;
        }
    }
    return 4;
}

static uint32_t registers_of(uint32_t bytes)
{
    return bytes > 4 ? bytes / 4 : 1;
}

static void load(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    meaning->lane_bytes = access_bytes(mnemonic);
    meaning->write_width = registers_of(meaning->lane_bytes);
    if (has(mnemonic, "ENL2")) { /* two halves in registers of their own */
        meaning->extra_writes = 1;
        meaning->write_width /= 2;
    }
}

static void store(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    meaning->writes = false;
    meaning->lane_bytes = access_bytes(mnemonic);
    meaning->widths[1] = registers_of(meaning->lane_bytes);
    if (has(mnemonic, "ENL2")) {
        meaning->widths[1] /= 2;
        meaning->widths[2] = meaning->widths[1];
    }
}

#define ACCESS(function, kind, operation)                                                                              \
    static void function(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)                           \
    {                                                                                                                  \
        kind(mnemonic, meaning);                                                                                       \
        meaning->op = CODE_OP_##operation;                                                                             \
    }
ACCESS(global_load, load, GLOBAL_LOAD)
ACCESS(global_store, store, GLOBAL_STORE)
ACCESS(shared_load, load, SHARED_LOAD)
ACCESS(shared_store, store, SHARED_STORE)
ACCESS(local_load, load, LOCAL_LOAD)
ACCESS(local_store, store, LOCAL_STORE)
ACCESS(constant_load, load, CONSTANT_LOAD)
#undef ACCESS

static void atomic(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    meaning->op = CODE_OP_ATOMIC;
    meaning->on_shared = is(mnemonic, "ATOMS") || is(mnemonic, "REDAS");
    meaning->writes = !(sass_slice_starts(mnemonic->parts[0], "RED") || is(mnemonic, "UREDGR"));
    meaning->lane_bytes = access_bytes(mnemonic);
    set_widths(meaning, registers_of(meaning->lane_bytes));
}

static void async_copy(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    meaning->op = CODE_OP_ASYNC_COPY;
    meaning->writes = false;
    meaning->lane_bytes = access_bytes(mnemonic);
    meaning->address = 1; /* shared memory comes first */
}

/* .S.G is global to shared, .G.S the way back. */
static void bulk_copy(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    meaning->op = CODE_OP_BULK_COPY;
    meaning->writes = false;
    meaning->to_global = mnemonic->count > 1 && sass_slice_is(mnemonic->parts[1], "G");
    meaning->address = meaning->to_global ? 0 : 1;
}

static void tensor_copy(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    meaning->op = CODE_OP_TENSOR_COPY;
    meaning->writes = false;
    meaning->to_global = !is(mnemonic, "UTMALDG");
    meaning->address = 1;
}

/* A warp's 8 x 8 matrix of 16 bits is 4 bytes per lane; .M88.4 are four of them. A 16 x 16 one of bytes is 8. */
static void matrix_move(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    const uint32_t count = has(mnemonic, "4") ? 4 : has(mnemonic, "2") ? 2 : 1;
    const bool large = has(mnemonic, "MT1616") || has(mnemonic, "M1616");
    meaning->lane_bytes = count * (large ? 8 : 4);
    meaning->write_width = meaning->lane_bytes / 4;
    meaning->widths[1] = meaning->lane_bytes / 4;
}

static void matrix_load(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    meaning->op = CODE_OP_LDMATRIX;
    matrix_move(mnemonic, meaning);
}

static void matrix_store(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    meaning->op = CODE_OP_STMATRIX;
    meaning->writes = false;
    matrix_move(mnemonic, meaning);
}

/* --- tensor products ------------------------------------------------------------------------------------------------
 */

/* "64x128x16", or the digits of m, n, k run together: each is a shape of mma in PTX ISA 9.0, chapter 9.7.14. */
static bool read_shape(struct sass_slice part, struct sass_meaning *meaning)
{
    static const struct {
        const char *digits;
        uint32_t m, n, k;
    } shapes[] = {{"884", 8, 8, 4},     {"8816", 8, 8, 16},     {"8832", 8, 8, 32},    {"88128", 8, 8, 128},
                  {"1684", 16, 8, 4},   {"1688", 16, 8, 8},     {"16816", 16, 8, 16},  {"16832", 16, 8, 32},
                  {"16864", 16, 8, 64}, {"168128", 16, 8, 128}, {"168256", 16, 8, 256}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (sass_slice_is(part, shapes[i].digits)) {
            meaning->m = shapes[i].m;
            meaning->n = shapes[i].n;
            meaning->k = shapes[i].k;
            return true;
        }
    }
    uint32_t numbers[3] = {0, 0, 0};
    size_t count = 0, digits = 0;
    for (size_t i = 0; i < part.length; i++) {
        const char c = part.text[i];
        if (c == 'x' && digits > 0 && count < 2) {
            count++;
            digits = 0;
        } else if (c >= '0' && c <= '9' && digits < 4) {
            numbers[count] = numbers[count] * 10 + (uint32_t)(c - '0');
            digits++;
        } else {
            return false;
        }
    }
    if (count != 2 || digits == 0) {
        return false;
    }
    meaning->m = numbers[0];
    meaning->n = numbers[1];
    meaning->k = numbers[2];
    return true;
}

/* Types of operands as modifiers: how PTX calls them, bits that one element takes in registers. */
static const struct mma_type {
    const char *part, *name;
    uint32_t bits;
} mma_types[] = {
    {"F32", "f32", 32},  {"F16", "f16", 16},  {"BF16", "bf16", 16}, {"TF32", "tf32", 32},
    {"F64", "f64", 64},  {"S8", "s8", 8},     {"U8", "u8", 8},      {"S4", "s4", 4},
    {"U4", "u4", 4},     {"S32", "s32", 32},  {"E4M3", "e4m3", 8},  {"E5M2", "e5m2", 8},
    {"E2M1", "e2m1", 8}, {"E3M2", "e3m2", 8}, {"E2M3", "e2m3", 8},  {"B1", "b1", 1},
};

/* The n-th type (from 0) among the modifiers, or NULL. */
static const struct mma_type *nth_type(const struct sass_mnemonic *mnemonic, uint32_t n)
{
    for (uint32_t i = 1; i < mnemonic->count; i++) {
        for (size_t t = 0; t < sizeof mma_types / sizeof *mma_types; t++) {
            if (sass_slice_is(mnemonic->parts[i], mma_types[t].part) && n-- == 0) {
                return &mma_types[t];
            }
        }
    }
    return NULL;
}

static void set_format(struct sass_meaning *meaning, const char *name)
{
    strncpy(meaning->format, name, sizeof meaning->format - 1);
}

/* Registers per thread of a rows x columns operand spread over `threads`, at least one. */
static uint32_t fragment(uint32_t rows, uint32_t columns, uint32_t bits, uint32_t threads)
{
    const uint64_t registers = (uint64_t)rows * columns * bits / (32u * (uint64_t)threads);
    return registers == 0 ? 1 : registers > 256 ? 256 : (uint32_t)registers;
}

/* Modifiers are accumulator, A, B where A is not what goes without saying: HMMA.16816.F32 multiplies fp16,
 * HMMA.16816.F16 also sums in it, IMMA.16832.S8.S8 sums in s32 unsaid. */
static void product(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning, uint32_t threads)
{
    for (uint32_t i = 1; i < mnemonic->count && meaning->m == 0; i++) {
        read_shape(mnemonic->parts[i], meaning);
    }
    const char family = mnemonic->parts[0].text[0];
    const bool sums_unsaid = family == 'I' || family == 'B' || family == 'D';
    const struct mma_type *sum = sums_unsaid ? NULL : nth_type(mnemonic, 0);
    const struct mma_type *a = nth_type(mnemonic, sums_unsaid ? 0 : 1);
    const uint32_t usual = family == 'D' ? 64 : family == 'B' ? 1 : 16;
    const uint32_t sum_bits = family == 'D' ? 64 : sum != NULL ? sum->bits : 32;
    uint32_t bits = a != NULL ? a->bits : usual;
    if (family == 'O') {
        bits = 4; /* fp4 is packed here; QMMA gives each element a byte */
    }
    set_format(meaning, a != NULL       ? a->name
                        : family == 'D' ? "f64"
                        : family == 'B' ? "b1"
                        : family == 'H' ? "f16"
                                        : "");
    meaning->write_width = fragment(meaning->m, meaning->n, sum_bits, threads);
    meaning->widths[0] = fragment(meaning->m, meaning->k, bits, threads) / (has(mnemonic, "SP") ? 2 : 1);
    meaning->widths[1] = fragment(meaning->n, meaning->k, bits, threads);
    meaning->widths[2] = meaning->write_width;
}

static void mma(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    meaning->op = CODE_OP_MMA;
    product(mnemonic, meaning, 32);
}

/* B is a descriptor, so the sources are A and C. */
static void wgmma(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    meaning->op = CODE_OP_WGMMA;
    meaning->a_may_be_descriptor = true;
    product(mnemonic, meaning, 128);
}

/* Shape, and for UTCHMMA the type, are in a descriptor that only the registers hold. */
static void tcgen05(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    meaning->op = CODE_OP_TCGEN05;
    meaning->writes = false;
    set_format(meaning, is(mnemonic, "UTCQMMA")   ? "f8f6f4"
                        : is(mnemonic, "UTCIMMA") ? "i8"
                        : is(mnemonic, "UTCOMMA") ? "mxf4nvf4"
                                                  : "");
}

/* .x4: four registers (of 32x32b; other patterns take more, which the text does not say in one way). */
static void tensor_memory_load(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    meaning->op = CODE_OP_TCGEN05_OTHER;
    for (uint32_t i = 1; i < mnemonic->count; i++) {
        int64_t count = 0;
        const struct sass_slice part = mnemonic->parts[i];
        if (part.length > 1 && part.text[0] == 'x' &&
            sass_number((struct sass_slice){part.text + 1, part.length - 1}, &count) && count > 0 && count <= 128) {
            meaning->write_width = (uint32_t)count;
        }
    }
}

static void tensor_memory(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    meaning->op = CODE_OP_TCGEN05_OTHER;
    meaning->writes = is(mnemonic, "UTCATOMSWS");
}

static void warpgroup(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    meaning->op = CODE_OP_WGMMA_SYNC;
    meaning->writes = false;
    meaning->wants_depth = has(mnemonic, "DEPBAR");
}

/* --- arithmetic -----------------------------------------------------------------------------------------------------
 */

/* FSETP and FCHK write predicates alone. */
static bool sets_predicate(const struct sass_mnemonic *mnemonic)
{
    return name_ends(mnemonic, "SETP") || is(mnemonic, "HSETP2") || is(mnemonic, "FCHK") || is(mnemonic, "R2P") ||
           is(mnemonic, "UR2UP");
}

static void fp32(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    meaning->op = CODE_OP_FP32;
    meaning->writes = !sets_predicate(mnemonic);
}

static void fp32_packed(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    (void)mnemonic;
    meaning->op = CODE_OP_FP32_PACKED;
    meaning->elements = 2;
    set_widths(meaning, 2);
}

static void fp64(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    meaning->op = CODE_OP_FP64;
    meaning->writes = !sets_predicate(mnemonic);
    set_widths(meaning, 2);
}

/* HADD2.F32 widens one fp16 to fp32: there is no other use of it. */
static void half(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    const bool widens = is(mnemonic, "HADD2") && has(mnemonic, "F32");
    meaning->op = widens ? CODE_OP_CONVERT : CODE_OP_HALF;
    meaning->elements = widens ? 1 : 2;
    meaning->writes = !sets_predicate(mnemonic);
}

static void special_function(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    meaning->op = has(mnemonic, "EX2") ? CODE_OP_EXPONENTIAL : CODE_OP_SPECIAL;
    meaning->elements = has(mnemonic, "PACKED") || has(mnemonic, "F16_V2") || has(mnemonic, "BF16_V2") ? 2 : 1;
}

/* "F2F.F64.F32": to, from. F2I and I2F name only one side if the other is 32 bits wide. FRND has one type. */
static void convert(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    meaning->op = CODE_OP_CONVERT;
    meaning->elements = is(mnemonic, "F2FP") || is(mnemonic, "UF2FP") ? 2 : 1;
    const bool f64 = has(mnemonic, "F64"), wide_integer = has(mnemonic, "S64") || has(mnemonic, "U64");
    bool wide_to = f64, wide_from = f64;
    if (is(mnemonic, "I2F")) {
        wide_from = wide_integer;
    } else if (is(mnemonic, "F2I")) {
        wide_to = wide_integer;
    } else if (is(mnemonic, "F2F")) {
        wide_to = mnemonic->count > 1 && sass_slice_is(mnemonic->parts[1], "F64");
        wide_from = f64 && !wide_to;
    }
    meaning->write_width = wide_to ? 2 : 1;
    meaning->widths[0] = wide_from ? 2 : 1;
}

/* .64 in an instruction that is no access: pairs of registers throughout. */
static void pairs(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    if (has(mnemonic, "64")) {
        set_widths(meaning, 2);
    }
    if (has(mnemonic, "WIDE")) {
        meaning->write_width = 2;
        meaning->widths[2] = 2;
    }
}

/* What the uniform datapath has as well, under the same name with a U in front. */
static void integer_operands(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    pairs(mnemonic, meaning);
    meaning->writes = !sets_predicate(mnemonic);
    meaning->predicates_after = is(mnemonic, "P2R") || is(mnemonic, "UP2UR") ? 0 : 2;
    if (name_ends(mnemonic, "ISETP")) {
        meaning->literal = SASS_LITERAL_RIGHT;
    } else if (name_ends(mnemonic, "IADD3") || name_ends(mnemonic, "IADD") || name_ends(mnemonic, "VIADD") ||
               name_ends(mnemonic, "IADD32I") || name_ends(mnemonic, "LOP3") || name_ends(mnemonic, "SHF") ||
               name_ends(mnemonic, "IMAD")) {
        meaning->literal = SASS_LITERAL_ONE_REGISTER;
    }
}

static void integer(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    meaning->op = CODE_OP_INTEGER;
    integer_operands(mnemonic, meaning);
    if (is(mnemonic, "IMAD") && (has(mnemonic, "MOV") || has(mnemonic, "U32"))) {
        /* IMAD.U32 R4, RZ, RZ, UR5 is a move as well; with factors it stays a product, see sass_listing.c */
        meaning->op = has(mnemonic, "MOV") ? CODE_OP_MOVE : CODE_OP_INTEGER;
        meaning->literal = has(mnemonic, "MOV") ? SASS_LITERAL_ALONE : SASS_LITERAL_ONE_REGISTER;
    }
}

static void uniform(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    meaning->op = CODE_OP_UNIFORM;
    integer_operands(mnemonic, meaning);
}

static void move(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    meaning->op = CODE_OP_MOVE;
    pairs(mnemonic, meaning);
    if (is(mnemonic, "CS2R") || is(mnemonic, "CS2UR")) {
        meaning->write_width = has(mnemonic, "32") ? 1 : 2;
    }
    meaning->predicates_after = is(mnemonic, "B2R") ? 1 : 0;
    meaning->literal =
        name_ends(mnemonic, "MOV") || name_ends(mnemonic, "MOV32I") ? SASS_LITERAL_ALONE : SASS_LITERAL_NONE;
}

static void shuffle(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    (void)mnemonic;
    meaning->op = CODE_OP_SHUFFLE;
    meaning->predicates_before = 1;
}

static void reduce(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    (void)mnemonic;
    meaning->op = CODE_OP_REDUCE;
    meaning->predicates_before = 1;
    meaning->predicates_after = 1;
}

/* --- waiting and control --------------------------------------------------------------------------------------------
 */

/* Scoreboard 0 counts groups of copies; the others are not of copies (seen around allocations of tensor memory). */
static void scoreboard_wait(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    (void)mnemonic;
    meaning->op = CODE_OP_ASYNC_WAIT;
    meaning->writes = false;
    meaning->wants_depth = true;
}

static void mbarrier(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    meaning->op = CODE_OP_MBARRIER;
    meaning->writes = !is(mnemonic, "ARRIVES");
}

/* BAR.ARV waits for nobody. */
static void barrier(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    meaning->op = has(mnemonic, "ARV") ? CODE_OP_OTHER : CODE_OP_BARRIER;
    meaning->writes = false;
    meaning->predicates_before = 0;
}

/* BRA.DIV is taken by a warp whose threads have come apart, into a slow copy of a shuffle or vote: not counted as a
 * way through the code. */
static void branch(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    meaning->op = has(mnemonic, "DIV") ? CODE_OP_OTHER : CODE_OP_BRANCH;
    meaning->writes = false;
    meaning->predicates_before = 0;
    meaning->conditional = has(mnemonic, "CONV") || has(mnemonic, "ANY");
    meaning->widths[0] = sass_slice_starts(mnemonic->parts[0], "BRA") ? 1 : 2;
}

static void call(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    (void)mnemonic;
    meaning->op = CODE_OP_CALL;
    meaning->writes = false;
    meaning->predicates_before = 0;
    meaning->widths[0] = 2;
}

static void leave(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    meaning->op = CODE_OP_EXIT;
    meaning->writes = false;
    meaning->predicates_before = 0;
    meaning->widths[0] = is(mnemonic, "RET") ? 2 : 1;
}

#define WITHOUT_RESULT(function, operation)                                                                            \
    static void function(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)                           \
    {                                                                                                                  \
        (void)mnemonic;                                                                                                \
        meaning->op = CODE_OP_##operation;                                                                             \
        meaning->writes = false;                                                                                       \
        meaning->predicates_before = 0;                                                                                \
    }
WITHOUT_RESULT(fence, FENCE)
WITHOUT_RESULT(async_commit, ASYNC_COMMIT)
WITHOUT_RESULT(nothing, OTHER)
#undef WITHOUT_RESULT

static void other(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    meaning->op = CODE_OP_OTHER;
    meaning->write_width = is(mnemonic, "LEPC") ? 2 : 1;
}

#define READER_ENTRY(name, function) [SASS_KIND_##name] = function,
static void (*const readers[SASS_KIND_COUNT])(const struct sass_mnemonic *mnemonic,
                                              struct sass_meaning *meaning) = {SASS_KIND_LIST(READER_ENTRY)};
#undef READER_ENTRY

void sass_meaning_of(const struct sass_mnemonic *mnemonic, struct sass_meaning *meaning)
{
    memset(meaning, 0, sizeof *meaning);
    set_widths(meaning, 1);
    meaning->op = CODE_OP_OTHER;
    meaning->writes = true;
    meaning->predicates_before = 2;
    enum sass_kind kind;
    if (sass_opcode_find(mnemonic->parts[0], &kind)) {
        meaning->known = true;
        readers[kind](mnemonic, meaning);
    }
}
