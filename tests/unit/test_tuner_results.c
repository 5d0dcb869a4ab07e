/* SPDX-License-Identifier: GPL-3.0-or-later
 * Results of tuners: public spaces where they are at hand, and small files in every shape the tuners leave. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/text_buffer.h"
#include "evidence/profiles/profile_readers.h"
#include "tests/support/assert_close.h"
#include "tests/support/claims.h"
#include "tests/support/shared_data.h"

#define CACHE_HEAD                                                                                                     \
    "{\n\"device_name\": \"NVIDIA A100\",\n\"kernel_name\": \"conv\",\n\"problem_size\": [\n4096\n],\n"                \
    "\"tune_params_keys\": [\n\"block_size_x\",\n\"tile\",\n\"mode\"\n],\n\"tune_params\": {\n\"tile\": [\n1\n]\n},\n" \
    "\"objective\": \"time\",\n\"cache\": {\n"
#define CACHE_GOOD                                                                                                     \
    "\"32,1,a\": {\"block_size_x\": 32, \"tile\": 1, \"mode\": \"a\", \"time\": 2.0, \"times\": [2.5, 1.5, 2.0, "      \
    "2.0], "                                                                                                           \
    "\"compile_time\": 9.5, \"GFLOP/s\": NaN}"
#define CACHE_FAILED                                                                                                   \
    "\"64,2,b\": {\"block_size_x\": 64, \"tile\": 2, \"mode\": \"b\", \"time\": \"RuntimeFailedConfig\", \"times\": "  \
    "[]}"

static struct kernel_claim_list list;

static void read_text(const char *text)
{
    claims_must_read_text(tuner_results_read, "cache.json", text, strlen(text), &list);
}

static void release(void)
{
    kernel_claim_list_release(&list);
}

/* --- public spaces -------------------------------------------------------------------------------------------------
 */

/* Counted and read off by another program (Python's json). */
static const struct space {
    const char *file;
    enum claim_source source;
    size_t configurations, failed;
    double best_us; /* least stated time */
    const char *device, *knob, *best_knob;
    double median_us, minimum_us, maximum_us, registers, smem, threads, grid; /* of the best; NaN: none */
    uint64_t runs;
} spaces[] = {
    {"convolution_A100.json.gz", CLAIM_SOURCE_KERNEL_TUNER, 4362, 161, 553.6000076681376, "NVIDIA A100-PCIE-40GB",
     "tile_size_y", "3", 549.888014793396, 547.8399991989136, 669.6959733963013, NAN, NAN, 128, NAN, 32},
    {"dedispersion_MI250X.json.gz", CLAIM_SOURCE_KERNEL_TUNER, 11130, 0, 49572.4800825119, "", "block_size_y", "32",
     49571.04682922363, 49515.384674072266, 49634.639739990234, NAN, NAN, 256, NAN, 32},
    {"gemm_RTX_3090.json.gz", CLAIM_SOURCE_KERNEL_TUNER, 17956, 0, 5657.843999999999, "NVIDIA GeForce RTX 3090", "VWM",
     "8", 5657.551999999999, 5627.904, 5686.272, NAN, NAN, NAN, NAN, 32},
    {"pnpoly_RTX_3090_T4.json.gz", CLAIM_SOURCE_T4_RESULTS, 4092, 330, 7224.192, "", "tile_size", "20", NAN, NAN, NAN,
     NAN, NAN, NAN, NAN, 1},
    {"ktt_convolution_2080Ti.json.gz", CLAIM_SOURCE_KTT_RESULTS, 6768, 1488, 706.112, "NVIDIA GeForce RTX 2080 Ti",
     "TILE_SIZE_Y", "7", NAN, NAN, NAN, 62, 15904, 256, 32 * 293, 1},
    {"ktt_coulomb_2080.json", CLAIM_SOURCE_KTT_RESULTS, 210, 0, 769.696, "NVIDIA GeForce RTX 2080 Ti", "Z_ITERATIONS",
     "16", NAN, NAN, NAN, 44, 0, 64, 8 * 128 * 16, 1},
};

static void check_figure(const struct kernel_claim *claim, enum claim_figure figure, double expected)
{
    if (isnan(expected)) {
        assert_unknown(claim, figure);
    } else {
        assert_figure(claim, figure, expected);
    }
}

static void check_time(double actual, double expected)
{
    if (isnan(expected)) {
        ck_assert(isnan(actual));
    } else {
        assert_close_rel(actual, expected, TOL_ROUNDING);
    }
}

START_TEST(public_spaces)
{
    const struct space *space = &spaces[_i];
    char relative[128], path[1024];
    snprintf(relative, sizeof relative, "data/tuning/%s", space->file);
    if (shared_data_path("tuner_results", relative, path, sizeof path) == NULL) {
        return;
    }
    claims_must_read(tuner_results_read, path, &list);
    size_t failed = 0, best = 0;
    for (size_t i = 0; i < list.count; i++) {
        const struct kernel_claim *claim = &list.items[i];
        failed += claim->is_failed;
        if (claim->source != space->source || (claim->time.count == 0) != claim->is_failed ||
            (claim->is_failed && claim->note[0] == '\0') || claim->parameter_count == 0) {
            ck_abort_msg("entry %zu of %s", i, space->file);
        }
        if (!claim->is_failed && !(list.items[best].time.mean_us <= claim->time.mean_us)) {
            best = i;
        }
    }
    ck_assert_uint_eq(list.count, space->configurations);
    ck_assert_uint_eq(list.skipped, 0);
    ck_assert_uint_eq(failed, space->failed);
    const struct kernel_claim *claim = &list.items[best];
    check_time(claim->time.mean_us, space->best_us);
    check_time(claim->time.median_us, space->median_us);
    check_time(claim->time.minimum_us, space->minimum_us);
    check_time(claim->time.maximum_us, space->maximum_us);
    ck_assert_uint_eq(claim->time.count, space->runs);
    ck_assert_str_eq(claim->device, space->device);
    ck_assert_str_eq(claim_knob(claim, space->knob), space->best_knob);
    check_figure(claim, CLAIM_REGISTERS, space->registers);
    check_figure(claim, CLAIM_STATIC_SMEM, space->smem);
    check_figure(claim, CLAIM_THREADS, space->threads);
    check_figure(claim, CLAIM_GRID, space->grid);
    release();
}
END_TEST

/* --- Kernel Tuner --------------------------------------------------------------------------------------------------
 */

START_TEST(kernel_tuner_cache)
{
    read_text(CACHE_HEAD CACHE_GOOD ",\n" CACHE_FAILED "}\n}");
    ck_assert_uint_eq(list.count, 2);
    ck_assert_str_eq(list.remark, "");
    const struct kernel_claim *good = &list.items[0], *failed = &list.items[1];
    ck_assert_str_eq(good->name, "conv");
    ck_assert_str_eq(good->device, "NVIDIA A100");
    ck_assert_uint_eq(good->parameter_count, 3);
    ck_assert_str_eq(good->parameters[0].name, "block_size_x");
    ck_assert_str_eq(good->parameters[0].text, "32");
    ck_assert_double_eq(good->parameters[0].value, 32.0);
    ck_assert_str_eq(good->parameters[2].text, "a");
    ck_assert(isnan(good->parameters[2].value));
    assert_figure(good, CLAIM_THREADS, 32);
    ck_assert_uint_eq(good->line, 19);
    ck_assert_uint_eq(good->time.count, 4);
    ck_assert_double_eq(good->time.mean_us, 2000.0);
    ck_assert_double_eq(good->time.median_us, 2000.0);
    ck_assert_double_eq(good->time.minimum_us, 1500.0);
    ck_assert_double_eq(good->time.maximum_us, 2500.0);
    ck_assert_double_eq(good->time.last_us, 2000.0);
    assert_close_rel(good->time.deviation_us, sqrt(500000.0 / 3.0), TOL_ROUNDING);
    ck_assert(failed->is_failed && failed->time.count == 0);
    ck_assert_str_eq(failed->note, "RuntimeFailedConfig");
    release();
}
END_TEST

/* While it runs, and when it was stopped: entries with their commas, no closing braces. */
START_TEST(kernel_tuner_cache_left_open)
{
    static const char *const ends[] = {",\n" CACHE_FAILED ",\n",
                                       ",\n" CACHE_FAILED ",",
                                       ",\n" CACHE_FAILED,
                                       ",\n" CACHE_FAILED "}",
                                       ",\n" CACHE_FAILED ",\n\"96,1,a\": {\"block_size_x\": 9",
                                       ",\n" CACHE_FAILED ",\n\"96,1,a\": {\"block_size_x\": 96, \"time\": 1.5",
                                       ",\n" CACHE_FAILED ",\n\"96,"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        char text[2048];
        snprintf(text, sizeof text, CACHE_HEAD CACHE_GOOD "%s", ends[i]);
        read_text(text);
        ck_assert_uint_eq(list.count, 2);
        ck_assert_uint_eq(list.skipped, 0);
        ck_assert_str_eq(list.remark, "not closed, as Kernel Tuner leaves it while it runs");
        ck_assert(list.items[1].is_failed && !list.items[0].is_failed);
        release();
    }
}
END_TEST

START_TEST(failures_of_all_kinds)
{
    static const char *const times[] = {"\"InvalidConfig\"",
                                        "\"CompilationFailedConfig\"",
                                        "1e20",
                                        "1e+30",
                                        "Infinity",
                                        "NaN",
                                        "-1.0",
                                        "\"\"",
                                        "1e999"};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        char text[2048];
        snprintf(text, sizeof text, CACHE_HEAD "\"1\": {\"tile\": 4, \"time\": %s}}}", times[i]);
        read_text(text);
        ck_assert_msg(list.items[0].is_failed && list.items[0].time.count == 0 && list.items[0].note[0] != '\0', "%s",
                      times[i]);
        release();
    }
    read_text(CACHE_HEAD "\"1\": {\"tile\": 4, \"time\": null}}}");
    ck_assert(!list.items[0].is_failed && list.items[0].time.count == 0);
    ck_assert_str_eq(list.items[0].note, "no time is stated");
    release();
}
END_TEST

/* The head behind the results, and single runs that are not those of the stated time. */
START_TEST(head_behind_and_other_clock)
{
    read_text(
        "{\"cache\": {\"1\": {\"tile\": 4, \"time\": 1.0, \"times\": [2.0, 2.0]}}, \"tune_params_keys\": [\"tile\"],"
        "\"kernel_name\": \"late\", \"device_name\": \"D\"}");
    ck_assert_uint_eq(list.count, 1);
    ck_assert_str_eq(list.items[0].name, "late");
    ck_assert_str_eq(list.items[0].device, "D");
    ck_assert_str_eq(claim_knob(&list.items[0], "tile"), "4");
    ck_assert_uint_eq(list.items[0].time.count, 1);
    ck_assert_double_eq(list.items[0].time.mean_us, 1000.0);
    ck_assert(isnan(list.items[0].time.median_us));
    ck_assert_msg(strstr(list.items[0].note, "not the stated 1000 us") != NULL, "%s", list.items[0].note);
    release();
}
END_TEST

/* --- T4 and KTT ----------------------------------------------------------------------------------------------------
 */

START_TEST(t4_results)
{
    read_text(
        "{\"metadata\": {\"timeunit\": \"miliseconds\"}, \"results\": ["
        "{\"configuration\": {\"a\": 1, \"b\": \"x\", \"c\": true, \"d\": null}, \"times\": {\"runtimes\": [1.0, 3.0]},"
        " \"invalidity\": \"correct\", \"measurements\": [{\"name\": \"power\", \"value\": 9, \"unit\": \"W\"},"
        " {\"name\": \"time\", \"value\": 2.0, \"unit\": \"miliseconds\"}], \"objectives\": [\"time\"]},"
        "{\"configuration\": {\"a\": 2}, \"times\": {}, \"invalidity\": \"compile\", \"measurements\":"
        " [{\"name\": \"time\", \"value\": \"CompilationFailedConfig\", \"unit\": \"miliseconds\"}]},"
        "{\"configuration\": {\"a\": 3}, \"times\": {\"runtimes\": []}, \"invalidity\": \"correct\", \"measurements\":"
        " [{\"name\": \"time\", \"value\": 7, \"unit\": \"us\"}]}, 5, {\"times\": {}}],"
        "\"schema_version\": \"1.0.0\"}");
    ck_assert_uint_eq(list.count, 3);
    ck_assert_uint_eq(list.skipped, 2);
    const struct kernel_claim *claims = list.items;
    ck_assert_uint_eq(claims[0].parameter_count, 3);
    ck_assert_str_eq(claim_knob(&claims[0], "c"), "true");
    ck_assert_double_eq(claims[0].time.mean_us, 2000.0);
    ck_assert_double_eq(claims[0].time.median_us, 2000.0);
    ck_assert_uint_eq(claims[0].time.count, 2);
    ck_assert(claims[1].is_failed);
    ck_assert_str_eq(claims[1].note, "failed: invalidity compile");
    ck_assert_double_eq(claims[2].time.mean_us, 7.0);
    release();
}
END_TEST

START_TEST(ktt_results)
{
    static const char entries[] =
        "\"Results\": [{\"ComputationResults\": [{\"CompilationData\": {\"LocalMemorySize\": 2048, "
        "\"PrivateMemorySize\": "
        "24, \"RegistersCount\": 40}, \"Duration\": 5.0, \"GlobalSize\": {\"X\": 256, \"Y\": 6, \"Z\": 1}, "
        "\"LocalSize\": "
        "{\"X\": 32, \"Y\": 2, \"Z\": 1}, \"ProfilingData\": {\"Counters\": []}}], \"Configuration\": [{\"Name\": "
        "\"B\", "
        "\"Value\": 32, \"ValueType\": \"UnsignedInt\"}], \"KernelName\": \"k\", \"Status\": \"Ok\", "
        "\"TotalDuration\": "
        "6.0}, {\"ComputationResults\": [], \"Configuration\": [{\"Name\": \"B\", \"Value\": 64}], \"Status\": "
        "\"DeviceLimitsExceeded\", \"TotalDuration\": 0.0}, {\"ComputationResults\": [{\"CompilationData\": "
        "{\"RegistersCount\": 9}}, {}], \"Configuration\": [{\"Name\": \"B\", \"Value\": 8}], \"Status\": \"Ok\", "
        "\"TotalDuration\": 3.0}]";
    char text[2048];
    snprintf(text, sizeof text, "{%s, \"Metadata\": {\"TimeUnit\": \"Milliseconds\", \"Device\": \"GPU\"}}", entries);
    read_text(text);
    ck_assert_uint_eq(list.count, 3);
    const struct kernel_claim *claims = list.items;
    ck_assert_str_eq(claims[0].name, "k");
    ck_assert_str_eq(claims[0].device, "GPU");
    assert_figure(&claims[0], CLAIM_REGISTERS, 40);
    assert_figure(&claims[0], CLAIM_STATIC_SMEM, 2048);
    assert_figure(&claims[0], CLAIM_STACK, 24);
    assert_figure(&claims[0], CLAIM_GRID, 1536);
    assert_figure(&claims[0], CLAIM_THREADS, 64);
    ck_assert_double_eq(claims[0].time.mean_us, 6000.0);
    ck_assert(claims[1].is_failed);
    ck_assert_str_eq(claims[1].note, "DeviceLimitsExceeded");
    assert_unknown(&claims[2], CLAIM_REGISTERS);
    ck_assert_double_eq(claims[2].time.mean_us, 3000.0);
    ck_assert_msg(strstr(list.remark, "hardware counters") != NULL, "%s", list.remark);
    release();
    snprintf(text, sizeof text, "{\"Metadata\": {\"TimeUnit\": \"Nanoseconds\", \"GlobalSizeType\": \"OpenCL\"}, %s}",
             entries);
    read_text(text);
    assert_figure(&list.items[0], CLAIM_GRID, 24);
    assert_close_rel(list.items[0].time.mean_us, 6e-3, TOL_ROUNDING);
    release();
    snprintf(text, sizeof text, "{%s}", entries);
    read_text(text);
    ck_assert_uint_eq(list.items[0].time.count, 0);
    ck_assert_msg(strstr(list.remark, "no time unit is stated") != NULL, "%s", list.remark);
    release();
}
END_TEST

/* --- wrong files ---------------------------------------------------------------------------------------------------
 */

START_TEST(wrong_files)
{
    static const struct {
        const char *text, *message;
        unsigned line, column;
    } cases[] = {
        {"", "a JSON object", 1, 1},
        {"[1]", "a JSON object", 1, 1},
        {"{\"a\": 1}", "no results of a tuner", 0, 0},
        {"{\"cache\": {\"1\": {\"time\": 1}}}", "without \"tune_params_keys\"", 0, 0},
        {"{\"results\": [\n {\"configuration\": {\"a\" 1}}]}", "':' expected", 2, 25},
        {"{\"results\": [1,]}", "a value expected", 1, 16},
        {"{\"results\": [01]}", "a value expected", 1, 16},
        {"{\"results\": [\"\xff\"]}", "UTF-8 expected", 1, 17},
        {"{\"results\": [\"\\ud800x\"]}", "surrogate", 1, 21},
        {"{\"results\": [] } {", "the end of the file expected", 1, 18},
        {"{\"results\": [}", "']' expected", 1, 14},
        {"{\"x\": [[1}, \"results\": []}", "expected", 0, 0},
        {"{\"results\": [], \"Results\": []}", "results a second time", 1, 28},
        {"{\"tune_params_keys\": [\"a\"], \"tune_params_keys\": [\"b\"]}", "a second time", 1, 49},
        {"{\"tune_params_keys\": [1]}", "names of fewer than", 1, 23},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error error;
        enum status status =
            claims_read_status(tuner_results_read, "x.json", cases[i].text, strlen(cases[i].text), &error);
        ck_assert_msg(status == STATUS_BAD_DATA && strstr(error.text, cases[i].message) != NULL, "%s: %s at %u:%u",
                      cases[i].text, error.text, error.line, error.column);
        if (cases[i].column > 0) {
            ck_assert_msg(error.line == cases[i].line && error.column == cases[i].column, "%s: %s at %u:%u",
                          cases[i].text, error.text, error.line, error.column);
        }
    }
}
END_TEST

/* A key twice in one entry: which of them holds is not known, so the entry is left out; in the head it is an error. */
START_TEST(keys_that_come_twice)
{
    static const char *const entries[] = {"\"tile\": 4, \"tile\": 5, \"time\": 1",
                                          "\"tile\": 4, \"time\": 1, \"time\": 2",
                                          "\"tile\": 4, \"times\": [1], \"times\": [2]"};
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        char text[2048];
        snprintf(text, sizeof text, CACHE_HEAD CACHE_GOOD ",\n\"1\": {%s}}}", entries[i]);
        read_text(text);
        ck_assert_uint_eq(list.count, 1);
        ck_assert_uint_eq(list.skipped, 1);
        ck_assert_msg(strstr(list.first_skipped, ":20: a result with a key twice") != NULL, "%s", list.first_skipped);
        release();
    }
    read_text("{\"results\": [{\"configuration\": {\"a\": 1}, \"configuration\": {\"b\": 1}}]}");
    ck_assert_uint_eq(list.count, 0);
    ck_assert_uint_eq(list.skipped, 1);
    release();
}
END_TEST

/* Nesting is bounded where it is looked into, and costs nothing where it is passed over. */
START_TEST(deep_nesting)
{
    struct text_buffer text = {0};
    struct error error;
    text_buffer_append(&text, "{\"results\": [{\"configuration\": {\"a\": 1}, \"x\": ");
    for (int i = 0; i < 100000; i++) {
        text_buffer_append(&text, "[");
    }
    size_t length = text.length;
    text_buffer_append(&text, "]}]}");
    ck_assert_int_eq(claims_read_status(tuner_results_read, "x.json", text.text, length, &error), STATUS_OK);
    text_buffer_release(&text);
    text_buffer_append(&text, "{\"results\": ");
    for (int i = 0; i < 200; i++) {
        text_buffer_append(&text, "[{\"configuration\": {\"a\": ");
    }
    (void)claims_read_status(tuner_results_read, "x.json", text.text, text.length, &error);
    text_buffer_release(&text);
}
END_TEST

START_TEST(more_knobs_than_are_kept)
{
    struct text_buffer text = {0};
    struct error error;
    text_buffer_append(&text, "{\"results\": [\n{\"configuration\": {");
    for (int i = 0; i < CLAIM_PARAMETERS_MAX + 1; i++) {
        text_buffer_append_format(&text, "%s\"k%d\": %d", i > 0 ? ", " : "", i, i);
    }
    text_buffer_append(&text, "}}]}");
    ck_assert_int_eq(claims_read_status(tuner_results_read, "x.json", text.text, text.length, &error), STATUS_LIMIT);
    ck_assert_uint_eq(error.line, 2);
    text_buffer_release(&text);
}
END_TEST

/* A small file that expands to 8 MiB of one array: taken or refused, within bounds. */
START_TEST(gzip_that_expands_a_lot)
{
    enum {
        BLOCK = 1 << 16,
        BLOCKS = 128
    };
    static char block[BLOCK];
    char path[] = "/tmp/occam-bomb-XXXXXX";
    int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    gzFile file = gzdopen(descriptor, "wb1");
    ck_assert_ptr_nonnull(file);
    static const char head[] = "{\"results\": [{\"configuration\": {\"a\": 1}, \"times\": {\"runtimes\": [0";
    ck_assert_int_gt(gzwrite(file, head, sizeof head - 1), 0);
    for (size_t i = 0; i < BLOCK; i += 2) {
        memcpy(block + i, ",1", 2);
    }
    for (size_t i = 0; i < BLOCKS; i++) {
        ck_assert_int_eq(gzwrite(file, block, BLOCK), BLOCK);
    }
    ck_assert_int_eq(gzclose(file), Z_OK);
    struct error error = {0};
    list = (struct kernel_claim_list){0};
    enum status status = tuner_results_read(path, &list, &error);
    remove(path);
    ck_assert_msg(status == STATUS_OK || status == STATUS_LIMIT, "%s", error.text);
    release();
}
END_TEST

Suite *suite_tuner_results(void)
{
    Suite *suite = suite_create("tuner_results");
    TCase *spaces_case = tcase_create("spaces"), *shapes = tcase_create("shapes"), *wrong = tcase_create("wrong");
    tcase_set_timeout(spaces_case, 60);
    tcase_add_loop_test(spaces_case, public_spaces, 0, (int)(sizeof spaces / sizeof spaces[0]));
    tcase_add_test(shapes, kernel_tuner_cache);
    tcase_add_test(shapes, kernel_tuner_cache_left_open);
    tcase_add_test(shapes, failures_of_all_kinds);
    tcase_add_test(shapes, head_behind_and_other_clock);
    tcase_add_test(shapes, t4_results);
    tcase_add_test(shapes, ktt_results);
    tcase_add_test(wrong, wrong_files);
    tcase_add_test(wrong, keys_that_come_twice);
    tcase_add_test(wrong, deep_nesting);
    tcase_add_test(wrong, more_knobs_than_are_kept);
    tcase_add_test(wrong, gzip_that_expands_a_lot);
    suite_add_tcase(suite, spaces_case);
    suite_add_tcase(suite, shapes);
    suite_add_tcase(suite, wrong);
    return suite;
}
