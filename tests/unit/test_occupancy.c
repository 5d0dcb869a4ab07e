/* SPDX-License-Identifier: GPL-3.0-or-later
 * Occupancy: published values, every fault and limiter, next-CTA distances, and properties on random launches. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/random.h"
#include "evidence/device_catalogue.h"
#include "model/predict/occupancy.h"
#include "tests/support/assert_close.h"
#include "tests/support/fixture_device.h"

static const char *const CC_NAMES[] = {"sm_70", "sm_75",  "sm_80",  "sm_86",  "sm_87",  "sm_89",
                                       "sm_90", "sm_100", "sm_103", "sm_110", "sm_120", "sm_121"};
enum {
    CC_COUNT = sizeof CC_NAMES / sizeof CC_NAMES[0],
    RANDOM_LAUNCHES = 100000,
    CSV_LIMIT_BYTES = 1 << 20
};

static struct device_catalogue *catalogue;
static const struct gpu_limits *cc_limits[CC_COUNT];

static const struct gpu_limits *find_limits(const char *name)
{
    const struct gpu_device *device = NULL;
    struct error error = {0};
    ck_assert_msg(device_catalogue_find(catalogue, name, &device, &error) == STATUS_OK, "%s: %s", name, error.text);
    return &device->limits;
}

static void setup_catalogue(void)
{
    struct error error = {0};
    ck_assert_msg(device_catalogue_create(&catalogue, &error) == STATUS_OK, "%s", error.text);
    for (size_t i = 0; i < CC_COUNT; i++)
        cc_limits[i] = find_limits(CC_NAMES[i]);
}

static void teardown_catalogue(void)
{
    device_catalogue_free(catalogue);
}

static struct kernel_launch plain_launch(uint32_t threads, uint32_t registers, uint64_t dynamic_smem_bytes)
{
    return (struct kernel_launch){.grid_ctas = 1000,
                                  .threads = threads,
                                  .registers_per_thread = registers,
                                  .dynamic_smem_bytes = dynamic_smem_bytes,
                                  .barriers = 1,
                                  .cluster_ctas = 1,
                                  .carveout_percent = CARVEOUT_DEFAULT};
}

static void read_anchor(const char *path, struct csv_table *table)
{
    struct error error = {0};
    ck_assert_msg(csv_read(path, CSV_LIMIT_BYTES, table, &error) == STATUS_OK, "%s: %s", path, error.text);
}

static const char *cell(const struct csv_table *table, size_t row, const char *column)
{
    long index = csv_column(table, column);
    ck_assert_msg(index >= 0, "no column %s", column);
    return table->cells[row * table->column_count + (size_t)index];
}

static long cell_long(const struct csv_table *table, size_t row, const char *column)
{
    char *end = NULL;
    long value = strtol(cell(table, row, column), &end, 10);
    ck_assert_msg(end != cell(table, row, column) && *end == '\0', "line %u, %s", table->lines[row], column);
    return value;
}

START_TEST(equals_the_golden_table)
{
    struct csv_table table;
    read_anchor("tests/anchors/occupancy_golden.csv", &table);
    ck_assert_uint_eq(table.row_count, 30);
    ck_assert_uint_eq(table.column_count, 5 + CC_COUNT);
    for (size_t row = 0; row < table.row_count; row++) {
        struct kernel_launch launch = plain_launch((uint32_t)cell_long(&table, row, "threads"),
                                                   (uint32_t)cell_long(&table, row, "registers_per_thread"),
                                                   (uint64_t)cell_long(&table, row, "dynamic_smem_bytes"));
        launch.barriers = (uint32_t)cell_long(&table, row, "barriers");
        launch.carveout_percent = (int32_t)cell_long(&table, row, "carveout_percent");
        for (size_t i = 0; i < CC_COUNT; i++) {
            const struct gpu_limits *limits = cc_limits[i];
            char column[16];
            snprintf(column, sizeof column, "cc_%u_%u", limits->cc_major, limits->cc_minor);
            struct occupancy result;
            occupancy_compute(limits, &launch, &result);
            ck_assert_msg((long)result.ctas_per_sm == cell_long(&table, row, column), "line %u, %s: %u CTAs",
                          table.lines[row], column, result.ctas_per_sm);
        }
    }
    csv_table_release(&table);
}
END_TEST

static void assert_published_count(const struct csv_table *table, size_t row, uint64_t actual)
{
    ck_assert_msg((long)actual == cell_long(table, row, "expected"), "line %u, %s: %llu, expected %s",
                  table->lines[row], cell(table, row, "quantity"), (unsigned long long)actual,
                  cell(table, row, "expected"));
}

static void assert_published_limiter(const struct csv_table *table, size_t row, unsigned limiters)
{
    bool found = false;
    for (unsigned bit = 0; bit < OCCUPANCY_LIMITER_KINDS; bit++)
        if (strcmp(occupancy_limiter_name(bit), cell(table, row, "expected")) == 0)
            found = (limiters >> bit & 1u) != 0;
    ck_assert_msg(found, "line %u: limiters %#x", table->lines[row], limiters);
}

static void check_public_row(const struct csv_table *table, size_t row)
{
    const struct gpu_limits *limits = find_limits(cell(table, row, "device"));
    struct kernel_launch launch = plain_launch((uint32_t)cell_long(table, row, "threads"),
                                               (uint32_t)cell_long(table, row, "registers_per_thread"),
                                               (uint64_t)cell_long(table, row, "dynamic_smem_bytes"));
    struct occupancy result;
    occupancy_compute(limits, &launch, &result);
    const char *quantity = cell(table, row, "quantity");
    const struct {
        const char *quantity;
        uint64_t actual;
    } counts[] = {
        {"ctas_per_sm", result.ctas_per_sm},
        {"registers_allocated_per_cta", result.registers_allocated_per_cta},
        {"smem_allocated_bytes", result.smem_allocated_bytes},
        {"next_cta_smem_bytes", (uint64_t)result.next_cta_smem_bytes},
        {"smem_per_cta_optin_bytes", limits->smem_per_cta_optin_bytes},
        {"smem_reserved_per_cta_bytes", limits->smem_reserved_per_cta_bytes},
        {"smem_per_sm_bytes",
         strcmp(cell(table, row, "kind"), "hw") == 0 ? limits->smem_per_sm_bytes : result.smem_per_sm_bytes},
        /* What a calculator without granularities says; ours must not. */
        {"naive_ctas",
         launch.threads == 0 ? 0 : limits->registers_per_sm / (launch.threads * launch.registers_per_thread)},
    };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (strcmp(quantity, counts[i].quantity) == 0) {
            assert_published_count(table, row, counts[i].actual);
            return;
        }
    if (strcmp(quantity, "occupancy_percent") == 0) {
        double expected = strtod(cell(table, row, "expected"), NULL);
        assert_close_rel(100.0 * result.occupancy_fraction, expected, TOL_PRINTED(expected, 0.1));
    } else if (strcmp(quantity, "limiter") == 0) {
        assert_published_limiter(table, row, result.limiters);
    } else if (strcmp(quantity, "launch") == 0) {
        ck_assert_str_eq(cell(table, row, "expected"), "fails");
        ck_assert_int_eq(result.fault, LAUNCH_FAULT_REGISTERS_PER_CTA);
    } else if (strcmp(quantity, "fits") == 0) {
        bool fits = strcmp(cell(table, row, "expected"), "yes") == 0;
        ck_assert_int_eq(result.fault, fits ? LAUNCH_FAULT_NONE : LAUNCH_FAULT_SMEM_PER_CTA);
        ck_assert_int_eq(result.smem_over_limit_bytes > 0, !fits);
    } else {
        ck_abort_msg("line %u: unknown quantity %s", table->lines[row], quantity);
    }
}

START_TEST(equals_the_published_cases)
{
    struct csv_table table;
    read_anchor("tests/anchors/public_occupancy.csv", &table);
    ck_assert_uint_gt(table.row_count, 40);
    for (size_t row = 0; row < table.row_count; row++)
        check_public_row(&table, row);
    csv_table_release(&table);
    printf("skipped: occupancy: case P31 is about cc 6.1, which has no limits table\n");
}
END_TEST

/* docs/MODEL.md section 1 works this example by hand. */
START_TEST(equals_the_worked_example)
{
    struct gpu_device device;
    fixture_device_init(&device);
    struct kernel_launch launch = plain_launch(224, 77, 20011);
    launch.static_smem_bytes = 1000;
    launch.barriers = 5;
    struct occupancy result;
    occupancy_compute(&device.limits, &launch, &result);
    ck_assert_int_eq(result.limit_warps, 7);
    ck_assert_int_eq(result.limit_ctas, 19);
    ck_assert_int_eq(result.limit_registers, 3);
    ck_assert_int_eq(result.limit_smem, 5);
    ck_assert_int_eq(result.limit_barriers, 4);
    ck_assert_int_eq(result.limit_cluster, OCCUPANCY_NO_LIMIT);
    ck_assert_uint_eq(result.ctas_per_sm, 3);
    ck_assert_uint_eq(result.limiters, OCCUPANCY_LIMITER_REGISTERS);
    ck_assert_uint_eq(result.registers_allocated_per_warp, 2560);
    ck_assert_uint_eq(result.registers_allocated_per_cta, 17920);
    ck_assert_uint_eq(result.smem_requested_bytes, 21011);
    ck_assert_uint_eq(result.smem_allocated_bytes, 22144);
    ck_assert_uint_eq(result.smem_per_sm_bytes, 120832);
    ck_assert_int_eq(result.smem_over_limit_bytes, 21011 - 119808);
    ck_assert_int_eq(result.next_cta_registers_per_thread, 72);
    ck_assert_int_eq(result.next_cta_smem_bytes, 29184);
    ck_assert_int_eq(result.next_cta_threads, 192);
    assert_close_rel(result.occupancy_fraction, 21.0 / 52.0, TOL_ROUNDING);

    launch.carveout_percent = 31; /* 37457 bytes, so the 38 KiB size; one CTA of 22144 bytes fits in it */
    occupancy_compute(&device.limits, &launch, &result);
    ck_assert_uint_eq(result.smem_per_sm_bytes, 38912);
    ck_assert_uint_eq(result.ctas_per_sm, 1);
    ck_assert_uint_eq(result.limiters, OCCUPANCY_LIMITER_SMEM);
    ck_assert_int_eq(result.next_cta_smem_bytes, 38912 / 2 / 128 * 128 - 1024);
}
END_TEST

static enum launch_fault fault_of(const struct gpu_limits *limits, const struct kernel_launch *launch)
{
    struct occupancy result;
    occupancy_compute(limits, launch, &result);
    if (result.fault != LAUNCH_FAULT_NONE) {
        ck_assert_uint_eq(result.ctas_per_sm, 0);
        ck_assert_uint_ne(result.limiters, 0);
        ck_assert_uint_eq(occupancy_ctas_per_sm(limits, launch), 0);
    }
    ck_assert_uint_gt(strlen(launch_fault_text(result.fault)), 10);
    return result.fault;
}

START_TEST(names_every_fault)
{
    const struct gpu_limits *sm_90 = find_limits("sm_90"), *sm_80 = find_limits("sm_80");
    struct kernel_launch launch = plain_launch(0, 32, 0);
    ck_assert_int_eq(fault_of(sm_90, &launch), LAUNCH_FAULT_THREADS);
    launch = plain_launch(1025, 32, 0);
    ck_assert_int_eq(fault_of(sm_90, &launch), LAUNCH_FAULT_THREADS);
    launch = plain_launch(UINT32_MAX, 32, 0);
    ck_assert_int_eq(fault_of(sm_90, &launch), LAUNCH_FAULT_THREADS);
    launch = plain_launch(128, 256, 0);
    ck_assert_int_eq(fault_of(sm_90, &launch), LAUNCH_FAULT_REGISTERS_PER_THREAD);
    launch = plain_launch(128, UINT32_MAX, 0);
    ck_assert_int_eq(fault_of(sm_90, &launch), LAUNCH_FAULT_REGISTERS_PER_THREAD);
    launch = plain_launch(288, 200, 0);
    ck_assert_int_eq(fault_of(sm_90, &launch), LAUNCH_FAULT_REGISTERS_PER_CTA);
    launch = plain_launch(128, 32, 232449);
    ck_assert_int_eq(fault_of(sm_90, &launch), LAUNCH_FAULT_SMEM_PER_CTA);
    launch = plain_launch(128, 32, UINT64_MAX);
    launch.static_smem_bytes = 7; /* the sum wraps to 6 */
    ck_assert_int_eq(fault_of(sm_90, &launch), LAUNCH_FAULT_SMEM_PER_CTA);
    launch = plain_launch(128, 32, 0);
    launch.barriers = 16;
    ck_assert_int_eq(fault_of(sm_90, &launch), LAUNCH_FAULT_NONE);
    ck_assert_int_eq(fault_of(sm_80, &launch), LAUNCH_FAULT_NONE); /* no pool is applied below cc 9.0 */
    launch.barriers = 17;                                          /* PTX names 0 to 15 */
    ck_assert_int_eq(fault_of(sm_90, &launch), LAUNCH_FAULT_BARRIERS);
    ck_assert_int_eq(fault_of(sm_80, &launch), LAUNCH_FAULT_BARRIERS);
    ck_assert_int_eq(fault_of(sm_90, &(struct kernel_launch){.threads = 32, .carveout_percent = CARVEOUT_DEFAULT}),
                     LAUNCH_FAULT_CLUSTER); /* a cluster of no CTA */
}
END_TEST

START_TEST(judges_clusters)
{
    const struct gpu_limits *sm_90 = find_limits("sm_90"), *sm_80 = find_limits("sm_80");
    struct kernel_launch launch = plain_launch(128, 32, 0);
    struct occupancy result;
    launch.grid_ctas = 240;
    launch.cluster_ctas = sm_90->max_cluster;
    ck_assert_int_eq(fault_of(sm_90, &launch), LAUNCH_FAULT_NONE);
    occupancy_compute(sm_90, &launch, &result);
    ck_assert_int_eq(result.limit_cluster, 8); /* seen on an H200, whatever the rest of the launch */
    ck_assert_uint_eq(result.ctas_per_sm, 8);
    ck_assert_uint_eq(occupancy_ctas_per_sm(sm_90, &launch), 8);
    ck_assert_uint_eq(result.limiters, OCCUPANCY_LIMITER_CLUSTER);
    launch.cluster_ctas = sm_90->max_cluster + 1;
    ck_assert_int_eq(fault_of(sm_90, &launch), LAUNCH_FAULT_CLUSTER);
    occupancy_compute(sm_90, &launch, &result);
    ck_assert_uint_eq(result.limiters, OCCUPANCY_LIMITER_CLUSTER);
    launch.cluster_ctas = 2;
    ck_assert_int_eq(fault_of(sm_80, &launch), LAUNCH_FAULT_CLUSTER);
    launch.grid_ctas = 241;
    ck_assert_int_eq(fault_of(sm_90, &launch), LAUNCH_FAULT_GRID);
    launch.cluster_ctas = 1;
    ck_assert_int_eq(fault_of(sm_90, &launch), LAUNCH_FAULT_NONE);
}
END_TEST

START_TEST(reports_no_next_value_where_none_helps)
{
    const struct gpu_limits *sm_120 = find_limits("sm_120");
    struct kernel_launch launch = plain_launch(128, 300, 0);
    struct occupancy result;
    occupancy_compute(sm_120, &launch, &result);
    ck_assert_int_eq(result.next_cta_threads, -1); /* illegal with any number of threads */
    ck_assert_int_eq(result.next_cta_registers_per_thread, 255);
    launch = plain_launch(32, 32, 0);
    launch.carveout_percent = 0;
    occupancy_compute(find_limits("sm_90"), &launch, &result);
    ck_assert_uint_eq(result.ctas_per_sm, 8); /* the reserve of 1 KiB fills the 8 KiB that are left */
    ck_assert_int_eq(result.next_cta_smem_bytes, -1);
    /* The golden kernel's three stages: by how much, and what would fit. */
    launch = plain_launch(128, 255, 101568);
    occupancy_compute(sm_120, &launch, &result);
    ck_assert_int_eq(result.smem_over_limit_bytes, 192);
    ck_assert_int_eq(result.next_cta_smem_bytes, 101376);
}
END_TEST

/* ---- random launches ------------------------------------------------------------------------------------------ */

static struct random_stream stream;

static uint32_t draw(uint32_t bound)
{
    return random_below(&stream, bound);
}

static struct kernel_launch random_launch(const struct gpu_limits *limits)
{
    struct kernel_launch launch = plain_launch(
        1 + draw(1100), draw(260), draw(2) != 0 ? draw(limits->smem_per_cta_optin_bytes + 4096) : draw(9000));
    launch.static_smem_bytes = draw(3) == 0 ? draw(6000) : 0;
    launch.carveout_percent = draw(2) != 0 ? CARVEOUT_DEFAULT : (int32_t)draw(101);
    launch.barriers = draw(2) != 0 ? 1 : draw(70);
    launch.cluster_ctas = draw(8) == 0 ? draw(20) : 1;
    launch.grid_ctas = draw(2000);
    return launch;
}

static void assert_least_limiter(const struct gpu_limits *limits, const struct occupancy *result)
{
    const int32_t all[] = {result->limit_warps, result->limit_ctas,     result->limit_registers,
                           result->limit_smem,  result->limit_barriers, result->limit_cluster};
    int32_t least = INT32_MAX;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        least = all[i] < least ? all[i] : least;
    ck_assert_int_eq((int32_t)result->ctas_per_sm, least);
    for (unsigned bit = 0; bit < OCCUPANCY_LIMITER_KINDS; bit++)
        ck_assert_int_eq(result->limiters >> bit & 1u, all[bit] == least);
    ck_assert_int_eq(result->fault != LAUNCH_FAULT_NONE, least == 0);
    ck_assert(result->occupancy_fraction >= 0.0 && result->occupancy_fraction <= 1.0);
    ck_assert_uint_le(result->warps_per_sm, limits->max_warps_per_sm);
    ck_assert_int_eq(result->fault == LAUNCH_FAULT_SMEM_PER_CTA || result->limit_smem == 0,
                     result->smem_over_limit_bytes > 0 || result->fault == LAUNCH_FAULT_SMEM_PER_CTA);
}

START_TEST(hot_path_equals_full_path)
{
    random_init(&stream, 20177, 1);
    for (int i = 0; i < RANDOM_LAUNCHES; i++) {
        const struct gpu_limits *limits = cc_limits[i % CC_COUNT];
        struct kernel_launch launch = random_launch(limits);
        struct occupancy result;
        occupancy_compute(limits, &launch, &result);
        uint32_t hot = occupancy_ctas_per_sm(limits, &launch);
        ck_assert_msg(hot == result.ctas_per_sm, "case %d: %u by the hot path, %u by the full path", i, hot,
                      result.ctas_per_sm);
        assert_least_limiter(limits, &result);
    }
}
END_TEST

START_TEST(more_of_a_resource_never_adds_ctas)
{
    random_init(&stream, 31337, 1);
    for (int i = 0; i < RANDOM_LAUNCHES; i++) {
        const struct gpu_limits *limits = cc_limits[i % CC_COUNT];
        struct kernel_launch less = random_launch(limits), more = less;
        uint32_t step = 1 + draw(300);
        switch (i / CC_COUNT % 4) {
        case 0:
            more.registers_per_thread += step % 64;
            break;
        case 1:
            more.threads += step;
            break;
        case 2:
            more.dynamic_smem_bytes += (uint64_t)step * step;
            break;
        default:
            more.barriers += step % 16;
            break;
        }
        ck_assert_msg(occupancy_ctas_per_sm(limits, &more) <= occupancy_ctas_per_sm(limits, &less),
                      "case %d: more CTAs with more of a resource", i);
    }
}
END_TEST

/* The value of one resource at which its own limits admit `target` CTAs, and one above it, at which they do not. */
static void assert_exact_registers(const struct gpu_limits *limits, struct kernel_launch launch, int32_t registers,
                                   int32_t target)
{
    struct occupancy result;
    ck_assert_int_ge(registers, 0);
    launch.registers_per_thread = (uint32_t)registers;
    occupancy_compute(limits, &launch, &result);
    ck_assert_int_ge(result.limit_registers, target);
    launch.registers_per_thread++;
    occupancy_compute(limits, &launch, &result);
    ck_assert_int_lt(result.limit_registers, target);
}

static void assert_exact_smem(const struct gpu_limits *limits, struct kernel_launch launch, int64_t smem_bytes,
                              int32_t target)
{
    struct occupancy result;
    launch.static_smem_bytes = 0;
    if (smem_bytes >= 0) {
        launch.dynamic_smem_bytes = (uint64_t)smem_bytes;
        occupancy_compute(limits, &launch, &result);
        ck_assert_int_ge(result.limit_smem, target);
    }
    launch.dynamic_smem_bytes = (uint64_t)(smem_bytes + 1);
    occupancy_compute(limits, &launch, &result);
    ck_assert_int_lt(result.limit_smem, target);
}

static void assert_exact_threads(const struct gpu_limits *limits, struct kernel_launch launch, int32_t threads,
                                 int32_t target)
{
    struct occupancy result;
    if (threads > 0) {
        launch.threads = (uint32_t)threads;
        occupancy_compute(limits, &launch, &result);
        ck_assert(result.limit_warps >= target && result.limit_registers >= target);
    }
    launch.threads = threads > 0 ? (uint32_t)threads + 1u : 1u;
    occupancy_compute(limits, &launch, &result);
    ck_assert(result.limit_warps < target || result.limit_registers < target);
}

/* Counts how often a distance, taken alone, really gave one more CTA, so that the test cannot pass by never trying. */
START_TEST(next_cta_distances_are_exact)
{
    random_init(&stream, 4711, 1);
    int raised[3] = {0};
    for (int i = 0; i < RANDOM_LAUNCHES / 4; i++) {
        const struct gpu_limits *limits = cc_limits[i % CC_COUNT];
        struct kernel_launch launch = random_launch(limits), changed;
        launch.static_smem_bytes = 0;
        struct occupancy result;
        occupancy_compute(limits, &launch, &result);
        int32_t target = (int32_t)result.ctas_per_sm + 1;
        if (launch.threads <= limits->max_threads_per_cta)
            assert_exact_registers(limits, launch, result.next_cta_registers_per_thread, target);
        assert_exact_smem(limits, launch, result.next_cta_smem_bytes, target);
        assert_exact_threads(limits, launch, result.next_cta_threads, target);
        if (result.limiters == OCCUPANCY_LIMITER_REGISTERS) {
            changed = launch;
            changed.registers_per_thread = (uint32_t)result.next_cta_registers_per_thread;
            ck_assert_int_ge((int32_t)occupancy_ctas_per_sm(limits, &changed), target);
            raised[0]++;
        }
        if (result.limiters == OCCUPANCY_LIMITER_SMEM && result.next_cta_smem_bytes >= 0) {
            changed = launch;
            changed.dynamic_smem_bytes = (uint64_t)result.next_cta_smem_bytes;
            ck_assert_int_ge((int32_t)occupancy_ctas_per_sm(limits, &changed), target);
            raised[1]++;
        }
        if ((result.limiters & ~(unsigned)(OCCUPANCY_LIMITER_WARPS | OCCUPANCY_LIMITER_REGISTERS)) == 0 &&
            result.next_cta_threads > 0) {
            changed = launch;
            changed.threads = (uint32_t)result.next_cta_threads;
            ck_assert_int_ge((int32_t)occupancy_ctas_per_sm(limits, &changed), target);
            raised[2]++;
        }
    }
    for (int k = 0; k < 3; k++)
        ck_assert_int_gt(raised[k], 500);
}
END_TEST

Suite *suite_occupancy(void);
Suite *suite_occupancy(void)
{
    Suite *suite = suite_create("occupancy");
    TCase *tcase = tcase_create("all");
    tcase_add_checked_fixture(tcase, setup_catalogue, teardown_catalogue);
    tcase_add_test(tcase, equals_the_golden_table);
    tcase_add_test(tcase, equals_the_published_cases);
    tcase_add_test(tcase, equals_the_worked_example);
    tcase_add_test(tcase, names_every_fault);
    tcase_add_test(tcase, judges_clusters);
    tcase_add_test(tcase, reports_no_next_value_where_none_helps);
    tcase_add_test(tcase, hot_path_equals_full_path);
    tcase_add_test(tcase, more_of_a_resource_never_adds_ctas);
    tcase_add_test(tcase, next_cta_distances_are_exact);
    suite_add_tcase(suite, tcase);
    return suite;
}
