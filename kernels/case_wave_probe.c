/* SPDX-License-Identifier: GPL-3.0-or-later
 * Resident CTAs per SM, rounds, tail and launch rate out of the records of wave_probe.cu. */
#include <stdlib.h>

#include "kernels/kernel_cases.h"

static const struct measure_setting settings[] = {
    {"threads", 128, 1, 1024, false, "per CTA"},
    {"pad", 0, 0, 240, true, "32-bit values kept alive: raises the register count"},
    {"max_registers", 0, 0, 255, true, "the compiler's cap; 0 = none"},
    {"static_smem", 0, 0, 49152, true, "bytes per CTA"},
    {"dynamic_smem", 0, 0, 262144, false, "bytes per CTA"},
    {"carveout", -1, -1, 100, false, "percent of the SM's memory asked for as SMEM; -1 = the driver's choice"},
    {"cluster", 1, 1, 16, false, "CTAs per cluster"},
    {"grid", 1320, 1, 1000000, false, "CTAs"},
    {"hold_us", 20, 1, 10000, false, "how long every CTA stays"},
};

enum {
    RECORD_WORDS = 5
};

static enum status plan_wave_probe(struct kernel_plan *plan, struct error *error)
{
    int64_t grid = kernel_plan_value(plan, "grid"), cluster = kernel_plan_value(plan, "cluster");
    if (grid % cluster)
        return error_set(error, STATUS_DOMAIN, "the grid of %lld CTAs is no multiple of the cluster of %lld",
                         (long long)grid, (long long)cluster);
    int records = kernel_plan_add_buffer(plan, "records", BUFFER_ROLE_RECORD, ELEMENT_FORMAT_UINT64,
                                         (uint64_t)grid * RECORD_WORDS * 8);
    int written =
        kernel_plan_add_buffer(plan, "written", BUFFER_ROLE_OUTPUT, ELEMENT_FORMAT_UINT32, (uint64_t)grid * 4);
    struct kernel_stage *stage =
        kernel_plan_add_stage(plan, "wave_probe", (uint64_t)grid, 1, kernel_plan_value(plan, "threads"),
                              (uint64_t)kernel_plan_value(plan, "dynamic_smem"));
    stage->cluster_ctas = (uint32_t)cluster;
    stage->carveout_percent = (int)kernel_plan_value(plan, "carveout");
    kernel_stage_pass_buffer(stage, records);
    kernel_stage_pass_value(stage, kernel_plan_value(plan, "hold_us") * 1000);
    kernel_stage_pass_buffer(stage, written);
    kernel_stage_pass_value(stage, 0);
    plan->in_kernel_clock = true;
    return STATUS_OK;
}

/* The records are not compared: here they are those of a device whose SMs hold one CTA and take turns, for a launch
 * that runs on no device at all. */
static void reference_wave_probe(const struct kernel_plan *plan, void *const buffers[KERNEL_BUFFERS_MAX])
{
    uint64_t *record = buffers[0], hold_ns = (uint64_t)kernel_plan_value(plan, "hold_us") * 1000;
    uint32_t *written = buffers[1], sms = plan->facts->sm_count > 0 ? plan->facts->sm_count : 1;
    for (uint32_t i = 0; i < plan->stages[0].grid_x; i++, record += RECORD_WORDS) {
        written[i] = i;
        record[0] = i % sms;
        record[1] = record[3] = i / sms * hold_ns;
        record[2] = record[4] = record[3] + hold_ns;
    }
}

struct wave_event {
    uint64_t sm, clock;
    int change; /* -1 sorts before +1: a CTA that starts as another stops takes its place */
    uint32_t cta;
};

static int compare_events(const void *left, const void *right)
{
    const struct wave_event *a = left, *b = right;
    if (a->sm != b->sm)
        return a->sm < b->sm ? -1 : 1;
    if (a->clock != b->clock)
        return a->clock < b->clock ? -1 : 1;
    return a->change - b->change;
}

struct wave_summary {
    int most_resident, least_resident; /* peak of the fullest and of the emptiest SM that got a CTA */
    uint32_t sms, most_ctas, least_ctas;
};

/* Clocks are compared within one SM only: SM clocks are not set alike. A CTA's round is one more than that of the CTA
 * whose place it took: the one that stopped first of those whose place was not taken yet. freed holds count / 2 words.
 */
static struct wave_summary count_residents(struct wave_event *events, size_t count, uint32_t *rounds, uint32_t *freed)
{
    struct wave_summary summary = {0};
    qsort(events, count, sizeof *events, compare_events);
    for (size_t i = 0; i < count;) {
        uint64_t sm = events[i].sm;
        int now = 0, peak = 0;
        uint32_t ctas = 0;
        size_t freed_count = 0, taken = 0;
        for (; i < count && events[i].sm == sm; i++) {
            if (events[i].change < 0)
                freed[freed_count++] = rounds[events[i].cta];
            else
                rounds[events[i].cta] = taken < freed_count ? freed[taken++] + 1 : 1;
            now += events[i].change;
            ctas += events[i].change > 0;
            peak = now > peak ? now : peak;
        }
        summary.most_resident = peak > summary.most_resident ? peak : summary.most_resident;
        summary.least_resident = summary.sms == 0 || peak < summary.least_resident ? peak : summary.least_resident;
        summary.most_ctas = ctas > summary.most_ctas ? ctas : summary.most_ctas;
        summary.least_ctas = summary.sms == 0 || ctas < summary.least_ctas ? ctas : summary.least_ctas;
        summary.sms++;
    }
    return summary;
}

static void count_rounds(const uint64_t *records, const uint32_t *rounds, size_t count, struct measure_result *result)
{
    uint32_t last = 0;
    size_t tail = 0, first = 0;
    uint64_t earliest = UINT64_MAX, latest = 0;
    for (size_t i = 0; i < count; i++) {
        last = rounds[i] > last ? rounds[i] : last;
        if (rounds[i] != 1)
            continue;
        uint64_t start = records[i * RECORD_WORDS + 3];
        first++;
        earliest = start < earliest ? start : earliest;
        latest = start > latest ? start : latest;
    }
    for (size_t i = 0; i < count; i++)
        tail += rounds[i] == last;
    measure_result_add(result, "rounds_count", last);
    measure_result_add(result, "tail_ctas", (double)tail);
    measure_result_add(result, "first_round_ctas", (double)first);
    measure_result_add(result, "first_round_starts_ns", (double)(latest - earliest));
}

static void report_wave_probe(const struct kernel_plan *plan, void *const buffers[KERNEL_BUFFERS_MAX],
                              struct measure_result *result)
{
    const uint64_t *records = buffers[0];
    size_t grid = plan->stages[0].grid_x;
    struct wave_event *events = malloc(2 * grid * sizeof *events);
    uint32_t *rounds = calloc(grid, sizeof *rounds), *freed = calloc(grid, sizeof *freed);
    uint64_t first = UINT64_MAX, last = 0;
    if (events && rounds && freed) {
        for (size_t i = 0; i < grid; i++) {
            const uint64_t *record = records + i * RECORD_WORDS;
            events[2 * i] = (struct wave_event){record[0], record[1], 1, (uint32_t)i};
            events[2 * i + 1] = (struct wave_event){record[0], record[2], -1, (uint32_t)i};
            first = record[3] < first ? record[3] : first;
            last = record[4] > last ? record[4] : last;
        }
        struct wave_summary summary = count_residents(events, 2 * grid, rounds, freed);
        measure_result_add(result, "resident_ctas_per_sm", summary.most_resident);
        measure_result_add(result, "least_resident_ctas_per_sm", summary.least_resident);
        measure_result_add(result, "sms_used_count", summary.sms);
        measure_result_add(result, "most_ctas_on_one_sm", summary.most_ctas);
        measure_result_add(result, "least_ctas_on_one_sm", summary.least_ctas);
        count_rounds(records, rounds, grid, result);
        measure_result_add(result, "span_us", (double)(last - first) * 1e-3);
    }
    free(events);
    free(rounds);
    free(freed);
}

static void list_ctas(const struct kernel_plan *plan, void *const buffers[KERNEL_BUFFERS_MAX], struct measure_cta *ctas)
{
    const uint64_t *records = buffers[0];
    size_t grid = plan->stages[0].grid_x;
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < grid; i++)
        first = records[i * RECORD_WORDS + 3] < first ? records[i * RECORD_WORDS + 3] : first;
    for (size_t i = 0; i < grid; i++) {
        const uint64_t *record = records + i * RECORD_WORDS;
        ctas[i] = (struct measure_cta){(uint32_t)record[0], record[3] - first, record[4] - first};
    }
}

const struct kernel_case_definition wave_probe_case = {
    .kernel = {"wave_probe", "where and when does every CTA run: residency, rounds, tail, launch rate",
               SETTINGS_OF(settings)},
    .source = "wave_probe",
    .minimum_arch = 80,
    .plan = plan_wave_probe,
    .reference = reference_wave_probe,
    .report = report_wave_probe,
    .timeline = list_ctas,
};
