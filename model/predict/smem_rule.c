/* SPDX-License-Identifier: GPL-3.0-or-later
 * Shared-memory rules of known compilers: operand buffers, and the scratch through which the result is re-laid out. */
#include "model/predict/smem_rule.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum {
    WARP_THREADS = 32,
    WARP_LANE_BITS = 5,
    VECTOR_BYTES = 16,      /* widest load or store of a thread */
    CP_ASYNC_MIN_BYTES = 4, /* narrowest asynchronous copy of a thread */
    MBARRIER_BYTES = 8,
    MMA_ROWS = 16, /* mma.sync m16n8: rows and columns of one instruction */
    MMA_COLUMNS = 8,
    WARPGROUP_WARPS = 4,
    WGMMA_ROWS = 64,
    ATTENTION_EXACT_ROWS = 16, /* query rows for which the attention rule is exact */
    TILE_DIMENSION_MAX = 1 << 14,
    STAGES_MAX = 64,
    WARPS_MAX = 32
};

/* Largest excess of the compiler over a lower bound, from the rows named in docs/VALIDATION.md. */
enum {
    /* Tiles of 32 to 128 query rows: exchanged probabilities, wgmma's extra tile, scratch of the result. */
    SLACK_ATTENTION_BYTES = 32768,
    /* One-stage tiles whose result scratch exceeds the operands. */
    SLACK_WGMMA_BYTES = 16384,
    /* Barriers and scratch of the one published case. */
    SLACK_WGMMA_MIXED_BYTES = 1212
};

static bool is_power_of_two(uint32_t value)
{
    return value != 0 && (value & (value - 1u)) == 0;
}

static uint32_t log2_of(uint32_t power_of_two)
{
    return (uint32_t)__builtin_ctz(power_of_two);
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint64_t largest(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Bits first..end-1, none if first >= end; end is at most 28. */
static uint32_t bit_range(uint32_t first, uint32_t end)
{
    return first >= end ? 0u : (1u << end) - (1u << first);
}

/* ---- what is checked before any rule ---------------------------------------------------------------------------- */

static enum status check_tile_dimension(const char *what, uint32_t value, uint32_t minimum, struct error *error)
{
    if (value < minimum || value > TILE_DIMENSION_MAX || !is_power_of_two(value))
        return error_set(error, STATUS_DOMAIN, "%s is %u: SMEM rules need a power of two from %u to %d", what, value,
                         minimum, (int)TILE_DIMENSION_MAX);
    return STATUS_OK;
}

static enum status check_element(const char *what, uint32_t bytes, struct error *error)
{
    if (bytes != 1 && bytes != 2 && bytes != 4)
        return error_set(error, STATUS_DOMAIN, "%s is %u: elements have 1, 2 or 4 bytes", what, bytes);
    return STATUS_OK;
}

static enum status check_schedule(const struct smem_rule_input *input, struct error *error)
{
    if (input->num_stages < 1 || input->num_stages > STAGES_MAX)
        return error_set(error, STATUS_DOMAIN, "num_stages is %u: expected 1 to %d", input->num_stages,
                         (int)STAGES_MAX);
    if (!is_power_of_two(input->num_warps) || input->num_warps > WARPS_MAX)
        return error_set(error, STATUS_DOMAIN, "num_warps is %u: expected a power of two up to %d", input->num_warps,
                         (int)WARPS_MAX);
    return STATUS_OK;
}

static enum status check_gemm(const struct smem_rule_input *input, struct error *error)
{
    enum status status = check_tile_dimension("block_m", input->block_m, MMA_ROWS, error);
    if (status == STATUS_OK)
        status = check_tile_dimension("block_n", input->block_n, MMA_COLUMNS, error);
    if (status == STATUS_OK)
        status = check_tile_dimension("block_k", input->block_k, MMA_COLUMNS, error);
    if (status == STATUS_OK)
        status = check_element("element_bytes_a", input->element_bytes_a, error);
    if (status == STATUS_OK)
        status = check_element("element_bytes_b", input->element_bytes_b, error);
    if (status == STATUS_OK)
        status = check_schedule(input, error);
    return status;
}

static struct smem_rule_result no_rule(void)
{
    return (struct smem_rule_result){.quality = SMEM_RULE_UNKNOWN};
}

/* Architectures whose tensor instructions take operands through SMEM as these rules say: mma.sync from Ampere on, and
 * wgmma. cc 10.x and 11.x accumulate in tensor memory, 7.x has other instructions: no rows, no rule. */
static bool has_mma_sync_rule(const struct smem_rule_input *input)
{
    return input->cc_major == 8 || input->cc_major == 12 || (input->cc_major == 9 && input->cc_minor == 0);
}

/* ---- operand buffers ------------------------------------------------------------------------------------------ */

uint32_t triton_buffers(uint32_t cc_major, uint32_t num_stages, bool warpgroup_mma)
{
    /* SMEM-1: the tile in use by mma.sync is freed before the next copy is issued, so S stages keep S - 1 tiles;
     * wgmma reads SMEM asynchronously, its tile stays until the next wait: S tiles. */
    if (warpgroup_mma && cc_major == 9)
        return num_stages > 1 ? num_stages : 1;
    return num_stages > 2 ? num_stages - 1 : 1;
}

static bool uses_wgmma(const struct smem_rule_input *input)
{
    return input->cc_major == 9 && input->block_m >= WGMMA_ROWS && input->num_warps % WARPGROUP_WARPS == 0;
}

/* SMEM-2. An operand of which a thread copies less than the narrowest cp.async is loaded through registers: one tile.
 */
static uint64_t operand_bytes(uint32_t rows, uint32_t columns, uint32_t element_bytes, uint32_t num_warps,
                              uint32_t buffers)
{
    uint64_t tile_bytes = (uint64_t)rows * columns * element_bytes;
    uint64_t per_thread = tile_bytes / ((uint64_t)WARP_THREADS * num_warps);
    per_thread = per_thread > VECTOR_BYTES ? VECTOR_BYTES : per_thread;
    per_thread = largest(per_thread, element_bytes);
    return per_thread < CP_ASYNC_MIN_BYTES ? tile_bytes : buffers * tile_bytes;
}

static uint64_t tile_pair_bytes(const struct smem_rule_input *input)
{
    return (uint64_t)input->block_m * input->block_k * input->element_bytes_a +
           (uint64_t)input->block_k * input->block_n * input->element_bytes_b;
}

/* ---- scratch of the result (SMEM-4) ----------------------------------------------------------------------------
 *
 * The accumulator lies in the registers of the tensor instruction; a coalesced store wants rows of 16 bytes per thread.
 * The tile goes through SMEM. An index bit of the tile that selects a register in both layouts need not be in SMEM at
 * the same time as its other value: each such bit halves the scratch. Bits are named by masks over rows and columns. */
struct tile_layout {
    uint32_t register_rows, register_columns; /* index bits held by registers of one thread */
    uint32_t lane_rows, lane_columns;         /* the store's lanes; columns first, then rows */
    uint32_t vector_bits;                     /* log2 of the elements of one access */
};

/* SMEM-3. How Triton 3.6 deals warps over the tile of a single product with mma.sync: M while the tile has at least as
 * many 16-row steps per warp as 8-column steps, else N. */
static void deal_warps_mma_sync(const struct smem_rule_input *input, uint32_t *warps_m, uint32_t *warps_n)
{
    *warps_m = *warps_n = 1;
    while (*warps_m * *warps_n < input->num_warps) {
        uint32_t steps_m = input->block_m / MMA_ROWS / *warps_m, steps_n = input->block_n / MMA_COLUMNS / *warps_n;
        if (steps_m >= steps_n && *warps_m < input->block_m / MMA_ROWS)
            *warps_m *= 2;
        else
            *warps_n *= 2;
    }
}

/* wgmma: four warps stand below each other; more of them go along M while rows last, then along N. */
static void deal_warps_wgmma(const struct smem_rule_input *input, uint32_t *warps_m, uint32_t *warps_n)
{
    *warps_m = WARPGROUP_WARPS;
    *warps_n = 1;
    while (*warps_m * *warps_n < input->num_warps) {
        if (*warps_m * MMA_ROWS < input->block_m)
            *warps_m *= 2;
        else
            *warps_n *= 2;
    }
}

/* In a 16 x 8 accumulator a thread holds column bit 0 and row bit 3; lanes hold the rest. Above it come the warps (of
 * mma.sync in both directions, of wgmma along N on top of the instruction's columns), then registers again. */
static struct tile_layout accumulator_layout(const struct smem_rule_input *input, bool wgmma)
{
    uint32_t rows = log2_of(input->block_m), columns = log2_of(input->block_n), warps_m, warps_n;
    if (wgmma)
        deal_warps_wgmma(input, &warps_m, &warps_n);
    else
        deal_warps_mma_sync(input, &warps_m, &warps_n);
    uint32_t bits_m = log2_of(warps_m), bits_n = log2_of(warps_n);
    struct tile_layout layout = {0};
    layout.register_rows = bit_range(3, 4) | bit_range(4 + bits_m, rows);
    layout.register_columns =
        bit_range(0, 1) | (wgmma ? bit_range(3, columns - least(columns, bits_n)) : bit_range(3 + bits_n, columns));
    return layout;
}

/* The coalesced store: 16 bytes per thread along N (fewer when the tile has not as many for each thread), then lanes,
 * then warps along N while columns last, the rest along M. */
static struct tile_layout store_layout(const struct smem_rule_input *input)
{
    uint32_t rows = log2_of(input->block_m), columns = log2_of(input->block_n), warps = log2_of(input->num_warps);
    uint32_t thread_bits = WARP_LANE_BITS + warps;
    uint32_t per_thread = rows + columns > thread_bits ? rows + columns - thread_bits : 0;
    uint32_t vector = least(least(log2_of(VECTOR_BYTES / input->element_bytes_out), per_thread), columns);
    uint32_t lanes_n = least(WARP_LANE_BITS, columns - vector), lanes_m = WARP_LANE_BITS - lanes_n;
    uint32_t warps_n = least(warps, columns - vector - lanes_n);
    struct tile_layout layout = {.vector_bits = vector};
    layout.register_columns = bit_range(0, vector) | bit_range(vector + lanes_n + warps_n, columns);
    layout.register_rows = bit_range(lanes_m + warps - warps_n, rows);
    layout.lane_columns = bit_range(vector, vector + lanes_n);
    layout.lane_rows = bit_range(0, lanes_m);
    return layout;
}

/* Are lane bits first..end-1 of the store (columns ascending, then rows) registers of the accumulator? */
static bool lanes_are_registers(const struct tile_layout *store, const struct tile_layout *accumulator, uint32_t first,
                                uint32_t end)
{
    uint32_t lanes_n = (uint32_t)__builtin_popcount(store->lane_columns);
    for (uint32_t lane = first; lane < end; lane++) {
        uint32_t held = lane < lanes_n ? accumulator->register_columns >> (store->vector_bits + lane)
                                       : accumulator->register_rows >> (lane - lanes_n);
        if ((held & 1u) == 0)
            return false;
    }
    return true;
}

/* Does the conversion go by the matrix instructions? stmatrix (cc >= 9.0) needs three column bits in the store's
 * registers; ldmatrix needs the lanes that share a matrix row (or, transposed, a column) in the accumulator's. */
static bool converts_by_matrix(const struct smem_rule_input *input, const struct tile_layout *accumulator,
                               const struct tile_layout *store)
{
    if (input->element_bytes_out != 2 || store->vector_bits == 0)
        return false;
    if (input->cc_major >= 9 && store->vector_bits == 3)
        return true;
    return lanes_are_registers(store, accumulator, 0, 2) || lanes_are_registers(store, accumulator, 2, 5);
}

static uint64_t result_scratch_bytes(const struct smem_rule_input *input, bool wgmma)
{
    struct tile_layout accumulator = accumulator_layout(input, wgmma), store = store_layout(input);
    uint32_t common_columns = accumulator.register_columns & store.register_columns;
    uint32_t common_rows = accumulator.register_rows & store.register_rows;
    bool pair = (common_columns & 1u) != 0; /* two neighbours stay together in any access: never a repetition */
    uint32_t repetitions =
        (uint32_t)__builtin_popcount(common_rows) + (uint32_t)__builtin_popcount(common_columns & ~1u);
    if (!converts_by_matrix(input, &accumulator, &store)) {
        /* Plain stores fill their 16 bytes with common registers first. */
        uint32_t filled = log2_of(VECTOR_BYTES / input->element_bytes_out) - (pair ? 1u : 0u);
        repetitions = repetitions > filled ? repetitions - filled : 0;
    }
    return ((uint64_t)input->block_m * input->block_n * input->element_bytes_out) >> repetitions;
}

/* ---- the rules ------------------------------------------------------------------------------------------------ */

/* fp8 products exist in mma.sync from cc 8.9 on but not on 9.0; without one the operands are widened first and, with
 * one stage, are not in SMEM together. (int8 has an instruction everywhere, so there this is a lower bound.) */
static bool widens_bytes(const struct smem_rule_input *input, bool wgmma)
{
    if (input->element_bytes_a != 1 || wgmma)
        return false;
    return input->cc_major == 9 || (input->cc_major == 8 && input->cc_minor < 9);
}

/* SMEM-5: the larger of the operand buffers and the result's scratch, which are not live together. */
static enum status triton_gemm(const struct smem_rule_input *input, struct smem_rule_result *result,
                               struct error *error)
{
    enum status status = check_gemm(input, error);
    if (status == STATUS_OK)
        status = check_element("element_bytes_out", input->element_bytes_out, error);
    if (status != STATUS_OK)
        return status;
    if (input->element_bytes_a != input->element_bytes_b)
        return error_set(error, STATUS_DOMAIN, "operands of %u and %u bytes: triton-gemm needs equal widths",
                         input->element_bytes_a, input->element_bytes_b);
    if (!has_mma_sync_rule(input))
        return STATUS_OK; /* *result says that there is no rule */
    bool wgmma = uses_wgmma(input);
    uint32_t buffers = triton_buffers(input->cc_major, input->num_stages, wgmma);
    uint64_t a = operand_bytes(input->block_m, input->block_k, input->element_bytes_a, input->num_warps, buffers);
    uint64_t b = operand_bytes(input->block_k, input->block_n, input->element_bytes_b, input->num_warps, buffers);
    result->buffers = buffers;
    result->quality = SMEM_RULE_EXACT;
    result->smem_bytes = a + b;
    if (widens_bytes(input, wgmma) && input->num_stages == 1) {
        result->quality = SMEM_RULE_LOWER_BOUND;
        result->smem_bytes = largest(a, b);
        result->slack_bytes = a + b - largest(a, b);
    }
    uint64_t tile = (uint64_t)input->block_m * input->block_n * input->element_bytes_out;
    if (input->element_bytes_out == 1) { /* no rows with 1-byte results: all that is certain is the whole tile */
        result->quality = SMEM_RULE_LOWER_BOUND;
        result->slack_bytes += tile > result->smem_bytes ? tile - result->smem_bytes : 0;
    } else {
        result->smem_bytes = largest(result->smem_bytes, result_scratch_bytes(input, wgmma));
    }
    return STATUS_OK;
}

/* SMEM-6: queries, keys and values, and the probabilities when they change warps between the two products. */
static enum status triton_attention(const struct smem_rule_input *input, struct smem_rule_result *result,
                                    struct error *error)
{
    enum status status = check_tile_dimension("block_m", input->block_m, MMA_ROWS, error);
    if (status == STATUS_OK)
        status = check_tile_dimension("block_n", input->block_n, MMA_ROWS, error);
    if (status == STATUS_OK)
        status = check_tile_dimension("head_dim", input->head_dim, MMA_ROWS, error);
    if (status == STATUS_OK)
        status = check_element("element_bytes_a", input->element_bytes_a, error);
    if (status == STATUS_OK)
        status = check_schedule(input, error);
    if (status != STATUS_OK)
        return status;
    if (!has_mma_sync_rule(input))
        return STATUS_OK;
    uint64_t bytes = input->element_bytes_a;
    uint64_t queries = (uint64_t)input->block_m * input->head_dim * bytes;
    uint64_t one_tile = (uint64_t)input->block_n * input->head_dim * bytes;
    bool exact =
        input->block_m == ATTENTION_EXACT_ROWS && bytes == 2 && (input->head_dim == 64 || input->head_dim == 128);
    result->buffers = triton_buffers(input->cc_major, input->num_stages, false);
    /* With one stage K is dead before V is loaded. */
    result->smem_bytes = queries + (input->num_stages == 1 ? one_tile : 2u * result->buffers * one_tile);
    if (exact) {
        result->quality = SMEM_RULE_EXACT;
        /* 16 rows are one instruction high, so more than one warp means warps along N in the first product. */
        if (input->num_warps > 1)
            result->smem_bytes += (uint64_t)input->block_m * input->block_n * bytes;
    } else {
        result->quality = SMEM_RULE_LOWER_BOUND;
        result->slack_bytes = SLACK_ATTENTION_BYTES;
    }
    return STATUS_OK;
}

/* SMEM-7: Triton 2.0 on cc 8.0 kept S tiles. */
static enum status triton20_gemm(const struct smem_rule_input *input, struct smem_rule_result *result,
                                 struct error *error)
{
    enum status status = check_gemm(input, error);
    if (status != STATUS_OK || input->cc_major != 8 || input->cc_minor != 0)
        return status;
    result->quality = SMEM_RULE_LOWER_BOUND;
    result->buffers = input->num_stages;
    result->smem_bytes = input->num_stages * tile_pair_bytes(input);
    return STATUS_OK;
}

/* SMEM-8: S tiles; a B operand narrower than A is widened into a copy of its own, since wgmma reads B from SMEM. */
static enum status hopper_wgmma_gemm(const struct smem_rule_input *input, struct smem_rule_result *result,
                                     struct error *error)
{
    enum status status = check_gemm(input, error);
    if (status != STATUS_OK)
        return status;
    if (input->cc_major != 9 || input->cc_minor != 0)
        return STATUS_OK;
    if (input->block_m < WGMMA_ROWS)
        return error_set(error, STATUS_DOMAIN, "block_m is %u: wgmma needs %d rows", input->block_m, (int)WGMMA_ROWS);
    result->quality = SMEM_RULE_LOWER_BOUND;
    result->slack_bytes = SLACK_WGMMA_BYTES;
    result->buffers = input->num_stages;
    result->smem_bytes = input->num_stages * tile_pair_bytes(input);
    if (input->element_bytes_b < input->element_bytes_a) {
        result->smem_bytes += (uint64_t)input->block_k * input->block_n * input->element_bytes_a;
        result->slack_bytes = SLACK_WGMMA_MIXED_BYTES;
    }
    return STATUS_OK;
}

/* SMEM-9: the persistent kernel stages its result apart, because the next tile's loads are already under way. */
static enum status hopper_wgmma_persistent(const struct smem_rule_input *input, struct smem_rule_result *result,
                                           struct error *error)
{
    enum status status = check_element("element_bytes_out", input->element_bytes_out, error);
    if (status == STATUS_OK)
        status = hopper_wgmma_gemm(input, result, error);
    if (status != STATUS_OK || result->quality == SMEM_RULE_UNKNOWN)
        return status;
    result->slack_bytes = 0; /* no rows */
    result->smem_bytes += (uint64_t)input->block_m * input->block_n * input->element_bytes_out +
                          (uint64_t)MBARRIER_BYTES * input->num_stages;
    return STATUS_OK;
}

static const struct {
    const char *name, *summary;
    enum status (*apply)(const struct smem_rule_input *, struct smem_rule_result *, struct error *);
} RULES[] = {
    {"triton-gemm", "Triton 3.x matrix product: max(1, S - 1) tiles (S with wgmma), or the result's scratch",
     triton_gemm},
    {"triton-attention", "Triton 3.x attention: queries, K and V buffers, exchanged probabilities", triton_attention},
    {"triton20-gemm", "Triton 2.0 matrix product on cc 8.0: S tiles", triton20_gemm},
    {"hopper-wgmma-gemm", "matrix product by wgmma on cc 9.0: S tiles, and the widened B operand", hopper_wgmma_gemm},
    {"hopper-wgmma-persistent", "the same, persistent with TMA: S tiles, the staged result, mbarriers",
     hopper_wgmma_persistent},
};
enum {
    RULE_COUNT = sizeof RULES / sizeof RULES[0]
};

const char *smem_rule_name(unsigned index)
{
    return index < RULE_COUNT ? RULES[index].name : NULL;
}

const char *smem_rule_summary(unsigned index)
{
    return index < RULE_COUNT ? RULES[index].summary : NULL;
}

enum status smem_rule_apply(const char *name, const struct smem_rule_input *input, struct smem_rule_result *result,
                            struct error *error)
{
    for (unsigned i = 0; i < RULE_COUNT; i++)
        if (strcmp(name, RULES[i].name) == 0) {
            *result = no_rule();
            return RULES[i].apply(input, result, error);
        }
    return error_set(error, STATUS_NOT_FOUND,
                     "no SMEM rule \"%s\"; there are triton-gemm, triton-attention, triton20-gemm, hopper-wgmma-gemm "
                     "and hopper-wgmma-persistent",
                     name);
}

/* ---- small questions beside ------------------------------------------------------------------------------------ */

/* SMEM-11. */
uint64_t accumulator_registers_per_thread(uint32_t block_m, uint32_t block_n, uint32_t accumulator_bytes,
                                          uint32_t threads)
{
    enum {
        REGISTER_BYTES = 4
    };
    if (threads == 0)
        BUG("no threads");
    uint64_t per_register = (uint64_t)REGISTER_BYTES * threads;
    return ((uint64_t)block_m * block_n * accumulator_bytes + per_register - 1u) / per_register;
}

/* SMEM-10 */
bool pipeline_can_fill(double iterations, double num_stages)
{
    return num_stages <= ceil(iterations) + 1;
}
