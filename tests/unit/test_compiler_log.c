/* SPDX-License-Identifier: GPL-3.0-or-later
 * ptxas and NVRTC logs, cuobjdump reports: recorded ones, and texts that are cut, joined or wrong. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "evidence/code/compiler_log.h"
#include "evidence/code/cubin_file.h"
#include "evidence/code/resource_usage_text.h"

Suite *suite_compiler_log(void);

#define NVCC_FOLDER "tests/recorded/nvcc-13.0/"
#define PROFILERS   "tests/recorded/profilers/"

typedef enum status text_reader(const char *, size_t, const char *, struct compiled_kernel_list *, struct error *);

static void read_file(text_reader *reader, const char *path, struct compiled_kernel_list *list)
{
    char *text = NULL;
    size_t length = 0;
    struct error error = {0};
    ck_assert_int_eq(file_read_text(path, 1 << 24, &text, &length, &error), STATUS_OK);
    ck_assert_msg(reader(text, length, path, list, &error) == STATUS_OK, "%s: %s", path, error.text);
    free(text);
}

static enum status read_text(text_reader *reader, const char *text, struct compiled_kernel_list *list,
                             struct error *error)
{
    memset(error, 0, sizeof *error);
    return reader(text, strlen(text), "log.txt", list, error);
}

static const struct compiled_kernel *find(const struct compiled_kernel_list *list, const char *name, uint32_t arch)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i].name, name) == 0 && list->items[i].arch == arch) {
            return &list->items[i];
        }
    }
    ck_abort_msg("no kernel %s for sm_%u", name, arch);
}

static uint64_t exact(const struct compiled_kernel *kernel, enum compiled_figure figure)
{
    ck_assert_msg(kernel->figures[figure].state == FIGURE_EXACT, "%s: %s is not exact", kernel->name,
                  compiled_figure_name(figure));
    return kernel->figures[figure].value;
}

START_TEST(recorded_logs_of_triton_kernels)
{
    struct compiled_kernel_list list = {0};
    read_file(compiler_log_parse, PROFILERS "ptxas-v.txt", &list);
    static const uint64_t figures[4][4] = {{74, 0, 0, 0}, {255, 376, 396, 372}, {255, 384, 420, 384}, {255, 8, 16, 8}};
    ck_assert_uint_eq(list.count, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct compiled_kernel *kernel = &list.items[i];
        ck_assert_int_eq(kernel->arch_suffix, 'a');
        ck_assert_uint_eq(kernel->arch, i < 2 ? 120 : 90);
        ck_assert_uint_eq(exact(kernel, COMPILED_REGISTERS), figures[i][0]);
        ck_assert_uint_eq(exact(kernel, COMPILED_STACK), figures[i][1]);
        ck_assert_uint_eq(exact(kernel, COMPILED_SPILL_STORES), figures[i][2]);
        ck_assert_uint_eq(exact(kernel, COMPILED_SPILL_LOADS), figures[i][3]);
        ck_assert_uint_eq(exact(kernel, COMPILED_STATIC_SMEM), 0);
        ck_assert_uint_eq(exact(kernel, COMPILED_BARRIERS), 1);
        ck_assert_int_eq(kernel->figures[COMPILED_DYNAMIC_SMEM].state, FIGURE_UNKNOWN);
        ck_assert_str_eq(kernel->note, "");
    }
    compiled_kernel_list_release(&list);
}
END_TEST

/* The same compilation by both ways: what the log says must be what the cubin says. */
START_TEST(log_and_cubin_agree)
{
    static const char *const names[] = {"sm_75", "sm_80", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_120", "sm_120a"};
    static const enum compiled_figure figures[] = {COMPILED_REGISTERS, COMPILED_STATIC_SMEM, COMPILED_RESERVED_SMEM,
                                                   COMPILED_STACK, COMPILED_BARRIERS};
    size_t compared = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char log[128], cubin[128];
        struct compiled_kernel_list said = {0}, made = {0};
        (void)snprintf(log, sizeof log, NVCC_FOLDER "probe-%s.log", names[i]);
        (void)snprintf(cubin, sizeof cubin, NVCC_FOLDER "probe-%s.cubin", names[i]);
        read_file(compiler_log_parse, log, &said);
        read_file(cubin_parse, cubin, &made);
        ck_assert_uint_eq(said.count, made.count);
        for (size_t k = 0; k < made.count; k++) {
            const struct compiled_kernel *kernel = find(&said, made.items[k].name, made.items[k].arch);
            ck_assert_int_eq(kernel->arch_suffix, made.items[k].arch_suffix);
            for (size_t f = 0; f < sizeof figures / sizeof figures[0]; f++) {
                ck_assert_uint_eq(exact(kernel, figures[f]), exact(&made.items[k], figures[f]));
                compared++;
            }
        }
        compiled_kernel_list_release(&said);
        compiled_kernel_list_release(&made);
    }
    ck_assert_uint_eq(compared, (3 * 4 + 5 * 5) * 5);
}
END_TEST

START_TEST(nvrtc_and_functions_out_of_line)
{
    struct compiled_kernel_list list = {0};
    read_file(compiler_log_parse, NVCC_FOLDER "nvrtc-sm_90.log", &list);
    ck_assert_uint_eq(list.count, 5); /* helper has properties, but is no kernel */
    ck_assert_uint_eq(exact(find(&list, "calls", 90), COMPILED_STACK), 128);
    ck_assert_uint_eq(exact(find(&list, "smem1024", 90), COMPILED_STATIC_SMEM), 1024);
    compiled_kernel_list_release(&list);
    read_file(compiler_log_parse, NVCC_FOLDER "probe-sm_90-rdc.log", &list);
    ck_assert_uint_eq(list.count, 5);
    ck_assert_uint_eq(exact(find(&list, "calls", 90), COMPILED_STACK), 0); /* not the 136 of helper */
    compiled_kernel_list_release(&list);
    read_file(compiler_log_parse, NVCC_FOLDER "several-arch.log", &list);
    ck_assert_uint_eq(list.count, 9);
    ck_assert_uint_eq(exact(find(&list, "calls", 80), COMPILED_REGISTERS), 31);
    ck_assert_uint_eq(exact(find(&list, "calls", 90), COMPILED_REGISTERS), 32);
    compiled_kernel_list_release(&list);
}
END_TEST

START_TEST(a_refused_kernel_is_not_a_record_like_others)
{
    struct compiled_kernel_list list = {0};
    read_file(compiler_log_parse, NVCC_FOLDER "refused-sm_86.log", &list);
    const struct compiled_kernel *refused = find(&list, "toobig", 86);
    ck_assert(refused->is_rejected);
    ck_assert_ptr_nonnull(strstr(refused->note, "too much shared data (0x13880 bytes, 0xc000 max)"));
    ck_assert(!find(&list, "plain", 86)->is_rejected);
    compiled_kernel_list_release(&list);
}
END_TEST

START_TEST(old_and_odd_logs)
{
    struct compiled_kernel_list list = {0};
    struct error error;
    /* CUDA 11 and older: no barriers, no compile time; sm_1x counted parameters beside SMEM; CRLF; a build's prefix. */
    ck_assert_int_eq(read_text(compiler_log_parse,
                               "[3/7] nvcc -c k.cu\r\n"
                               "ptxas info    : Compiling entry function '_Z1kPf' for 'sm_13'\r\n"
                               "ptxas info    : Used 20 registers, 48+16 bytes smem, 360 bytes cmem[1]\r\n"
                               "k.cu(3): warning: unused\r\n"
                               "1>ptxas info    : Compiling entry function '_Z1mPf' for 'sm_75'\r\n"
                               "1>ptxas info    : Function properties for _Z1mPf\r\n"
                               "    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\r\n"
                               "1>ptxas info    : Used 32 registers, 16 bytes cumulative stack size, 4 bytes smem",
                               &list, &error),
                     STATUS_OK);
    ck_assert_uint_eq(exact(find(&list, "_Z1kPf", 13), COMPILED_STATIC_SMEM), 64);
    ck_assert_int_eq(find(&list, "_Z1kPf", 13)->figures[COMPILED_BARRIERS].state, FIGURE_UNKNOWN);
    const struct compiled_kernel *kernel = find(&list, "_Z1mPf", 75);
    ck_assert_uint_eq(exact(kernel, COMPILED_STACK), 16); /* with the frames of its calls */
    ck_assert_uint_eq(exact(kernel, COMPILED_SPILL_LOADS), 12);
    ck_assert_uint_eq(exact(kernel, COMPILED_STATIC_SMEM), 4);
    ck_assert_uint_eq(kernel->line, 5);
    compiled_kernel_list_release(&list);
}
END_TEST

START_TEST(wrong_and_cut_logs)
{
    static const char announced[] = "ptxas info    : Compiling entry function 'k' for 'sm_90'\n";
    struct compiled_kernel_list list = {0};
    struct error error;
    ck_assert_int_eq(read_text(compiler_log_parse, announced, &list, &error), STATUS_OK);
    ck_assert_ptr_nonnull(strstr(list.items[0].note, "ends before"));
    ck_assert_int_eq(list.items[0].figures[COMPILED_REGISTERS].state, FIGURE_UNKNOWN);
    compiled_kernel_list_release(&list);
    static const char *const wrong[] = {
        "", "ptxas info    : 0 bytes gmem\n", "ptxas info    : Compiling entry function 'k for sm_90\n",
        "ptxas info    : Compiling entry function 'k' for 'gfx942'\n", "ptxas info    : Used 32 registers\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ck_assert_int_eq(read_text(compiler_log_parse, wrong[i], &list, &error), STATUS_BAD_DATA);
        ck_assert_uint_eq(list.count, 0);
        compiled_kernel_list_release(&list);
    }
    char text[256];
    (void)snprintf(text, sizeof text, "%sptxas info    : Used many registers\n", announced);
    ck_assert_int_eq(read_text(compiler_log_parse, text, &list, &error), STATUS_BAD_DATA);
    ck_assert_uint_eq(error.line, 2);
    compiled_kernel_list_release(&list);
    (void)snprintf(text, sizeof text, "%sptxas info    : Used 256 registers\n", announced);
    ck_assert_int_eq(read_text(compiler_log_parse, text, &list, &error), STATUS_BAD_DATA);
    ck_assert_uint_eq(error.line, 2);
    compiled_kernel_list_release(&list);
}
END_TEST

START_TEST(recorded_resource_reports)
{
    struct compiled_kernel_list list = {0};
    read_file(resource_usage_text_parse, PROFILERS "cuobjdump-resource-usage.txt", &list);
    static const uint64_t figures[4][2] = {{74, 0}, {255, 376}, {255, 384}, {255, 8}};
    ck_assert_uint_eq(list.count, 4);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(exact(&list.items[i], COMPILED_REGISTERS), figures[i][0]);
        ck_assert_uint_eq(exact(&list.items[i], COMPILED_STACK), figures[i][1]);
        /* Bare cubins: without an architecture 1024 may be the reserve or an array. */
        ck_assert_int_eq(list.items[i].figures[COMPILED_STATIC_SMEM].state, FIGURE_AT_MOST);
        ck_assert_uint_eq(list.items[i].arch, 0);
        ck_assert_str_ne(list.items[i].note, "");
    }
    compiled_kernel_list_release(&list);
}
END_TEST

START_TEST(resource_reports_of_containers)
{
    static const char report[] =
        "Fatbin elf code:\n================\narch = sm_86\ncode version = [1,7]\nhost = linux\n"
        "compile_size = 64bit\n\nResource usage:\n Common:\n  GLOBAL:0 CONSTANT[3]:8\n"
        " Function _Z1kPf:\n  REG:40 STACK:0 SHARED:1024 LOCAL:0 CONSTANT[0]:360 TEXTURE:0\n\n"
        "Fatbin elf code:\n================\narch = sm_90a\n\nResource usage:\n Common:\n"
        "  GLOBAL:0\n Function _Z1kPf:\n  REG:42 STACK:16 SHARED:2048 LOCAL:0\n"
        "Fatbin ptx code:\n================\narch = sm_90\n";
    struct compiled_kernel_list list = {0};
    struct error error;
    ck_assert_int_eq(read_text(resource_usage_text_parse, report, &list, &error), STATUS_OK);
    ck_assert_uint_eq(list.count, 2);
    ck_assert_uint_eq(exact(find(&list, "_Z1kPf", 86), COMPILED_STATIC_SMEM), 1024); /* an array of the kernel */
    ck_assert_uint_eq(exact(find(&list, "_Z1kPf", 90), COMPILED_STATIC_SMEM), 1024); /* 2048 less the reserve */
    ck_assert_uint_eq(exact(find(&list, "_Z1kPf", 90), COMPILED_REGISTERS), 42);
    compiled_kernel_list_release(&list);
    static const char *const wrong[] = {"",
                                        "Resource usage:\n",
                                        "Resource usage:\n Function k:\n",
                                        "Resource usage:\n Function k:\n  STACK:0\n",
                                        "Resource usage:\n Function k:\n  REG:x\n",
                                        "Resource usage:\n Function k:\n  REG:256 STACK:0\n",
                                        "Resource usage:\n Function k:\n  REG:4 STACK\n",
                                        "Resource usage:\n Function k:\n Function m:\n  REG:4\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ck_assert_int_eq(read_text(resource_usage_text_parse, wrong[i], &list, &error), STATUS_BAD_DATA);
        ck_assert_uint_eq(list.count, 0);
        compiled_kernel_list_release(&list);
    }
}
END_TEST

/* Every beginning of a text is read or refused, with and without its last line whole. */
START_TEST(texts_cut_anywhere)
{
    static const struct {
        text_reader *reader;
        const char *path;
    } texts[] = {{compiler_log_parse, NVCC_FOLDER "refused-sm_86.log"},
                 {compiler_log_parse, NVCC_FOLDER "nvrtc-sm_90.log"},
                 {resource_usage_text_parse, PROFILERS "cuobjdump-resource-usage.txt"}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char *text = NULL;
        size_t length = 0;
        struct error error = {0};
        ck_assert_int_eq(file_read_text(texts[i].path, 1 << 20, &text, &length, &error), STATUS_OK);
        for (size_t cut = 0; cut < length; cut++) {
            struct compiled_kernel_list list = {0};
            char *exact_size = malloc(cut + 1);
            memcpy(exact_size, text, cut);
            enum status status = texts[i].reader(exact_size, cut, "cut", &list, &error);
            ck_assert(status == STATUS_OK ? list.count > 0 : status == STATUS_BAD_DATA && list.count == 0);
            free(exact_size);
            compiled_kernel_list_release(&list);
        }
        free(text);
    }
}
END_TEST

START_TEST(names_are_made_printable)
{
    struct compiled_kernel_list list = {0};
    struct error error;
    ck_assert_int_eq(read_text(compiler_log_parse,
                               "ptxas info : Compiling entry function 'a\x1b[2Jb' for 'sm_90'\n"
                               "ptxas info : Compiling entry function 'c\xff' for 'sm_90'\n",
                               &list, &error),
                     STATUS_OK);
    ck_assert_str_eq(list.items[0].name, "a?[2Jb");
    ck_assert_str_eq(list.items[1].name, "c?");
    compiled_kernel_list_release(&list);
}
END_TEST

Suite *suite_compiler_log(void)
{
    Suite *suite = suite_create("compiler_log");
    TCase *logs = tcase_create("logs"), *reports = tcase_create("reports");
    tcase_add_test(logs, recorded_logs_of_triton_kernels);
    tcase_add_test(logs, log_and_cubin_agree);
    tcase_add_test(logs, nvrtc_and_functions_out_of_line);
    tcase_add_test(logs, a_refused_kernel_is_not_a_record_like_others);
    tcase_add_test(logs, old_and_odd_logs);
    tcase_add_test(logs, wrong_and_cut_logs);
    tcase_add_test(logs, names_are_made_printable);
    tcase_add_test(reports, recorded_resource_reports);
    tcase_add_test(reports, resource_reports_of_containers);
    tcase_add_test(reports, texts_cut_anywhere);
    suite_add_tcase(suite, logs);
    suite_add_tcase(suite, reports);
    return suite;
}
