/* SPDX-License-Identifier: GPL-3.0-or-later
 * The committed resource tables of the verification kernels: consistent everywhere, complete for the plans, and what
 * the compiler says where there is one. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/text_buffer.h"
#include "calibrate/campaign.h"
#include "evidence/embedded_data.h"
#include "kernels/measure.h"

Suite *suite_kernel_resources(void);

static const unsigned archs[] = {80, 90, 100, 120};
enum {
    ARCH_COUNT = 4,
    COLUMNS_MAX = 32
};
static const char *const figure_columns[] = {"registers_per_thread", "spill_store_bytes", "spill_load_bytes",
                                             "local_bytes",          "static_smem_bytes", "barriers"};
enum {
    FIGURE_COUNT = sizeof figure_columns / sizeof *figure_columns
};

/* One kernel's table with the columns that matter found. */
struct resource_table {
    const struct measure_kernel *kernel;
    struct csv_table csv;
    int major, minor; /* of the compiler, out of the source comment */
    long arch, entry, dynamic, per_token;
    long settings[MEASURE_SETTINGS_MAX]; /* column of each compiled setting, else -1 */
    long figures[FIGURE_COUNT];
};

static long whole(const struct csv_table *csv, size_t row, long column)
{
    double value = 0.0;
    struct error error = {0};
    if (csv_number(csv, row, (size_t)column, &value, &error) != STATUS_OK)
        ck_abort_msg("%s", error.text);
    if (!(value >= 0.0 && value <= 1e9 && value == (double)(long)value))
        ck_abort_msg("%s:%u: %g", csv->file, csv->lines[row], value);
    return (long)value;
}

static long column_of(const struct csv_table *csv, const char *name)
{
    long column = csv_column(csv, name);
    ck_assert_msg(column >= 0, "%s has no column %s", csv->file, name);
    return column;
}

static void open_table(const struct measure_kernel *kernel, struct resource_table *table)
{
    char path[80];
    struct error error = {0};
    snprintf(path, sizeof path, "resources/%s.csv", kernel->name);
    for (char *c = path; *c; c++)
        *c = *c == '_' ? '-' : *c;
    const struct embedded_file *file = embedded_file_find(path);
    ck_assert_msg(file != NULL, "%s is not built in", path);
    table->kernel = kernel;
    const char *version = strstr(file->begin, "compiled by NVRTC ");
    ck_assert_msg(version && sscanf(version, "compiled by NVRTC %d.%d ", &table->major, &table->minor) == 2,
                  "%s does not name its compiler", path);
    ck_assert_msg(csv_parse(file->begin, file->length, path, &table->csv, &error) == STATUS_OK, "%s", error.text);
    table->arch = column_of(&table->csv, "compute_capability");
    table->entry = column_of(&table->csv, "entry");
    table->dynamic = csv_column(&table->csv, "dynamic_smem_bytes");
    table->per_token = csv_column(&table->csv, "dynamic_smem_bytes_per_token");
    for (size_t i = 0; i < kernel->setting_count; i++)
        table->settings[i] = kernel->settings[i].compiled ? column_of(&table->csv, kernel->settings[i].name) : -1;
    for (size_t i = 0; i < FIGURE_COUNT; i++)
        table->figures[i] = column_of(&table->csv, figure_columns[i]);
}

static bool same_key(const struct resource_table *table, size_t left, size_t right)
{
    bool same = strcmp(csv_cell(&table->csv, left, (size_t)table->arch),
                       csv_cell(&table->csv, right, (size_t)table->arch)) == 0 &&
                strcmp(csv_cell(&table->csv, left, (size_t)table->entry),
                       csv_cell(&table->csv, right, (size_t)table->entry)) == 0;
    for (size_t i = 0; same && i < table->kernel->setting_count; i++)
        if (table->settings[i] >= 0)
            same = strcmp(csv_cell(&table->csv, left, (size_t)table->settings[i]),
                          csv_cell(&table->csv, right, (size_t)table->settings[i])) == 0;
    return same;
}

START_TEST(tables_are_consistent)
{
    struct resource_table table = {0};
    open_table(measure_kernel_get((size_t)_i), &table);
    const struct csv_table *csv = &table.csv;
    ck_assert_uint_ge(csv->row_count, ARCH_COUNT);
    for (size_t row = 0; row < csv->row_count; row++) {
        long figures[FIGURE_COUNT];
        bool known = false;
        for (size_t i = 0; i < ARCH_COUNT; i++)
            known = known || whole(csv, row, table.arch) == (long)archs[i];
        ck_assert_msg(known, "%s:%u: another compute capability", csv->file, csv->lines[row]);
        for (size_t i = 0; i < FIGURE_COUNT; i++)
            figures[i] = whole(csv, row, table.figures[i]);
        ck_assert_msg(figures[0] >= 8 && figures[0] <= 255, "%s:%u: %ld registers", csv->file, csv->lines[row],
                      figures[0]);
        ck_assert_msg((figures[1] == 0 && figures[2] == 0) || figures[3] > 0, "%s:%u spills to nowhere", csv->file,
                      csv->lines[row]);
        ck_assert_msg(figures[4] <= 49152, "%s:%u: static SMEM", csv->file, csv->lines[row]);
        ck_assert_msg(figures[5] <= 16, "%s:%u: barriers", csv->file, csv->lines[row]);
        ck_assert(table.dynamic < 0 || whole(csv, row, table.dynamic) <= (1 << 20));
        for (size_t i = 0; i < table.kernel->setting_count; i++)
            if (table.settings[i] >= 0)
                ck_assert_msg(whole(csv, row, table.settings[i]) >= (long)table.kernel->settings[i].minimum &&
                                  whole(csv, row, table.settings[i]) <= (long)table.kernel->settings[i].maximum,
                              "%s:%u: %s", csv->file, csv->lines[row], table.kernel->settings[i].name);
        for (size_t other = 0; other < row; other++)
            if (same_key(&table, row, other)) /* a message per pair would fill the runner */
                ck_abort_msg("%s:%u says again what line %u says", csv->file, csv->lines[row], csv->lines[other]);
    }
    csv_table_release(&table.csv);
}
END_TEST

/* ---- plans ------------------------------------------------------------------------------------------------------- */

static bool row_fits(const struct resource_table *table, size_t row, const char *entry, unsigned arch,
                     const struct measure_config *config)
{
    if (whole(&table->csv, row, table->arch) != (long)arch ||
        strcmp(csv_cell(&table->csv, row, (size_t)table->entry), entry) != 0)
        return false;
    for (size_t i = 0; i < table->kernel->setting_count; i++)
        if (table->settings[i] >= 0 && whole(&table->csv, row, table->settings[i]) != (long)config->values[i])
            return false;
    return true;
}

/* The row of one entry point, or -1. */
static long find_row(const struct resource_table *table, const char *entry, unsigned arch,
                     const struct measure_config *config)
{
    for (size_t row = 0; row < table->csv.row_count; row++)
        if (row_fits(table, row, entry, arch, config))
            return (long)row;
    return -1;
}

/* What a launch asks for beyond the column: the index list of a split's tokens. */
static uint64_t dynamic_of(const struct resource_table *table, size_t row, const struct measure_config *config)
{
    uint64_t bytes = (uint64_t)whole(&table->csv, row, table->dynamic);
    if (table->per_token < 0)
        return bytes;
    int64_t tile = measure_config_value(config, "block_t"), splits = measure_config_value(config, "splits");
    int64_t tiles = (measure_config_value(config, "tokens") + tile - 1) / tile;
    return bytes +
           (uint64_t)whole(&table->csv, row, table->per_token) * (uint64_t)((tiles + splits - 1) / splits * tile);
}

static bool same_code(const struct measure_config *left, const struct measure_config *right)
{
    bool same = left->kernel == right->kernel;
    for (size_t i = 0; same && i < left->kernel->setting_count; i++)
        same = left->values[i] == right->values[i];
    return same;
}

/* Every entry point that the configuration launches has a row, and the launch's dynamic SMEM is the row's. */
static void check_config(struct resource_table *tables, struct measure_compiler *none,
                         const struct measure_config *config)
{
    char text[1024];
    struct resource_table *table = NULL;
    for (size_t k = 0; k < measure_kernel_count(); k++)
        if (measure_kernel_get(k) == config->kernel)
            table = &tables[k];
    ck_assert(table != NULL);
    for (size_t a = 0; a < ARCH_COUNT; a++) {
        struct measure_result result;
        struct error error = {0};
        enum status status = measure_compile(none, config, archs[a], 132, &result, &error);
        ck_assert(status == STATUS_OK || status == STATUS_MISSING);
        if (result.outcome == MEASURE_OUTCOME_INFEASIBLE)
            continue;
        for (uint32_t s = 0; s < result.stage_count; s++) {
            const struct measure_resources *stage = &result.stages[s];
            long row = find_row(table, stage->entry, archs[a], config);
            ck_assert_msg(row >= 0, "sm_%u: no row for %s of %s", archs[a], stage->entry,
                          measure_config_format(config, text, sizeof text));
            if (table->dynamic >= 0)
                ck_assert_msg(dynamic_of(table, (size_t)row, config) == stage->dynamic_smem_bytes,
                              "line %u: %llu bytes asked for", table->csv.lines[row],
                              (unsigned long long)stage->dynamic_smem_bytes);
        }
    }
}

static const char *const plans[] = {"sparse", "gqa",   "gemm",  "best",     "profile",
                                    "noise",  "micro", "waves", "clusters", "embedded"};

START_TEST(every_configuration_of_the_plans_has_a_row)
{
    char path[80], *text;
    size_t length;
    struct campaign_plan plan;
    struct error error = {0};
    struct measure_compiler *none;
    struct resource_table *tables = calloc(measure_kernel_count(), sizeof *tables);
    ck_assert(tables != NULL);
    for (size_t k = 0; k < measure_kernel_count(); k++)
        open_table(measure_kernel_get(k), &tables[k]);
    ck_assert_int_eq(measure_compiler_create("", NULL, &none, &error), STATUS_OK);
    snprintf(path, sizeof path, "data/campaigns/%s.plan", plans[_i]);
    ck_assert_msg(file_read_text(path, 1 << 20, &text, &length, &error) == STATUS_OK, "%s", error.text);
    ck_assert_msg(campaign_plan_parse(text, path, 100000, &plan, &error) == STATUS_OK, "%s", error.text);
    free(text);
    ck_assert_uint_gt(plan.count, 0);
    size_t step = getenv("TEST_QUICK") ? 16 : 1;
    for (size_t i = 0; i < plan.count; i += step)
        if (i == 0 || !same_code(&plan.configs[i - 1], &plan.configs[i]))
            check_config(tables, none, &plan.configs[i]);
    campaign_plan_release(&plan);
    measure_compiler_free(none);
    for (size_t k = 0; k < measure_kernel_count(); k++)
        csv_table_release(&tables[k].csv);
    free(tables);
}
END_TEST

/* ---- the compiler ------------------------------------------------------------------------------------------------ */

/* NULL where there is no NVRTC, or not the one of the tables, whose figures alone must agree; `why` says which. */
static struct measure_compiler *open_compiler(const struct resource_table *table, char why[80])
{
    struct measure_compiler *compiler;
    struct error error = {0};
    int major, minor;
    ck_assert_int_eq(measure_compiler_create(NULL, NULL, &compiler, &error), STATUS_OK);
    measure_compiler_version(compiler, &major, &minor);
    if (getenv("TEST_QUICK"))
        snprintf(why, 80, "quick run");
    else if (major == 0)
        snprintf(why, 80, "NVRTC is not here");
    else if (major != table->major || minor != table->minor)
        snprintf(why, 80, "NVRTC %d.%d is here, not %d.%d", major, minor, table->major, table->minor);
    else
        return compiler;
    measure_compiler_free(compiler);
    return NULL;
}

static void compile_row(const struct resource_table *table, size_t row, struct measure_compiler *compiler)
{
    char text[1024];
    struct measure_config config;
    struct measure_result result;
    struct error error = {0};
    size_t used = (size_t)snprintf(text, sizeof text, "%s", table->kernel->name);
    for (size_t i = 0; i < table->kernel->setting_count; i++)
        if (table->settings[i] >= 0)
            used += (size_t)snprintf(text + used, sizeof text - used, " %s=%s", table->kernel->settings[i].name,
                                     csv_cell(&table->csv, row, (size_t)table->settings[i]));
    const char *entry = csv_cell(&table->csv, row, (size_t)table->entry);
    if (strstr(entry, "combine"))
        snprintf(text + used, sizeof text - used, " splits=2");
    /* Settings of the launch with which every compiled one fits. */
    if (strcmp(table->kernel->name, "gemm_tile") == 0)
        snprintf(text + used, sizeof text - used, " m=256 n=256");
    if (strcmp(table->kernel->name, "latency_chase") == 0)
        snprintf(text + used, sizeof text - used, " links=1024 stride_bytes=128");
    if (strcmp(table->kernel->name, "smem_bandwidth") == 0)
        snprintf(text + used, sizeof text - used, " warps=2");
    ck_assert_msg(measure_config_parse(text, &config, &error) == STATUS_OK, "%s: %s", text, error.text);
    unsigned arch = (unsigned)whole(&table->csv, row, table->arch);
    ck_assert_msg(measure_compile(compiler, &config, arch, 132, &result, &error) == STATUS_OK, "%s", error.text);
    ck_assert_msg(result.outcome == MEASURE_OUTCOME_OK, "%s sm_%u: %s", text, arch, result.reason);
    const struct measure_resources *stage = &result.stages[strstr(entry, "combine") ? 1 : 0];
    ck_assert_str_eq(stage->entry, entry);
    const long found[FIGURE_COUNT] = {stage->registers_per_thread, stage->spill_store_bytes, stage->spill_load_bytes,
                                      stage->local_bytes,          stage->static_smem_bytes, stage->barriers};
    for (size_t i = 0; i < FIGURE_COUNT; i++)
        ck_assert_msg(found[i] == whole(&table->csv, row, table->figures[i]), "%s:%u: %s sm_%u: %s is %ld now",
                      table->csv.file, table->csv.lines[row], text, arch, figure_columns[i], found[i]);
}

/* For every kernel and architecture two rows compiled again, at other places for every kernel. */
START_TEST(tables_are_what_the_compiler_says)
{
    struct resource_table table = {0};
    char why[80];
    open_table(measure_kernel_get((size_t)_i), &table);
    struct measure_compiler *compiler = open_compiler(&table, why);
    for (size_t a = 0; compiler && a < ARCH_COUNT; a++) {
        size_t first = 0, count = 0;
        for (size_t row = 0; row < table.csv.row_count; row++)
            if (whole(&table.csv, row, table.arch) == (long)archs[a] && count++ == 0)
                first = row;
        ck_assert_msg(count > 0, "%s: nothing for sm_%u", table.csv.file, archs[a]);
        size_t step = count > 2 ? count / 2 : 1, start = (7 * (size_t)_i + 3 * a) % step;
        for (size_t i = start; i < count && i <= start + step; i += step)
            compile_row(&table, first + i, compiler);
    }
    if (!compiler && _i == 0)
        printf("skipped: tables_are_what_the_compiler_says: %s\n", why);
    measure_compiler_free(compiler);
    csv_table_release(&table.csv);
}
END_TEST

Suite *suite_kernel_resources(void)
{
    Suite *suite = suite_create("kernel_resources");
    TCase *tcase = tcase_create("all");
    int kernel_count = (int)measure_kernel_count();
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, tables_are_consistent, 0, kernel_count);
    tcase_add_loop_test(tcase, every_configuration_of_the_plans_has_a_row, 0, (int)(sizeof plans / sizeof *plans));
    tcase_add_loop_test(tcase, tables_are_what_the_compiler_says, 0, kernel_count);
    suite_add_tcase(suite, tcase);
    return suite;
}
