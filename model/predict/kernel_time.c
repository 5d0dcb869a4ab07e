/* SPDX-License-Identifier: GPL-3.0-or-later
 * Kernel time: one CTA's chain, what its SM can sustain, rounds, what the device can sustain (docs/MODEL.md section 4).
 * This is the hot path of every sweep: no allocation, no I/O, few divisions. */
#include "model/predict/kernel_time.h"

#include <math.h>
#include <string.h>

#include "model/predict/kernel_time_private.h"

const char *time_limiter_name(enum time_limiter limiter)
{
    static const char *const names[TIME_LIMITER_COUNT] = {"launch", "memory_latency", "dependency",   "tensor", "issue",
                                                          "smem",   "sm_bandwidth",   "l2_bandwidth", "dram"};
    return (unsigned)limiter < TIME_LIMITER_COUNT ? names[limiter] : "unknown";
}

/* x^p and x^(1/p). The default exponents are small whole numbers, where roots are several times faster than
 * pow(). */
static inline double raise(double x, double p)
{
    if (p == 4 || p == 8) {
        const double fourth = x * x * (x * x);
        return p == 4 ? fourth : fourth * fourth;
    }
    return p == 3 ? x * x * x : p == 2 ? x * x : p == 1 ? x : pow(x, p);
}

static inline double root(double x, double p)
{
    if (p == 4 || p == 8) {
        const double fourth = sqrt(sqrt(x));
        return p == 4 ? fourth : sqrt(fourth);
    }
    return p == 3 ? cbrt(x) : p == 2 ? sqrt(x) : p == 1 ? x : pow(x, 1 / p);
}

static inline double power_at(struct power_book *book, double x, double p, bool is_root)
{
    if (!book) {
        return is_root ? root(x, p) : raise(x, p);
    }
    struct power_site *site = &book->sites[book->next++];
    const double exponent = is_root ? -p : p;
    if (book->closed && site->x == x && site->exponent == exponent) {
        return site->value;
    }
    const double value = is_root ? root(x, p) : raise(x, p);
    if (!book->closed) {
        *site = (struct power_site){x, exponent, value};
    }
    return value;
}

static inline double raise_at(struct power_book *book, double x, double p)
{
    return power_at(book, x, p, false);
}

static inline double root_at(struct power_book *book, double x, double p)
{
    return power_at(book, x, p, true);
}

/* What one CTA costs its chain and its SM over all iterations, seconds. */
struct cta_cost {
    double chain_s, chain_latency_s, chain_start_s, chain_busy_s; /* the first is the sum of the others */
    double tensor_s, issue_s, smem_s, sm_bandwidth_s; /* busy time of the SM's resources by this CTA alone */
};

/* What a CTA does in one iteration, and around the loop. */
struct cta_work {
    const struct tile_loop *loop;
    const struct tile_cost *tile;
    double missed_bytes; /* spill traffic of one iteration that L1 does not hold (TILE-6) */
    double edge_s;       /* instructions before and after the loop */
    double edge_issue_s; /* the SM's issue time for them */
    uint32_t warps;
};

/* TILE-6: what residents keep in L1, frames and loads that pass it, against what SMEM leaves of it. */
static double missed_spill_bytes(const struct time_model *model, const struct kernel_case *kernel,
                                 const struct tile_cost *tile, const struct kernel_time *result)
{
    if (tile->local_bytes == 0) {
        return 0;
    }
    const struct tile_loop *loop = &kernel->loop;
    const double residents = result->waves.full_rounds ? result->ctas_per_sm : result->waves.tail_ctas_per_sm;
    const double frame_bytes = loop->local_bytes > 0 ? loop->local_bytes : loop->spill_bytes / 2;
    const double footprint = residents * (kernel->launch.threads * frame_bytes + tile->through_l1_bytes);
    const double smem = residents * (kernel->launch.static_smem_bytes + (double)kernel->launch.dynamic_smem_bytes +
                                     model->limits->smem_reserved_per_cta_bytes);
    const double held = fmax(0, model->l1_bytes - smem);
    return footprint > held ? tile->local_bytes * (1 - held / footprint) * model->spill_traffic_factor : 0;
}

static void cta_work_compute(const struct time_model *model, const struct kernel_case *kernel,
                             const struct tile_cost *tile, const struct kernel_time *result, struct cta_work *work)
{
    const double instructions = kernel->loop.edge_instructions * model->exact_issue_factor;
    work->loop = &kernel->loop;
    work->tile = tile;
    work->warps = (kernel->launch.threads + 31) / 32;
    work->missed_bytes = missed_spill_bytes(model, kernel, tile, result);
    work->edge_s = instructions > 0 ? instructions * warp_issue_cycles(model, work->warps) * model->cycle_s : 0;
    work->edge_issue_s = instructions * work->warps / model->issue_per_s;
}

enum {
    SECTOR_BYTES = 32
};

/* TIME-9: the partial writes at a CTA's end; 0 where it writes whole sectors. */
static double partial_writes(const struct tile_loop *loop)
{
    const double piece = loop->epilogue_piece_bytes;
    return piece > 0 && piece < SECTOR_BYTES ? loop->epilogue_bytes / piece : 0;
}

/* TIME-2, TIME-3: n iterations after a first one that nothing hides. */
static inline void cta_cost_compute(const struct time_model *model, const struct cta_work *work, double iterations,
                                    struct power_book *book, struct cta_cost *cost)
{
    const struct tile_loop *loop = work->loop;
    const struct tile_cost *tile = work->tile;
    const double compute_s = tile->compute_s + work->missed_bytes / model->sm_l2_bytes_per_s;
    double latency_s = tile->exposed_s * iterations;
    double busy_s = compute_s * iterations;
    if (tile->hidden_latency_s > 0 && iterations > 0) {
        const double buffers = loop->buffers < 1 ? 1 : loop->buffers;
        const double load_s = tile->hidden_latency_s + tile->hidden_transfer_s;
        /* One buffer, filled and used. What comes before its loads it waits for in any case. */
        const double before_s = tile->before_loads_s + (1 - loop->early_fraction) * (compute_s - tile->before_loads_s);
        const double refill_s = load_s + before_s;
        const double p = model->pipeline_exponent;
        const double sum = raise_at(book, compute_s, p) + raise_at(book, refill_s / buffers, p);
        const double steady_s = root_at(book, sum, p);
        const double whole = iterations < 1 ? iterations : 1;
        const double rest = iterations - whole;
        latency_s += whole * load_s + rest * (steady_s - compute_s);
    }
    const double edge_port_s = port_time_s(model, loop->prologue_bytes, loop->prologue_distinct_fraction);
    double prologue_s = loop->serial_steps * model->l2_latency_s;
    if (loop->prologue_bytes > 0) {
        prologue_s +=
            slowest_sector_latency_s(model, loop->prologue_bytes, loop->prologue_distinct_fraction) + edge_port_s;
    }
    const double store_s =
        fmax(loop->epilogue_bytes / model->sm_bytes_per_s, partial_writes(loop) * model->sm_partial_write_s);
    cost->chain_start_s = model->cta_start_s;
    cost->chain_latency_s = latency_s + prologue_s + store_s;
    cost->chain_busy_s = busy_s + work->edge_s;
    cost->chain_s = cost->chain_start_s + cost->chain_latency_s + cost->chain_busy_s;
    cost->tensor_s = iterations * tile->tensor_s;
    cost->issue_s = iterations * tile->issue_s + work->edge_issue_s;
    cost->smem_s = iterations * tile->smem_s;
    cost->sm_bandwidth_s =
        iterations * (tile->port_s + work->missed_bytes / model->sm_l2_bytes_per_s) + edge_port_s + store_s;
}

/* Powers of the five SM-level bounds of one round, so that rounds with other co-residents cost only two multiplies. */
struct round_bounds {
    double chain, tensor, issue, smem, sm_bandwidth; /* each bound to the power p, one CTA */
    double shared;                                   /* tensor + issue + smem + sm_bandwidth */
    double chain_per_s;                              /* chain / the chain's time */
};

static inline void round_bounds_compute(const struct cta_cost *cost, double p, struct power_book *book,
                                        struct round_bounds *bounds)
{
    bounds->chain = raise_at(book, cost->chain_s, p);
    bounds->tensor = raise_at(book, cost->tensor_s, p);
    bounds->issue = raise_at(book, cost->issue_s, p);
    bounds->smem = raise_at(book, cost->smem_s, p);
    bounds->sm_bandwidth = raise_at(book, cost->sm_bandwidth_s, p);
    bounds->shared = bounds->tensor + bounds->issue + bounds->smem + bounds->sm_bandwidth;
    bounds->chain_per_s = bounds->chain / cost->chain_s;
}

/* One round on the SMs alone: its time, and what turns its bounds into parts of it. */
struct round_time {
    double time_s, chain_weight, shared_weight;
};

/* TIME-4: a round in which the busiest SM holds `residents` CTAs. */
static inline void round_compute(const struct round_bounds *bounds, double residents, double p, struct power_book *book,
                                 struct round_time *round)
{
    const double scale = raise_at(book, residents, p);
    const double norm = bounds->chain + scale * bounds->shared;
    const double inverse = 1 / norm; /* beside the roots, not after them: the chain of one prediction is what counts */
    const double time_s = root_at(book, norm, p);
    const double weight = inverse * time_s;
    round->time_s = time_s;
    round->chain_weight = weight * bounds->chain_per_s;
    round->shared_weight = weight * scale;
}

/* Adds the time of `count` rounds, by limiter. */
static inline void add_shares(const struct round_bounds *bounds, const struct cta_cost *cost,
                              const struct round_time *round, double count, double *shares)
{
    const double chain = count * round->chain_weight, shared = count * round->shared_weight;
    shares[TIME_LIMITER_LAUNCH] += chain * cost->chain_start_s;
    shares[TIME_LIMITER_MEMORY_LATENCY] += chain * cost->chain_latency_s;
    shares[TIME_LIMITER_DEPENDENCY] += chain * cost->chain_busy_s;
    shares[TIME_LIMITER_TENSOR] += shared * bounds->tensor;
    shares[TIME_LIMITER_ISSUE] += shared * bounds->issue;
    shares[TIME_LIMITER_SMEM] += shared * bounds->smem;
    shares[TIME_LIMITER_SM_BANDWIDTH] += shared * bounds->sm_bandwidth;
}

/* Groups without CTAs do not count: with one left over all CTAs are equal. */
static bool is_ragged(const struct tile_loop *loop, double *iterations)
{
    uint32_t groups = 0;
    *iterations = loop->iterations;
    for (uint32_t i = 0; i < loop->ragged_count; i++) {
        if (loop->ragged[i].ctas) {
            groups++;
            *iterations = loop->ragged[i].iterations;
        }
    }
    return groups > 1;
}

/* Of what is written, what DRAM has to take (TIME-6): all of it where the grid reads from DRAM or nothing at all, since
 * its lines displace what earlier launches left dirty, as much as it leaves itself; else what L2 cannot hold. */
static double written_back_bytes(const struct time_model *model, double loaded_bytes, double read_bytes,
                                 double written_bytes)
{
    const bool from_l2_alone = loaded_bytes > 0 && read_bytes == 0;
    return from_l2_alone ? fmax(0, written_bytes - model->l2_capacity_bytes) : written_bytes;
}

/* Bytes of the whole grid and the bounds no configuration can beat (TIME-7). */
static void grid_traffic(const struct time_model *model, const struct kernel_case *kernel, const struct cta_work *work,
                         struct kernel_time *result)
{
    const struct tile_loop *loop = work->loop;
    const struct tile_cost *tile = work->tile;
    const double ctas = (double)kernel->launch.grid_ctas;
    const double written_bytes = ctas * loop->epilogue_bytes;
    const double edge_bytes = ctas * loop->prologue_bytes * loop->prologue_distinct_fraction;
    const double read_bytes = ctas * loop->iterations * tile->dram_bytes + edge_bytes;
    const double loaded_bytes = ctas * (loop->iterations * tile->sector_bytes + loop->prologue_bytes);
    result->dram_bytes = read_bytes + written_back_bytes(model, loaded_bytes, read_bytes, written_bytes);
    result->l2_bytes = loaded_bytes + ctas * loop->iterations * work->missed_bytes + written_bytes;
    result->partial_write_s = ctas * partial_writes(loop) * model->l2_partial_write_s;
    result->dram_floor_s = (ctas * loop->iterations * tile->described_dram_bytes + edge_bytes +
                            fmax(0, written_bytes - model->l2_capacity_bytes)) /
                           model->peak_dram_bytes_per_s;
    result->tensor_floor_s = ctas * loop->iterations * tile->useful_tensor_s / model->sm_count;
}

/* Time of the grid as SMs and DRAM allow it, L2 and launch left out. */
struct grid_time {
    double time_s, dram_s; /* the second is a part of the first */
};

/* TIME-6: `count` rounds that take sm_s each on the SMs and load dram_bytes each: the p-norm of both. Returns what the
 * round's own time is to be multiplied with to give its part of the grid's. */
static inline double add_rounds(const struct time_model *model, double sm_s, double dram_bytes, double count,
                                struct power_book *book, struct grid_time *grid)
{
    const double p = model->device_exponent;
    const double dram = raise_at(book, dram_bytes / model->dram_bytes_per_s, p);
    const double sm = raise_at(book, sm_s, p);
    const double norm = sm + dram;
    const double inverse = norm > 0 ? 1 / norm : 0;
    const double sm_per_s = sm_s > 0 ? sm / sm_s : 0;
    const double time_s = count * root_at(book, norm, p);
    const double weight = time_s * inverse;
    grid->time_s += time_s;
    grid->dram_s += weight * dram;
    return weight * sm_per_s;
}

/* Most CTAs of a tail seen on one SM (data/measurements/nvidia-h200/tail_placement.csv). */
static const double PACKED_CTAS_MOST = 5;

/* TIME-5: CTAs on the busiest SM of the tail, after full rounds that take round_s each on the SMs and dram_s of DRAM.
 * Where DRAM bounds those, all CTAs of an SM end together, and an SM that ends early takes as many of the tail as it
 * holds; where the SMs do, each has a CTA that ends first, and the tail spreads. From one to the other it goes gently
 * enough that more work on the SMs never makes the whole faster. tail: CTAs with the work of the longest. */
static inline double tail_residents(const struct kernel_time *result, double round_s, double dram_s, double tail)
{
    const double spread = result->waves.tail_ctas_per_sm;
    const double packed = fmin(fmin(result->ctas_per_sm, PACKED_CTAS_MOST), tail);
    const double dram = dram_s * dram_s;
    return packed > spread && dram > 0 ? spread + (packed - spread) * dram / (dram + round_s * round_s) : spread;
}

/* TIME-5, TIME-6: rounds of equal CTAs. The SMs' parts go into shares, seconds by limiter (NULL: not wanted). */
static inline void equal_rounds(const struct time_model *model, const struct cta_work *work, double iterations,
                                const struct kernel_time *result, struct power_book *book, double *shares,
                                struct grid_time *grid)
{
    struct cta_cost cost;
    struct round_bounds bounds;
    struct round_time round;
    const double p = model->overlap_exponent;
    const struct waves *waves = &result->waves;
    const double full = (double)waves->full_rounds, slots = (double)waves->slots, tail = (double)waves->tail_ctas;
    const double cta_dram_bytes = result->dram_bytes / (full * slots + tail);
    cta_cost_compute(model, work, iterations, book, &cost);
    round_bounds_compute(&cost, p, book, &bounds);
    double residents = waves->tail_ctas_per_sm;
    if (waves->full_rounds) {
        round_compute(&bounds, result->ctas_per_sm, p, book, &round);
        residents = tail_residents(result, round.time_s, cta_dram_bytes * slots / model->dram_bytes_per_s, tail);
        const double weight = add_rounds(model, round.time_s, cta_dram_bytes * slots, full, book, grid);
        if (shares) {
            add_shares(&bounds, &cost, &round, weight, shares);
        }
    }
    if (waves->tail_ctas) {
        round_compute(&bounds, residents, p, book, &round);
        const double weight = add_rounds(model, round.time_s, cta_dram_bytes * tail, 1, book, grid);
        if (shares) {
            add_shares(&bounds, &cost, &round, weight, shares);
        }
    }
}

/* The CTAs of all full rounds, or those of the tail, where they do unequal work. */
struct ragged_part {
    uint32_t groups;
    double residents;
    double work[LIST_SCHEDULE_GROUPS_MAX];
    uint64_t counts[LIST_SCHEDULE_GROUPS_MAX];
    double total_s, longest_s, dram_bytes;
    double shares[TIME_LIMITER_COUNT]; /* of total_s */
};

static void add_group(const struct time_model *model, const struct round_bounds *bounds, const struct cta_cost *cost,
                      uint64_t ctas, double cta_dram_bytes, struct ragged_part *part)
{
    struct round_time round;
    round_compute(bounds, part->residents, model->overlap_exponent, NULL, &round);
    add_shares(bounds, cost, &round, (double)ctas, part->shares);
    part->work[part->groups] = round.time_s;
    part->counts[part->groups++] = ctas;
    part->total_s += round.time_s * (double)ctas;
    part->longest_s = fmax(part->longest_s, round.time_s);
    part->dram_bytes += cta_dram_bytes * (double)ctas;
}

/* Adds `ctas` CTAs in launch order, the first `skipped` left out. */
static void fill_part(const struct time_model *model, const struct cta_work *cta, double edge_dram_bytes,
                      uint64_t skipped, uint64_t ctas, struct ragged_part *part)
{
    const struct tile_loop *loop = cta->loop;
    for (uint32_t i = 0; i < loop->ragged_count && ctas; i++) {
        const struct ragged_group *group = &loop->ragged[i];
        const uint64_t passed = group->ctas < skipped ? group->ctas : skipped;
        const uint64_t rest = group->ctas - passed;
        const uint64_t taken = rest < ctas ? rest : ctas;
        skipped -= passed;
        ctas -= taken;
        if (taken) {
            const double cta_dram_bytes = fmax(0, group->iterations * cta->tile->dram_bytes + edge_dram_bytes);
            struct cta_cost cost;
            struct round_bounds bounds;
            cta_cost_compute(model, cta, group->iterations, NULL, &cost);
            round_bounds_compute(&cost, model->overlap_exponent, NULL, &bounds);
            add_group(model, &bounds, &cost, taken, cta_dram_bytes, part);
        }
    }
}

/* The iterations of all CTAs after the first `skipped`, in those of the longest of them. */
static double longest_ctas(const struct tile_loop *loop, uint64_t skipped)
{
    double sum = 0, longest = 0;
    for (uint32_t i = 0; i < loop->ragged_count; i++) {
        const struct ragged_group *group = &loop->ragged[i];
        const uint64_t passed = group->ctas < skipped ? group->ctas : skipped;
        skipped -= passed;
        if (group->ctas > passed) {
            sum += (double)(group->ctas - passed) * group->iterations;
            longest = fmax(longest, group->iterations);
        }
    }
    return longest > 0 ? sum / longest : 0;
}

/* One norm for a part that takes sm_s on the SMs. shares NULL: not wanted. */
static void add_part(const struct time_model *model, const struct ragged_part *part, double sm_s, double *shares,
                     struct grid_time *grid)
{
    const double weight = add_rounds(model, sm_s, part->dram_bytes, 1, NULL, grid);
    const double scale = part->total_s > 0 ? weight * sm_s / part->total_s : 0;
    for (int k = 0; k < TIME_LIMITER_COUNT && shares; k++) {
        shares[k] += scale * part->shares[k];
    }
}

/* TIME-5 for unequal CTAs: those of the full rounds are dealt to the slots in order, with full co-residency; the tail
 * comes after them. A norm for each, with its traffic. shares NULL: not wanted. */
static void ragged_rounds(const struct time_model *model, const struct cta_work *cta, const struct kernel_time *result,
                          double *shares, struct grid_time *grid)
{
    const struct waves *waves = &result->waves;
    const uint64_t full_ctas = waves->full_rounds * waves->slots;
    const double ctas = (double)(full_ctas + waves->tail_ctas);
    const double edge_dram_bytes = result->dram_bytes / ctas - cta->loop->iterations * cta->tile->dram_bytes;
    double residents = waves->tail_ctas_per_sm;
    if (full_ctas) {
        struct ragged_part full = {.residents = result->ctas_per_sm};
        fill_part(model, cta, edge_dram_bytes, 0, full_ctas, &full);
        const double full_s = waves_list_schedule(full.work, full.counts, full.groups, waves->slots);
        residents = tail_residents(result, full_s, full.dram_bytes / model->dram_bytes_per_s,
                                   longest_ctas(cta->loop, full_ctas));
        add_part(model, &full, full_s, shares, grid);
    }
    if (waves->tail_ctas) { /* less than a round: each CTA has a slot of its own */
        struct ragged_part tail = {.residents = residents};
        fill_part(model, cta, edge_dram_bytes, full_ctas, waves->tail_ctas, &tail);
        add_part(model, &tail, tail.longest_s, shares, grid);
    }
}

/* All rounds of the grid; the SMs' parts go into shares, seconds by limiter (NULL: not wanted). */
static inline void grid_time_compute(const struct time_model *model, const struct cta_work *work,
                                     const struct kernel_time *result, struct power_book *book, double *shares,
                                     struct grid_time *grid)
{
    double iterations;
    *grid = (struct grid_time){0};
    if (is_ragged(work->loop, &iterations)) {
        ragged_rounds(model, work, result, shares, grid);
    } else {
        equal_rounds(model, work, iterations, result, book, shares, grid);
    }
}

/* TIME-6: launch + p-norm of the rounds and L2; shares sum to one (sm_shares, from grid_time_compute, NULL: not
 * wanted). */
static inline void compose(const struct time_model *model, const struct grid_time *grid, const double *sm_shares,
                           struct power_book *book, struct kernel_time *result)
{
    const double p = model->device_exponent;
    const double l2 = raise_at(book, result->l2_bytes / model->l2_bytes_per_s + result->partial_write_s, p);
    const double rounds = raise_at(book, grid->time_s, p);
    const double norm = rounds + l2;
    const double inverse = norm > 0 ? 1 / norm : 0;
    const double rounds_per_s = grid->time_s > 0 ? rounds / grid->time_s : 0;
    const double busy_s = root_at(book, norm, p);
    result->time_s = model->launch_s + busy_s;
    if (!sm_shares) {
        return;
    }
    const double busy_share = busy_s / result->time_s;
    const double weight = busy_share * inverse;
    const double rounds_weight = weight * rounds_per_s;
    for (int k = 0; k < TIME_LIMITER_COUNT; k++) {
        result->shares[k] = rounds_weight * sm_shares[k];
    }
    result->shares[TIME_LIMITER_LAUNCH] += 1 - busy_share;
    result->shares[TIME_LIMITER_DRAM] = rounds_weight * grid->dram_s;
    result->shares[TIME_LIMITER_L2] = weight * l2;
}

enum time_limiter time_largest_share(const double *shares)
{
    int best = 0;
    double largest = shares[0]; /* kept in a register: reading shares[best] back would wait for it every time */
    for (int k = 1; k < TIME_LIMITER_COUNT; k++) {
        best = shares[k] > largest ? k : best;
        largest = shares[k] > largest ? shares[k] : largest;
    }
    return (enum time_limiter)best;
}

static inline double squared(double x)
{
    return x * x;
}

/* TIME-8: d ln T / d ln parameter is, for a p-norm, the share of the terms the parameter scales; parameters are
 * independent, so the squares add. */
static void set_log_sigma(const struct time_model *model, const struct kernel_case *kernel,
                          const struct tile_cost *tile, struct kernel_time *result)
{
    const double *sigma = model->log_sigma, *shares = result->shares;
    const double dependency = shares[TIME_LIMITER_DEPENDENCY];
    const double latency = shares[TIME_LIMITER_MEMORY_LATENCY];
    const double launch = shares[TIME_LIMITER_LAUNCH];
    const double mma = dependency * tile->mma_share;
    /* Summed in pieces of three or four, which do not wait for each other. */
    const double form = squared(model->model_log_sigma) + squared(launch * sigma[PARAMETER_LAUNCH_FACTOR]) +
                        squared(latency * sigma[PARAMETER_DRAM_LATENCY_FACTOR]);
    const double tensor = squared(mma * sigma[PARAMETER_MMA_LATENCY_FACTOR]) +
                          squared((mma + shares[TIME_LIMITER_TENSOR]) * sigma[PARAMETER_MMA_INTERVAL_FACTOR]);
    const double chain =
        squared((dependency * tile->issue_share + shares[TIME_LIMITER_ISSUE]) * sigma[PARAMETER_ISSUE_FACTOR]) +
        squared(dependency * tile->issue_share * sigma[PARAMETER_ISSUE_INTERVAL]) +
        squared(dependency * tile->overhead_share * sigma[PARAMETER_ITERATION_OVERHEAD]) +
        squared(dependency * tile->barrier_share * sigma[PARAMETER_BARRIER_FACTOR]) +
        squared(dependency * tile->spill_share * sigma[PARAMETER_SPILL_CYCLES]);
    const double bandwidth = squared(shares[TIME_LIMITER_SMEM] * sigma[PARAMETER_SMEM_BANDWIDTH_FACTOR]) +
                             squared(shares[TIME_LIMITER_SM_BANDWIDTH] * sigma[PARAMETER_SM_BANDWIDTH_FACTOR]) +
                             squared(shares[TIME_LIMITER_L2] * sigma[PARAMETER_L2_BANDWIDTH_FACTOR]) +
                             squared(shares[TIME_LIMITER_DRAM] * sigma[PARAMETER_DRAM_BANDWIDTH_FACTOR]);
    const double variance = (form + tensor) + (chain + bandwidth);
    double structural = 0;
    if (isnan(kernel->loop.spill_bytes) &&
        kernel->launch.registers_per_thread >= model->limits->max_registers_per_thread) {
        structural += squared(UNKNOWN_SPILL_LOG_SIGMA);
    }
    if (tile->layout_replication > 1) { /* the layout is unknown: the other one would multiply the tensor work */
        const double exposed = mma + shares[TIME_LIMITER_TENSOR] + shares[TIME_LIMITER_SMEM];
        structural += squared(exposed * tile->layout_log / LAYOUT_SPAN_SIGMAS);
    }
    result->structural_log_sigma = structural > 0 ? sqrt(structural) : 0;
    result->log_sigma = sqrt(variance + structural);
}

static void mark_infeasible(struct kernel_time *result)
{
    result->feasible = false;
    result->time_s = result->time_lo_s = result->time_hi_s = NAN;
    result->log_sigma = result->structural_log_sigma = NAN;
}

void kernel_time_predict_next(const struct time_model *model, const struct kernel_case *kernel, struct tile_memo *memo,
                              struct kernel_time *result)
{
    const uint32_t ctas_per_sm = kernel->skipped ? 0 : occupancy_ctas_per_sm(model->limits, &kernel->launch);
    if (ctas_per_sm == 0) { /* every field is set below otherwise; clearing them first would cost a tenth of the time */
        memset(result, 0, sizeof *result);
        if (kernel->skipped) {
            result->feasible = true;
        } else {
            mark_infeasible(result);
        }
        return;
    }
    result->ctas_per_sm = ctas_per_sm;
    waves_compute(kernel->launch.grid_ctas, model->sm_count, result->ctas_per_sm, &result->waves);
    struct tile_cost computed;
    const struct tile_cost *tile = &computed;
    if (memo) {
        tile = tile_cost_recall(model, kernel, memo);
    } else {
        tile_cost_compute(model, kernel, &computed);
    }
    double sm_shares[TIME_LIMITER_COUNT] = {0};
    struct cta_work work;
    cta_work_compute(model, kernel, tile, result, &work);
    struct grid_time grid;
    grid_traffic(model, kernel, &work, result);
    grid_time_compute(model, &work, result, NULL, sm_shares, &grid);
    compose(model, &grid, sm_shares, NULL, result);
    result->feasible = true;
    result->limiter = time_largest_share(result->shares);
    set_log_sigma(model, kernel, tile, result);
    const double spread = exp(model->interval_z * result->log_sigma);
    const double floor_s =
        result->dram_floor_s > result->tensor_floor_s ? result->dram_floor_s : result->tensor_floor_s;
    const double reachable_s = floor_s < result->time_s ? floor_s : result->time_s;
    result->time_lo_s = result->time_s / spread;
    if (result->time_lo_s < reachable_s) {
        result->time_lo_s = reachable_s;
    }
    result->time_hi_s = result->time_s * spread;
    result->iteration_compute_s = tile->compute_s;
    result->iteration_load_s = tile->exposed_s + tile->hidden_latency_s + tile->hidden_transfer_s;
    result->iteration_s = tile->exposed_s + tile->compute_s;
    result->replication = tile->replication;
    result->bytes_in_flight_per_sm = result->ctas_per_sm * tile->in_flight_bytes;
}

double kernel_time_seconds(const struct time_model *model, const struct kernel_case *kernel,
                           const struct tile_cost *tile, struct power_book *book, struct kernel_time *placed)
{
    struct cta_work work;
    cta_work_compute(model, kernel, tile, placed, &work);
    struct grid_time grid;
    grid_traffic(model, kernel, &work, placed);
    grid_time_compute(model, &work, placed, book, NULL, &grid);
    compose(model, &grid, NULL, book, placed);
    return placed->time_s;
}

void kernel_time_predict(const struct time_model *model, const struct kernel_case *kernel, struct kernel_time *result)
{
    kernel_time_predict_next(model, kernel, NULL, result);
}
