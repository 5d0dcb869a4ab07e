/* SPDX-License-Identifier: GPL-3.0-or-later
 * The device catalogue: the shipped files, forgiving names, the user's files, and malformed ones. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/csv.h"
#include "evidence/device_catalogue.h"
#include "tests/support/assert_close.h"
#include "tests/support/shared_data.h"
#include "tests/support/temp_dir.h"

Suite *suite_device_catalogue(void);

/* Each test has an empty configuration directory, so that the user's own files do not matter. */
static struct temp_dir home;
static struct device_catalogue *catalogue;
static struct error error;

static void set_up(void)
{
    temp_dir_create(&home);
    unsetenv("OCCAM_DEVICE_DIR");
    setenv("XDG_CONFIG_HOME", home.path, 1);
    memset(&error, 0, sizeof error);
    catalogue = NULL;
    ck_assert_msg(device_catalogue_create(&catalogue, &error) == STATUS_OK, "%s:%u: %s", error.file, error.line,
                  error.text);
}

static void tear_down(void)
{
    device_catalogue_free(catalogue);
    temp_dir_remove(&home);
}

static const char *message(void)
{
    static char text[1200];
    return error_describe(&error, text, sizeof text);
}

static const struct gpu_device *find(const char *name)
{
    const struct gpu_device *device = NULL;
    ck_assert_msg(device_catalogue_find(catalogue, name, &device, &error) == STATUS_OK, "%s: %s", name, message());
    return device;
}

/* ---- the shipped files ------------------------------------------------------------------------------------------ */

START_TEST(all_shipped_files_load_and_validate)
{
    size_t products = 0, capabilities = 0;
    for (size_t i = 0; i < device_catalogue_count(catalogue); i++) {
        const struct gpu_device *device = device_catalogue_get(catalogue, i);
        ck_assert_msg(gpu_device_validate(device, &error) == STATUS_OK, "%s: %s", device->name, message());
        ck_assert_str_eq(device_catalogue_origin(catalogue, device), "built in");
        ck_assert_ptr_eq(find(device->name), device);
        ck_assert_ptr_nonnull(device->chip);
        ck_assert_ptr_nonnull(device->memory_type);
        if (strncmp(device->name, "sm_", 3) == 0)
            capabilities++;
        else
            products++;
    }
    ck_assert_uint_ge(products, 42);
    ck_assert_uint_eq(capabilities, 12);
}
END_TEST

START_TEST(products_come_by_cc_then_name_and_titles_differ)
{
    bool bare = false;
    for (size_t i = 1; i < device_catalogue_count(catalogue); i++) {
        const struct gpu_device *last = device_catalogue_get(catalogue, i - 1);
        const struct gpu_device *device = device_catalogue_get(catalogue, i);
        unsigned last_cc = last->limits.cc_major * 10 + last->limits.cc_minor;
        unsigned cc = device->limits.cc_major * 10 + device->limits.cc_minor;
        bool starts_bare = !bare && strncmp(device->name, "sm_", 3) == 0;
        bare = bare || starts_bare;
        ck_assert_int_eq(strncmp(device->name, "sm_", 3) == 0, bare);
        if (!starts_bare)
            ck_assert_msg(last_cc < cc || (last_cc == cc && strcmp(last->name, device->name) < 0), "%s before %s",
                          last->name, device->name);
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(device_catalogue_get(catalogue, j)->title, device->title);
    }
    ck_assert(bare);
}
END_TEST

START_TEST(every_value_has_a_source)
{
    size_t figures = 0;
    for (size_t i = 0; i < device_catalogue_count(catalogue); i++) {
        const struct gpu_device *device = device_catalogue_get(catalogue, i);
        for (int id = 0; id < GPU_FIGURE_COUNT; id++) {
            const struct gpu_figure *figure = &device->figures[id];
            ck_assert_int_eq(isnan(figure->value), figure->source == INPUT_SOURCE_ABSENT);
            ck_assert_int_eq(figure->citation[0] == '\0', figure->source == INPUT_SOURCE_ABSENT);
            figures += figure->source != INPUT_SOURCE_ABSENT;
        }
    }
    ck_assert_uint_gt(figures, 42 * 25);
}
END_TEST

/* Predicting a time must be possible on every shipped product. */
START_TEST(every_product_can_be_timed)
{
    for (size_t i = 0; i < device_catalogue_count(catalogue); i++) {
        const struct gpu_device *device = device_catalogue_get(catalogue, i);
        enum status expected = strncmp(device->name, "sm_", 3) == 0 ? STATUS_MISSING : STATUS_OK;
        ck_assert_msg(gpu_device_require_timing(device, &error) == expected, "%s: %s", device->name, message());
    }
}
END_TEST

START_TEST(golden_device)
{
    const struct gpu_device *device = find("rtx-pro-6000-blackwell-server");
    assert_close_rel(gpu_device_value(device, GPU_FIGURE_SM_COUNT), 188.0, TOL_ROUNDING);
    assert_close_rel(gpu_device_value(device, GPU_FIGURE_DRAM_BANDWIDTH), 1.597e12, TOL_ROUNDING);
    assert_close_rel(gpu_device_value(device, GPU_FIGURE_DRAM_LATENCY), 329e-9, TOL_ROUNDING);
    assert_close_rel(gpu_device_value(device, GPU_FIGURE_L2_CAPACITY), 128.0 * 1048576.0, TOL_ROUNDING);
    ck_assert_int_eq(device->figures[GPU_FIGURE_BOOST_CLOCK].source, INPUT_SOURCE_ASSUMED);
    ck_assert_int_eq(device->figures[GPU_FIGURE_DRAM_BANDWIDTH].source, INPUT_SOURCE_DATASHEET);
    ck_assert(isnan(gpu_device_value(device, GPU_FIGURE_BF16_PEAK)));
    ck_assert_uint_eq(device->limits.smem_per_cta_optin_bytes, 101376);
    ck_assert_uint_eq(device->limits.smem_per_sm_bytes, 102400);
    ck_assert_uint_eq(device->limits.max_ctas_per_sm, 24);
    ck_assert_uint_eq(device->limits.carveout_count, 6);
    ck_assert_uint_eq(device->limits.carveout_kib[3], 32);
    ck_assert(device->limits.has_tma && !device->limits.has_wgmma && !device->limits.has_tcgen05);
}
END_TEST

START_TEST(limits_carry_their_notes)
{
    const char *note = device_catalogue_limits_note(catalogue, 12, 0);
    ck_assert_ptr_nonnull(strstr(note, "Programming Guide"));
    ck_assert_ptr_nonnull(strstr(note, "Tuning Guide says 32"));
    ck_assert_str_eq(device_catalogue_limits_note(catalogue, 77, 3), "");
}
END_TEST

static void compare_figure(const struct csv_table *table, size_t row, const char *column,
                           const struct gpu_device *device, enum gpu_figure_id id)
{
    size_t index = (size_t)csv_column(table, column);
    const char *text = csv_cell(table, row, index);
    if (text[0] == '\0')
        return;
    double value = 0.0;
    ck_assert_int_eq(csv_number(table, row, index, &value, &error), STATUS_OK);
    ck_assert_msg(is_close_rel(gpu_device_value(device, id) / gpu_figure_si_factor(id), value, TOL_ROUNDING),
                  "%s: %s is %.9g, the table says %s", device->name, column,
                  gpu_device_value(device, id) / gpu_figure_si_factor(id), text);
}

START_TEST(products_agree_with_the_collected_table)
{
    static const struct {
        const char *column;
        enum gpu_figure_id id;
    } columns[] = {
        {"sm", GPU_FIGURE_SM_COUNT},
        {"base_mhz", GPU_FIGURE_BASE_CLOCK},
        {"boost_mhz", GPU_FIGURE_BOOST_CLOCK},
        {"mem_gb", GPU_FIGURE_DRAM_CAPACITY},
        {"mem_bw_gbs", GPU_FIGURE_DRAM_BANDWIDTH},
        {"l2_mib", GPU_FIGURE_L2_CAPACITY},
        {"fp32_tflops", GPU_FIGURE_FP32_RATE},
        {"bf16_dense_tflops", GPU_FIGURE_BF16_PEAK},
        {"fp16_f32acc_dense_tflops", GPU_FIGURE_FP16_PEAK},
        {"fp16_f16acc_dense_tflops", GPU_FIGURE_FP16_FAST_PEAK},
        {"fp8_f32acc_dense_tflops", GPU_FIGURE_FP8_PEAK},
        {"fp8_fast_dense_tflops", GPU_FIGURE_FP8_FAST_PEAK},
        {"fp4_dense_tflops", GPU_FIGURE_FP4_PEAK},
        {"tdp_w", GPU_FIGURE_POWER},
    };
    char path[1024], name[128];
    struct csv_table table;
    if (!shared_data_path("products_agree_with_the_collected_table", "hw/hw_gpus.csv", path, sizeof path))
        return;
    ck_assert_int_eq(csv_read(path, 1 << 20, &table, &error), STATUS_OK);
    ck_assert_uint_eq(table.row_count, 42);
    for (size_t row = 0; row < table.row_count; row++) {
        snprintf(name, sizeof name, "%s", csv_cell(&table, row, (size_t)csv_column(&table, "name")));
        name[strcspn(name, "(")] = '\0'; /* "(HGX)", "(per GPU)" */
        const struct gpu_device *device = find(name);
        snprintf(name, sizeof name, "%u.%u", device->limits.cc_major, device->limits.cc_minor);
        ck_assert_str_eq(name, csv_cell(&table, row, (size_t)csv_column(&table, "cc")));
        for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
            compare_figure(&table, row, columns[i].column, device, columns[i].id);
    }
    csv_table_release(&table);
}
END_TEST

static void compare_limit(const struct csv_table *table, size_t row, const char *column, uint32_t value)
{
    double expected = 0.0;
    ck_assert_int_eq(csv_number(table, row, (size_t)csv_column(table, column), &expected, &error), STATUS_OK);
    ck_assert_msg((double)value == expected, "%s: %u, the table says %g", column, (unsigned)value, expected);
}

START_TEST(limits_agree_with_the_collected_table)
{
    char path[1024], list[256];
    struct csv_table table;
    if (!shared_data_path("limits_agree_with_the_collected_table", "hw/hw_cc.csv", path, sizeof path))
        return;
    ck_assert_int_eq(csv_read(path, 1 << 20, &table, &error), STATUS_OK);
    ck_assert_uint_eq(table.row_count, 12);
    for (size_t row = 0; row < table.row_count; row++) {
        const struct gpu_limits *limits = &find(csv_cell(&table, row, 0))->limits;
        compare_limit(&table, row, "max_warps_sm", limits->max_warps_per_sm);
        compare_limit(&table, row, "max_blocks_sm", limits->max_ctas_per_sm);
        compare_limit(&table, row, "regs32_sm", limits->registers_per_sm);
        compare_limit(&table, row, "max_regs_thread", limits->max_registers_per_thread);
        compare_limit(&table, row, "max_regs_block", limits->max_registers_per_cta);
        compare_limit(&table, row, "reg_alloc_unit", limits->register_allocation_unit);
        compare_limit(&table, row, "warp_alloc_gran", limits->warp_allocation_granularity);
        compare_limit(&table, row, "smem_sm_bytes", limits->smem_per_sm_bytes);
        compare_limit(&table, row, "smem_block_optin_bytes", limits->smem_per_cta_optin_bytes);
        compare_limit(&table, row, "smem_block_default_bytes", limits->smem_per_cta_default_bytes);
        compare_limit(&table, row, "smem_reserved_per_block_bytes", limits->smem_reserved_per_cta_bytes);
        compare_limit(&table, row, "smem_alloc_gran_bytes", limits->smem_allocation_unit_bytes);
        compare_limit(&table, row, "subpartitions", limits->sub_cores_per_sm);
        if (limits->cc_major >= 9) {
            compare_limit(&table, row, "named_barrier_pool_sm", limits->named_barriers_per_sm);
            compare_limit(&table, row, "cluster_portable", limits->max_cluster_portable);
        } else {
            ck_assert_uint_eq(limits->named_barriers_per_sm, 0);
            ck_assert_uint_eq(limits->max_cluster, 0);
        }
        int length = 0;
        for (uint32_t i = 0; i < limits->carveout_count; i++)
            length += snprintf(list + length, sizeof list - (size_t)length, "%s%u", i ? ";" : "",
                               (unsigned)limits->carveout_kib[i]);
        ck_assert_str_eq(list, csv_cell(&table, row, (size_t)csv_column(&table, "smem_carveouts_kib")));
        ck_assert_int_eq(limits->has_tma, csv_cell(&table, row, (size_t)csv_column(&table, "tma"))[0] == '1');
        ck_assert_int_eq(limits->has_wgmma, csv_cell(&table, row, (size_t)csv_column(&table, "wgmma"))[0] == 'a');
        ck_assert_int_eq(limits->has_tcgen05, csv_cell(&table, row, (size_t)csv_column(&table, "tcgen05"))[0] == 'a');
        ck_assert_int_eq(limits->has_cp_async, csv_cell(&table, row, (size_t)csv_column(&table, "cp_async"))[0] == '1');
    }
    csv_table_release(&table);
}
END_TEST

/* ---- names ------------------------------------------------------------------------------------------------------ */

static const struct {
    const char *given, *found;
} names[] = {
    {"rtx-pro-6000-blackwell-server", "rtx-pro-6000-blackwell-server"},
    {"RTX PRO 6000 Blackwell Server", "rtx-pro-6000-blackwell-server"},
    {"NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx-pro-6000-blackwell-server"},
    {"rtx_pro_6000_blackwell_server", "rtx-pro-6000-blackwell-server"},
    {"RTXPRO6000BLACKWELLSERVER", "rtx-pro-6000-blackwell-server"},
    {"max-q", "rtx-pro-6000-blackwell-max-q"},
    {"H200", "nvidia-h200"},
    {"h200", "nvidia-h200"},
    {"nvidia h200", "nvidia-h200"},
    {"NVIDIA GeForce RTX 5090", "geforce-rtx-5090"},
    {"rtx 5090", "geforce-rtx-5090"},
    {"5090", "geforce-rtx-5090"},
    {"RTX 5070", "geforce-rtx-5070"}, /* not the Ti */
    {"b200", "b200-sxm"},             /* the start of a name goes before GB200's inside */
    {"l4", "l4"},
    {"T4", "t4"},
    {"a10", "a10"},
    {"Thor", "jetson-agx-thor"},
    {"DGX Spark", "gb10"},
    {"A100-SXM4-80GB", "a100-sxm4-80gb"},
    {"sm_120", "sm_120"},
    {"sm120", "sm_120"},
    {"SM_120a", "sm_120"},
    {"12.0", "sm_120"},
    {"sm_75", "sm_75"},
    {"9.0", "sm_90"},
};

START_TEST(finds_forgiving_names)
{
    ck_assert_str_eq(find(names[_i].given)->name, names[_i].found);
}
END_TEST

START_TEST(a_bare_compute_capability_has_limits_only)
{
    const struct gpu_device *device = find("sm_120");
    ck_assert_uint_eq(device->limits.cc_major, 12);
    ck_assert_uint_eq(device->limits.max_warps_per_sm, 48);
    ck_assert_str_eq(device->title, "compute capability 12.0 (Blackwell RTX 50 and RTX PRO)");
    for (int id = 0; id < GPU_FIGURE_COUNT; id++) {
        ck_assert_int_eq(device->figures[id].source, INPUT_SOURCE_ABSENT);
        ck_assert(isnan(device->figures[id].value));
        ck_assert_str_eq(device->figures[id].citation, "");
    }
}
END_TEST

static const struct {
    const char *given, *message;
} refused_names[] = {
    {"rtx pro 6000", "'rtx pro 6000' could be rtx-pro-6000-blackwell-max-q, rtx-pro-6000-blackwell-server, "
                     "rtx-pro-6000-blackwell-workstation"},
    {"v100", "'v100' could be v100-pcie, v100-sxm2-32gb"},
    {"sm_130", "no compute capability 'sm_130'; known are 7.0, 7.5, 8.0, 8.6, 8.7, 8.9, 9.0, 10.0, 10.3, 11.0, 12.0, "
               "12.1"},
    {"10.1", "no compute capability '10.1'; known are 7.0, 7.5, 8.0, 8.6, 8.7, 8.9, 9.0, 10.0, 10.3, 11.0, 12.0, 12.1"},
    {"", "an empty device name"},
    {" -_", "an empty device name"},
};

START_TEST(refuses_ambiguous_and_unknown_names)
{
    const struct gpu_device *device = NULL;
    ck_assert_int_eq(device_catalogue_find(catalogue, refused_names[_i].given, &device, &error), STATUS_NOT_FOUND);
    ck_assert_str_eq(message(), refused_names[_i].message);
    ck_assert_ptr_null(device);
}
END_TEST

START_TEST(unknown_names_list_near_ones)
{
    const struct gpu_device *device = NULL;
    ck_assert_int_eq(device_catalogue_find(catalogue, "rtx 5900", &device, &error), STATUS_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(error.text, "no device 'rtx 5900'; near names: geforce-rtx-5090, "));
    ck_assert_int_eq(device_catalogue_find(catalogue, "h2000", &device, &error), STATUS_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(error.text, "near names: nvidia-h200, "));
    ck_assert_int_eq(device_catalogue_find(catalogue, "nope", &device, &error), STATUS_NOT_FOUND);
    ck_assert_ptr_null(strstr(error.text, "near names"));
    char longest[5000];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    ck_assert_int_eq(device_catalogue_find(catalogue, longest, &device, &error), STATUS_NOT_FOUND);
    ck_assert_uint_lt(strlen(error.text), 400);
}
END_TEST

/* ---- the user's files ------------------------------------------------------------------------------------------- */

#define HEADER "field,value,unit,source,kind,note\n"
#define SMALL  HEADER "title,My GPU,text,me,measured,\ncc,9.0,text,me,measured,\nsm_count,100,count,me,measured,\n"

START_TEST(the_users_directory_adds_and_replaces)
{
    char path[1024], file[1100];
    temp_dir_path(&home, "occam", path, sizeof path);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    temp_dir_path(&home, "occam/devices", path, sizeof path);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    temp_dir_write(&home, "occam/devices/nvidia-h200.csv", SMALL, strlen(SMALL), file, sizeof file);
    temp_dir_write(&home, "occam/devices/h200.csv", SMALL, strlen(SMALL), file, sizeof file);
    temp_dir_write(&home, "occam/devices/notes.txt", "not a device", 12, file, sizeof file);
    size_t before = device_catalogue_count(catalogue);
    device_catalogue_free(catalogue);
    catalogue = NULL;
    ck_assert_msg(device_catalogue_create(&catalogue, &error) == STATUS_OK, "%s", message());
    ck_assert_uint_eq(device_catalogue_count(catalogue), before + 1);
    const struct gpu_device *device = find("nvidia-h200");
    ck_assert_str_eq(device->title, "My GPU");
    assert_close_rel(gpu_device_value(device, GPU_FIGURE_SM_COUNT), 100.0, TOL_ROUNDING);
    ck_assert_uint_eq(device->limits.smem_per_sm_bytes, 233472);
    ck_assert_ptr_nonnull(strstr(device_catalogue_origin(catalogue, device), "occam/devices/nvidia-h200.csv"));
    ck_assert_str_eq(find("h200")->name, "h200"); /* as it is spelt, although nvidia-h200 normalizes to the same */
}
END_TEST

START_TEST(the_directory_of_the_environment_goes_first_and_must_exist)
{
    char file[1100];
    temp_dir_write(&home, "mine.csv", SMALL, strlen(SMALL), file, sizeof file);
    setenv("OCCAM_DEVICE_DIR", home.path, 1);
    device_catalogue_free(catalogue);
    catalogue = NULL;
    ck_assert_msg(device_catalogue_create(&catalogue, &error) == STATUS_OK, "%s", message());
    ck_assert_str_eq(find("mine")->title, "My GPU");
    struct device_catalogue *none = NULL;
    setenv("OCCAM_DEVICE_DIR", file, 1);
    ck_assert_int_eq(device_catalogue_create(&none, &error), STATUS_MISSING);
    setenv("OCCAM_DEVICE_DIR", "/nonexistent/devices", 1);
    ck_assert_int_eq(device_catalogue_create(&none, &error), STATUS_MISSING);
    ck_assert_str_eq(error.file, "/nonexistent/devices");
    temp_dir_write(&home, "bad.csv", "oops\n", 5, file, sizeof file);
    setenv("OCCAM_DEVICE_DIR", home.path, 1);
    ck_assert_int_eq(device_catalogue_create(&none, &error), STATUS_BAD_DATA);
    ck_assert_str_eq(error.file, file);
    ck_assert_ptr_null(none);
    unsetenv("OCCAM_DEVICE_DIR");
}
END_TEST

START_TEST(a_replaced_device_stays_readable)
{
    char file[1100];
    const struct gpu_device *before = find("nvidia-h200"), *after = NULL;
    temp_dir_write(&home, "nvidia-h200.csv", SMALL, strlen(SMALL), file, sizeof file);
    size_t count = device_catalogue_count(catalogue);
    ck_assert_int_eq(device_catalogue_add_file(catalogue, file, &after, &error), STATUS_OK);
    ck_assert_int_eq(device_catalogue_add_file(catalogue, file, NULL, &error), STATUS_OK);
    ck_assert_uint_eq(device_catalogue_count(catalogue), count);
    ck_assert_str_eq(before->title, "H200 SXM 141GB");
    ck_assert_str_eq(device_catalogue_origin(catalogue, before), "built in");
    ck_assert_str_eq(after->title, "My GPU");
    ck_assert_str_eq(after->figures[GPU_FIGURE_SM_COUNT].citation, "me");
}
END_TEST

#define TITLE "title,X,text,me,measured,\n"
#define CC    "cc,12.0,text,me,measured,\n"
#define SMS   "sm_count,37,count,me,measured,\n"
#define CLOCK "boost_clock_mhz,1913,MHz,me,measured,\n"

static const struct {
    const char *text, *message; /* behind the file name */
} malformed[] = {
    {"", ":1: a header line with column names is expected, the file has none"},
    {"\n# comment\n", ":3: a header line with column names is expected, the file has none"},
    {HEADER, ": no rows below the header"},
    {"a,b\n1,2\n", ": no column 'field'; a device file has field,value,unit,source,kind,note"},
    {"field,value,unit,source,kind,note,extra\n", ": 7 columns; a device file has field,value,unit,source,kind,note"},
    {HEADER TITLE CC "sm_count,37,count,,measured,\n", ":4: sm_count: no source"},
    {HEADER TITLE CC "sm_count,,count,me,measured,\n", ":4: sm_count: no value; leave the row out if it is unknown"},
    {HEADER TITLE CC "sm_count,37,,me,measured,\n", ":4: sm_count: no unit"},
    {HEADER TITLE CC SMS "boost_clock_mhz,1.9,GHz,me,measured,\n", ":5: boost_clock_mhz: unit 'GHz', expected 'MHz'"},
    {HEADER TITLE CC "sm_count,-37,count,me,measured,\n", ":4: sm_count is -37, expected 1 to 1024 count"},
    {HEADER TITLE CC "sm_count,many,count,me,measured,\n",
     ":4: sm_count: value 'many', a finite decimal number is expected"},
    {HEADER TITLE CC "sm_count,nan,count,me,measured,\n",
     ":4: sm_count: value 'nan', a finite decimal number is expected"},
    {HEADER TITLE CC SMS SMS, ":5: field 'sm_count' again, first on line 4"},
    {HEADER TITLE CC SMS "boost_clock,1913,MHz,me,measured,\n",
     ":5: unknown field 'boost_clock'; the nearest known one is 'boost_clock_mhz'"},
    {HEADER TITLE "cc,9.9,text,me,measured,\n" SMS,
     ":3: cc: compute capability 9.9 is unknown, known are 7.0, 7.5, 8.0, 8.6, 8.7, 8.9, 9.0, 10.0, 10.3, 11.0, 12.0, "
     "12.1"},
    {HEADER TITLE "cc,120,text,me,measured,\n" SMS, ":3: cc: expected a compute capability such as 12.0, not 120"},
    {HEADER TITLE CC "sm_count,37,count,me,guessed,\n",
     ":4: sm_count: kind 'guessed', expected measured, datasheet, literature or assumed"},
    {HEADER TITLE CC SMS "gpc_sms,12;12;12,SMs,me,measured,\n", ":5: gpc_sms adds up to 36 SMs, sm_count is 37"},
    {HEADER TITLE CC SMS "gpc_sms,12 25,SMs,me,measured,\n",
     ":5: gpc_sms: expected at most 64 whole numbers between semicolons, not 12 25"},
    {HEADER TITLE SMS, ": field 'cc' is missing"},
    {HEADER CC SMS, ": field 'title' is missing"},
    {HEADER TITLE CC, ": field 'sm_count' is missing"},
    {HEADER TITLE CC SMS CLOCK "bf16_flop_per_cycle_per_sm,1039,flop/cycle/SM,me,measured,\n"
                               "bf16_tflop_per_s,147.1,TFLOP/s,me,datasheet,sparse?\n",
     ":7: bf16_tflop_per_s is 147.1, but bf16_flop_per_cycle_per_sm x SMs x boost clock gives 73.5415; correct one of "
     "them or note the disagreement"},
    {HEADER TITLE CC SMS "l2_capacity_mib,\"29\n", ":5:17: the quote that opens here is never closed"},
    {HEADER TITLE CC "sm_count,37,count\n", ":4: 3 fields where the header has 6 columns"},
};

START_TEST(malformed_files_are_refused_with_their_line)
{
    char file[1100], expected[1800];
    temp_dir_write(&home, "bad.csv", malformed[_i].text, strlen(malformed[_i].text), file, sizeof file);
    const struct gpu_device *device = NULL;
    size_t count = device_catalogue_count(catalogue);
    ck_assert_int_eq(device_catalogue_add_file(catalogue, file, &device, &error), STATUS_BAD_DATA);
    snprintf(expected, sizeof expected, "%s%s", file, malformed[_i].message);
    ck_assert_str_eq(message(), expected);
    ck_assert_ptr_null(device);
    ck_assert_uint_eq(device_catalogue_count(catalogue), count);
}
END_TEST

START_TEST(files_that_are_no_text_are_refused)
{
    static const char elf[] = "\x7f"
                              "ELF\x02\x01\x01\0\0\0";
    char file[1100];
    const struct gpu_device *device = NULL;
    temp_dir_write(&home, "binary.csv", elf, sizeof elf - 1, file, sizeof file);
    ck_assert_int_eq(device_catalogue_add_file(catalogue, file, &device, &error), STATUS_BAD_DATA);
    ck_assert_uint_eq(error.line, 1);
    ck_assert_str_eq(error.text, "a NUL byte; a CSV text file is expected");
    ck_assert_int_eq(device_catalogue_add_file(catalogue, home.path, &device, &error), STATUS_BAD_DATA);
    ck_assert_str_eq(error.text, "is a directory, a file is expected");
    ck_assert_int_eq(device_catalogue_add_file(catalogue, "/nonexistent.csv", &device, &error), STATUS_MISSING);
    char *large = malloc(2 << 20);
    ck_assert_ptr_nonnull(large);
    memset(large, 'x', 2 << 20);
    temp_dir_write(&home, "large.csv", large, 2 << 20, file, sizeof file);
    free(large);
    ck_assert_int_eq(device_catalogue_add_file(catalogue, file, &device, &error), STATUS_LIMIT);
}
END_TEST

START_TEST(the_files_name_must_do_as_a_name)
{
    char file[1100];
    temp_dir_write(&home, "sm_99.csv", SMALL, strlen(SMALL), file, sizeof file);
    ck_assert_int_eq(device_catalogue_add_file(catalogue, file, NULL, &error), STATUS_BAD_DATA);
    ck_assert_str_eq(error.text, "a device cannot be called after a compute capability, rename the file");
    char name[80];
    memset(name, 'n', 64);
    memcpy(name + 64, ".csv", 5);
    temp_dir_write(&home, name, SMALL, strlen(SMALL), file, sizeof file);
    ck_assert_int_eq(device_catalogue_add_file(catalogue, file, NULL, &error), STATUS_BAD_DATA);
    ck_assert_str_eq(error.text, "the file's name names the device: 1 to 63 bytes");
    memcpy(name + 63, ".csv", 5);
    temp_dir_write(&home, name, SMALL, strlen(SMALL), file, sizeof file);
    ck_assert_int_eq(device_catalogue_add_file(catalogue, file, NULL, &error), STATUS_OK);
}
END_TEST

Suite *suite_device_catalogue(void)
{
    Suite *suite = suite_create("device_catalogue");
    TCase *tests = tcase_create("device_catalogue");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, all_shipped_files_load_and_validate);
    tcase_add_test(tests, products_come_by_cc_then_name_and_titles_differ);
    tcase_add_test(tests, every_value_has_a_source);
    tcase_add_test(tests, every_product_can_be_timed);
    tcase_add_test(tests, golden_device);
    tcase_add_test(tests, limits_carry_their_notes);
    tcase_add_test(tests, products_agree_with_the_collected_table);
    tcase_add_test(tests, limits_agree_with_the_collected_table);
    tcase_add_loop_test(tests, finds_forgiving_names, 0, sizeof names / sizeof names[0]);
    tcase_add_test(tests, a_bare_compute_capability_has_limits_only);
    tcase_add_loop_test(tests, refuses_ambiguous_and_unknown_names, 0, sizeof refused_names / sizeof refused_names[0]);
    tcase_add_test(tests, unknown_names_list_near_ones);
    tcase_add_test(tests, the_users_directory_adds_and_replaces);
    tcase_add_test(tests, the_directory_of_the_environment_goes_first_and_must_exist);
    tcase_add_test(tests, a_replaced_device_stays_readable);
    tcase_add_loop_test(tests, malformed_files_are_refused_with_their_line, 0, sizeof malformed / sizeof malformed[0]);
    tcase_add_test(tests, files_that_are_no_text_are_refused);
    tcase_add_test(tests, the_files_name_must_do_as_a_name);
    suite_add_tcase(suite, tests);
    return suite;
}
