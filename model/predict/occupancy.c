/* SPDX-License-Identifier: GPL-3.0-or-later
 * Resident CTAs per SM: the full answer with every limiter, and the hot path with the count alone. Pure arithmetic. */
#include "model/predict/occupancy.h"

#include "base/status.h"

enum {
    WARP_THREADS = 32,
    BYTES_PER_KIB = 1024,
    PERCENT = 100
};

const char *occupancy_limiter_name(unsigned bit)
{
    static const char *const names[OCCUPANCY_LIMITER_KINDS] = {"warps", "ctas",     "registers",
                                                               "smem",  "barriers", "cluster"};
    if (bit >= OCCUPANCY_LIMITER_KINDS)
        BUG("occupancy limiter bit %u of %d", bit, (int)OCCUPANCY_LIMITER_KINDS);
    return names[bit];
}

const char *launch_fault_text(enum launch_fault fault)
{
    switch (fault) {
    case LAUNCH_FAULT_NONE:
        return "the launch is possible";
    case LAUNCH_FAULT_THREADS:
        return "the CTA has no thread or more threads than the device allows";
    case LAUNCH_FAULT_REGISTERS_PER_THREAD:
        return "more registers per thread than the device allows";
    case LAUNCH_FAULT_REGISTERS_PER_CTA:
        return "the registers of one CTA, its warps rounded up to whole rounds over the sub-cores, exceed the limit";
    case LAUNCH_FAULT_SMEM_PER_CTA:
        return "static + dynamic SMEM exceeds the opt-in limit of one CTA";
    case LAUNCH_FAULT_BARRIERS:
        return "one CTA needs more named barriers than there are";
    case LAUNCH_FAULT_CLUSTER:
        return "the cluster is empty, or larger than the device allows";
    case LAUNCH_FAULT_GRID:
        return "the grid is not a multiple of the cluster";
    }
    BUG("launch fault %d", (int)fault);
}

/* ---- parts shared by both paths ------------------------------------------------------------------------------- */

/* Units are powers of two on every device known; the division is there for the ones a user may invent. */
static inline uint64_t round_up(uint64_t value, uint32_t unit)
{
    if ((unit & (unit - 1u)) == 0)
        return (value + unit - 1u) & ~(uint64_t)(unit - 1u);
    return (value + unit - 1u) / unit * unit;
}

static inline uint32_t count_warps(uint32_t threads)
{
    return threads / WARP_THREADS + (threads % WARP_THREADS != 0);
}

/* OCC-2. The smallest listed size of at least `bytes`; all of the SM's SMEM where none is listed. */
static uint64_t carveout_at_least(const struct gpu_limits *limits, uint64_t bytes)
{
    for (uint32_t i = 0; i < limits->carveout_count; i++) {
        uint64_t size = (uint64_t)limits->carveout_kib[i] * BYTES_PER_KIB;
        if (size >= bytes)
            return size;
    }
    return limits->smem_per_sm_bytes;
}

/* OCC-2. The size asked for, before a CTA that does not fit raises it. The percent is truncated to whole bytes first,
 * as cuda_occupancy.h does: 61 % of 100 KiB is not the 64 KiB step plus a fraction. */
static uint64_t carveout_preferred(const struct gpu_limits *limits, int32_t percent)
{
    if (percent < 0 || percent > PERCENT)
        BUG("carve-out of %d %%: 0..100 or CARVEOUT_DEFAULT was checked at input", (int)percent);
    return carveout_at_least(limits, (uint64_t)limits->smem_per_sm_bytes * (uint32_t)percent / PERCENT);
}

/* OCC-2. Carve-out in effect for CTAs of `allocated` bytes. */
static inline uint64_t carveout_in_effect(const struct gpu_limits *limits, int32_t percent, uint64_t allocated)
{
    if (percent == CARVEOUT_DEFAULT)
        return limits->smem_per_sm_bytes;
    uint64_t preferred = carveout_preferred(limits, percent);
    return preferred >= allocated ? preferred : carveout_at_least(limits, allocated);
}

/* OCC-3. Warps that the register files of all sub-cores hold; registers_per_warp is rounded up and not 0. */
static inline uint32_t warps_by_registers(const struct gpu_limits *limits, uint32_t registers_per_warp)
{
    if (limits->sub_cores_per_sm == 4) /* every device known; a shift instead of a division */
        return 4u * (limits->registers_per_sm / 4u / registers_per_warp);
    return limits->sub_cores_per_sm * (limits->registers_per_sm / limits->sub_cores_per_sm / registers_per_warp);
}

static inline bool cluster_is_legal(const struct gpu_limits *limits, uint32_t cluster_ctas)
{
    if (cluster_ctas == 1)
        return true;
    uint32_t largest =
        limits->max_cluster > limits->max_cluster_portable ? limits->max_cluster : limits->max_cluster_portable;
    return cluster_ctas != 0 && cluster_ctas <= largest;
}

/* ---- the hot path --------------------------------------------------------------------------------------------- */

uint32_t occupancy_ctas_per_sm(const struct gpu_limits *limits, const struct kernel_launch *launch)
{
    uint32_t threads = launch->threads, registers = launch->registers_per_thread;
    uint64_t smem = launch->static_smem_bytes + launch->dynamic_smem_bytes;
    /* The dynamic part is compared alone as well: the sum may wrap. */
    if (threads - 1u >= limits->max_threads_per_cta || registers > limits->max_registers_per_thread ||
        launch->dynamic_smem_bytes > limits->smem_per_cta_optin_bytes || smem > limits->smem_per_cta_optin_bytes)
        return 0;
    if (launch->barriers > NAMED_BARRIERS_PER_CTA_MAX)
        return 0;
    if (launch->cluster_ctas != 1 &&
        (!cluster_is_legal(limits, launch->cluster_ctas) || launch->grid_ctas % launch->cluster_ctas != 0))
        return 0;

    uint32_t warps = count_warps(threads), warps_per_sm = limits->max_warps_per_sm;
    if (registers != 0) {
        uint32_t per_warp = (uint32_t)round_up(registers * (uint64_t)WARP_THREADS, limits->register_allocation_unit);
        if (per_warp * round_up(warps, limits->warp_allocation_granularity) > limits->max_registers_per_cta)
            return 0;
        uint32_t fitting = warps_by_registers(limits, per_warp);
        warps_per_sm = fitting < warps_per_sm ? fitting : warps_per_sm;
    }
    uint32_t ctas = warps_per_sm / warps; /* floor(min(a, b) / w) is the lesser of the two floors: one division */
    ctas = ctas < limits->max_ctas_per_sm ? ctas : limits->max_ctas_per_sm;

    uint32_t allocated =
        (uint32_t)round_up(smem + limits->smem_reserved_per_cta_bytes, limits->smem_allocation_unit_bytes);
    if (allocated != 0) {
        uint64_t carveout = carveout_in_effect(limits, launch->carveout_percent, allocated);
        /* Dividing always is faster than asking first: the answer of a branch here is not predictable. */
        uint32_t by_smem = (uint32_t)carveout / allocated;
        ctas = by_smem < ctas ? by_smem : ctas;
    }
    if (limits->named_barriers_per_sm != 0 && (uint64_t)launch->barriers * ctas > limits->named_barriers_per_sm)
        ctas = limits->named_barriers_per_sm / launch->barriers;
    if (launch->cluster_ctas != 1 && limits->max_clustered_ctas_per_sm && ctas > limits->max_clustered_ctas_per_sm)
        ctas = limits->max_clustered_ctas_per_sm;
    return ctas;
}

/* ---- the full answer ------------------------------------------------------------------------------------------ */

static void check_limits(const struct gpu_limits *limits)
{
    if (limits->sub_cores_per_sm == 0 || limits->register_allocation_unit == 0 ||
        limits->smem_allocation_unit_bytes == 0 || limits->warp_allocation_granularity == 0 ||
        limits->max_warps_per_sm == 0)
        BUG("limits of cc %u.%u are not filled in", limits->cc_major, limits->cc_minor);
}

static int32_t limit_from(uint64_t count)
{
    return count >= OCCUPANCY_NO_LIMIT ? OCCUPANCY_NO_LIMIT : (int32_t)count;
}

static uint64_t saturating_add(uint64_t a, uint64_t b)
{
    return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

/* Keeps the first fault in the order of enum launch_fault. */
static void raise_fault(struct occupancy *result, enum launch_fault fault)
{
    if (result->fault == LAUNCH_FAULT_NONE)
        result->fault = fault;
}

/* OCC-1. */
static void limit_by_warps(const struct gpu_limits *limits, const struct kernel_launch *launch,
                           struct occupancy *result)
{
    result->warps_per_cta = count_warps(launch->threads);
    if (launch->threads == 0 || launch->threads > limits->max_threads_per_cta) {
        raise_fault(result, LAUNCH_FAULT_THREADS);
        result->limit_warps = 0;
        return;
    }
    result->limit_warps = limit_from(limits->max_warps_per_sm / result->warps_per_cta);
}

/* OCC-3 and OCC-4. */
static void limit_by_registers(const struct gpu_limits *limits, const struct kernel_launch *launch,
                               struct occupancy *result)
{
    uint64_t per_warp =
        round_up((uint64_t)launch->registers_per_thread * WARP_THREADS, limits->register_allocation_unit);
    result->registers_allocated_per_warp = per_warp > UINT32_MAX ? UINT32_MAX : (uint32_t)per_warp;
    result->registers_allocated_per_cta = per_warp * result->warps_per_cta;
    result->limit_registers = 0;
    if (launch->registers_per_thread > limits->max_registers_per_thread) {
        raise_fault(result, LAUNCH_FAULT_REGISTERS_PER_THREAD);
        return;
    }
    if (per_warp * round_up(result->warps_per_cta, limits->warp_allocation_granularity) >
        limits->max_registers_per_cta) {
        raise_fault(result, LAUNCH_FAULT_REGISTERS_PER_CTA);
        return;
    }
    if (per_warp == 0 || result->warps_per_cta == 0)
        result->limit_registers = OCCUPANCY_NO_LIMIT;
    else
        result->limit_registers = limit_from(warps_by_registers(limits, (uint32_t)per_warp) / result->warps_per_cta);
}

/* OCC-2 and OCC-5. */
static void limit_by_smem(const struct gpu_limits *limits, const struct kernel_launch *launch, struct occupancy *result)
{
    uint64_t requested = saturating_add(launch->static_smem_bytes, launch->dynamic_smem_bytes);
    uint64_t limit = limits->smem_per_cta_optin_bytes;
    result->smem_requested_bytes = requested;
    if (requested > limit) {
        uint64_t excess = requested - limit;
        result->smem_over_limit_bytes = excess > INT64_MAX ? INT64_MAX : (int64_t)excess;
        /* What it would take; nothing is allocated. Rounding a value next to 2^64 would wrap. */
        uint64_t reserve_and_unit = (uint64_t)limits->smem_reserved_per_cta_bytes + limits->smem_allocation_unit_bytes;
        result->smem_allocated_bytes =
            requested > UINT64_MAX - reserve_and_unit
                ? UINT64_MAX
                : round_up(requested + limits->smem_reserved_per_cta_bytes, limits->smem_allocation_unit_bytes);
        result->smem_per_sm_bytes = carveout_in_effect(limits, launch->carveout_percent, 0);
        result->limit_smem = 0;
        raise_fault(result, LAUNCH_FAULT_SMEM_PER_CTA);
        return;
    }
    result->smem_over_limit_bytes = -(int64_t)(limit - requested);
    result->smem_allocated_bytes =
        round_up(requested + limits->smem_reserved_per_cta_bytes, limits->smem_allocation_unit_bytes);
    result->smem_per_sm_bytes = carveout_in_effect(limits, launch->carveout_percent, result->smem_allocated_bytes);
    result->limit_smem = result->smem_allocated_bytes == 0
                             ? OCCUPANCY_NO_LIMIT
                             : limit_from(result->smem_per_sm_bytes / result->smem_allocated_bytes);
}

/* OCC-6. */
static void limit_by_barriers(const struct gpu_limits *limits, const struct kernel_launch *launch,
                              struct occupancy *result)
{
    result->limit_barriers = OCCUPANCY_NO_LIMIT;
    if (launch->barriers > NAMED_BARRIERS_PER_CTA_MAX) {
        result->limit_barriers = 0;
        raise_fault(result, LAUNCH_FAULT_BARRIERS);
        return;
    }
    if (limits->named_barriers_per_sm == 0 || launch->barriers == 0)
        return;
    result->limit_barriers = limit_from(limits->named_barriers_per_sm / launch->barriers);
    if (result->limit_barriers == 0)
        raise_fault(result, LAUNCH_FAULT_BARRIERS);
}

/* OCC-7. A cluster is placed as a whole inside a GPC. How many SMs each GPC of a product has is not public, so a legal
 * cluster gives no figure by its size; an illegal one does not run, and an SM of cc 9.0 was seen to hold no more than 8
 * clustered CTAs. */
static void limit_by_cluster(const struct gpu_limits *limits, const struct kernel_launch *launch,
                             struct occupancy *result)
{
    result->limit_cluster = OCCUPANCY_NO_LIMIT;
    if (launch->cluster_ctas == 1)
        return;
    if (!cluster_is_legal(limits, launch->cluster_ctas)) {
        result->limit_cluster = 0;
        raise_fault(result, LAUNCH_FAULT_CLUSTER);
    } else if (launch->grid_ctas % launch->cluster_ctas != 0) {
        result->limit_cluster = 0;
        raise_fault(result, LAUNCH_FAULT_GRID);
    } else if (limits->max_clustered_ctas_per_sm) {
        result->limit_cluster = limit_from(limits->max_clustered_ctas_per_sm);
    }
}

/* OCC-8. The least limit, and who sets it. */
static void take_least_limit(const struct gpu_limits *limits, struct occupancy *result)
{
    const int32_t all[OCCUPANCY_LIMITER_KINDS] = {result->limit_warps, result->limit_ctas,     result->limit_registers,
                                                  result->limit_smem,  result->limit_barriers, result->limit_cluster};
    int32_t least = all[0];
    for (unsigned bit = 1; bit < OCCUPANCY_LIMITER_KINDS; bit++)
        least = all[bit] < least ? all[bit] : least;
    result->limiters = 0;
    for (unsigned bit = 0; bit < OCCUPANCY_LIMITER_KINDS; bit++)
        if (all[bit] == least)
            result->limiters |= 1u << bit;
    result->ctas_per_sm = (uint32_t)least;
    result->warps_per_sm = result->ctas_per_sm * result->warps_per_cta;
    result->occupancy_fraction = (double)result->warps_per_sm / (double)limits->max_warps_per_sm;
}

/* ---- distance to one more CTA (OCC-9) ------------------------------------------------------------------------- */

/* Largest registers per thread whose register limit is at least `target`; -1 if there is none. */
static int32_t registers_for(const struct gpu_limits *limits, uint32_t warps_per_cta, uint32_t target)
{
    uint32_t per_sub_core = limits->registers_per_sm / limits->sub_cores_per_sm;
    uint64_t warps = (uint64_t)warps_per_cta * target;
    uint32_t unit = limits->register_allocation_unit;
    uint64_t per_warp = (uint64_t)limits->max_registers_per_thread * WARP_THREADS;
    if (warps != 0) {
        uint64_t warps_per_sub_core = (warps + limits->sub_cores_per_sm - 1u) / limits->sub_cores_per_sm;
        uint64_t by_file = per_sub_core / warps_per_sub_core / unit * unit;
        uint64_t launch_warps = round_up(warps_per_cta, limits->warp_allocation_granularity);
        uint64_t by_launch = limits->max_registers_per_cta / launch_warps / unit * unit;
        per_warp = by_file < per_warp ? by_file : per_warp;
        per_warp = by_launch < per_warp ? by_launch : per_warp;
    }
    return per_warp == 0 ? -1 : (int32_t)(per_warp / WARP_THREADS);
}

/* Largest static + dynamic SMEM whose SMEM limit is at least `target`; -1 if there is none. The carve-out follows the
 * size of the CTA, so every listed size that can come into effect is tried with the CTAs it would be in effect for. */
static int64_t smem_for(const struct gpu_limits *limits, int32_t carveout_percent, uint32_t target)
{
    uint32_t unit = limits->smem_allocation_unit_bytes, reserve = limits->smem_reserved_per_cta_bytes;
    uint64_t largest_allocation = round_up((uint64_t)limits->smem_per_cta_optin_bytes + reserve, unit);
    uint64_t carveout = carveout_in_effect(limits, carveout_percent, round_up(reserve, unit));
    uint64_t smallest = 0; /* allocations below this one are in effect with a smaller carve-out */
    int64_t best = -1;
    for (;;) {
        uint64_t allocation = carveout / target / unit * unit;
        if (allocation > largest_allocation)
            allocation = largest_allocation;
        if (allocation >= reserve && allocation >= smallest) {
            uint64_t request = allocation - reserve;
            best = request < limits->smem_per_cta_optin_bytes ? (int64_t)request
                                                              : (int64_t)limits->smem_per_cta_optin_bytes;
        }
        smallest = carveout + 1;
        uint64_t next = carveout_at_least(limits, smallest);
        if (next <= carveout)
            return best;
        carveout = next;
    }
}

/* Largest number of threads for which warp slots, the register file and the launch check, all of which follow the
 * threads, admit `target` CTAs with the registers per thread as they are; -1 if there is none. */
static int32_t threads_for(const struct gpu_limits *limits, const struct occupancy *result, uint32_t target)
{
    uint32_t warps = limits->max_warps_per_sm / target;
    uint32_t per_warp = result->registers_allocated_per_warp;
    if (per_warp != 0) {
        uint32_t by_file = warps_by_registers(limits, per_warp) / target;
        uint32_t granularity = limits->warp_allocation_granularity;
        uint32_t by_launch = limits->max_registers_per_cta / per_warp / granularity * granularity;
        warps = by_file < warps ? by_file : warps;
        warps = by_launch < warps ? by_launch : warps;
    }
    uint64_t threads = (uint64_t)warps * WARP_THREADS;
    if (threads > limits->max_threads_per_cta)
        threads = limits->max_threads_per_cta;
    return threads == 0 ? -1 : (int32_t)threads;
}

void occupancy_compute(const struct gpu_limits *limits, const struct kernel_launch *launch, struct occupancy *result)
{
    check_limits(limits);
    *result = (struct occupancy){.fault = LAUNCH_FAULT_NONE};
    limit_by_warps(limits, launch, result);
    result->limit_ctas = limit_from(limits->max_ctas_per_sm);
    limit_by_registers(limits, launch, result);
    limit_by_smem(limits, launch, result);
    limit_by_barriers(limits, launch, result);
    limit_by_cluster(limits, launch, result);
    take_least_limit(limits, result);

    uint32_t target = result->ctas_per_sm + 1u;
    result->next_cta_registers_per_thread = registers_for(limits, result->warps_per_cta, target);
    result->next_cta_smem_bytes = smem_for(limits, launch->carveout_percent, target);
    bool registers_illegal = launch->registers_per_thread > limits->max_registers_per_thread;
    result->next_cta_threads = registers_illegal ? -1 : threads_for(limits, result, target);
}
