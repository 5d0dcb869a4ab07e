/* SPDX-License-Identifier: GPL-3.0-or-later
 * Cubins: what compilers made, every way to cut them short, and files that lie about their sections. */
#include <check.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "evidence/code/cubin_file.h"

Suite *suite_cubin_file(void);

#define NVCC_FOLDER "tests/recorded/nvcc-13.0/"
#define ABI_7_CUBIN                                                                                                    \
    "tests/recorded/triton-3.6-cache/UBPIYWASYLXIVCQ3W5HPIUOLSEJAFXBW2BKT5IMHPLGAVLOOXIZQ/matmul_kernel.cubin"
#define ABI_8_CUBIN                                                                                                    \
    "tests/recorded/triton-3.6-cache/S5SMIEUX7XAWR5AMUEUQCW4FF5J4KQCPWYVN3Q2JVSXLAQH2LD5A/gqa_kernel.cubin"

static char *load(const char *path, size_t *length)
{
    char *bytes = NULL;
    struct error error = {0};
    ck_assert_msg(file_read_text(path, CUBIN_BYTES_MAX, &bytes, length, &error) == STATUS_OK, "%s: %s", path,
                  error.text);
    return bytes;
}

static void parse_file(const char *path, struct compiled_kernel_list *list)
{
    size_t length = 0;
    char *bytes = load(path, &length);
    struct error error = {0};
    ck_assert_msg(cubin_parse(bytes, length, path, list, &error) == STATUS_OK, "%s: %s", path, error.text);
    free(bytes);
}

static const struct compiled_kernel *find(const struct compiled_kernel_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i].name, name) == 0) {
            return &list->items[i];
        }
    }
    ck_abort_msg("no kernel %s", name);
}

static void expect(const struct compiled_kernel *kernel, enum compiled_figure figure, enum figure_state state,
                   uint64_t value)
{
    const struct code_figure *found = &kernel->figures[figure];
    ck_assert_msg(found->state == state && found->value == value, "%s, %s: %s %s %llu, expected %s %llu", kernel->file,
                  kernel->name, compiled_figure_name(figure), figure_state_name(found->state),
                  (unsigned long long)found->value, figure_state_name(state), (unsigned long long)value);
}

/* Registers from the recorded log of the same compilation; SMEM as written in the source. */
START_TEST(reads_every_architecture)
{
    static const struct {
        const char *path;
        uint32_t arch;
        char suffix;
        uint64_t smem4000_registers, calls_registers, reserved;
    } files[] = {{NVCC_FOLDER "probe-sm_75.cubin", 75, 0, 12, 0, 0},
                 {NVCC_FOLDER "probe-sm_80.cubin", 80, 0, 12, 31, 1024},
                 {NVCC_FOLDER "probe-sm_89.cubin", 89, 0, 0, 0, 1024},
                 {NVCC_FOLDER "probe-sm_90.cubin", 90, 0, 14, 32, 1024},
                 {NVCC_FOLDER "probe-sm_90a.cubin", 90, 'a', 14, 32, 1024},
                 {NVCC_FOLDER "probe-sm_100a.cubin", 100, 'a', 0, 0, 1024},
                 {NVCC_FOLDER "probe-sm_120.cubin", 120, 0, 0, 0, 1024},
                 {NVCC_FOLDER "probe-sm_120a.cubin", 120, 'a', 0, 0, 1024}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct compiled_kernel_list list = {0};
        parse_file(files[i].path, &list);
        ck_assert_uint_eq(list.count, files[i].arch >= 90 ? 5 : 4); /* the cluster is for 9.0 and later */
        const struct compiled_kernel *with_bounds = find(&list, "smem4000");
        ck_assert_uint_eq(with_bounds->arch, files[i].arch);
        ck_assert_int_eq(with_bounds->arch_suffix, files[i].suffix);
        expect(with_bounds, COMPILED_STATIC_SMEM, FIGURE_EXACT, 4000);
        expect(with_bounds, COMPILED_RESERVED_SMEM, FIGURE_EXACT, files[i].reserved);
        expect(with_bounds, COMPILED_THREADS, FIGURE_AT_MOST, 256);
        expect(with_bounds, COMPILED_BARRIERS, FIGURE_EXACT, 1);
        if (files[i].smem4000_registers > 0) {
            expect(with_bounds, COMPILED_REGISTERS, FIGURE_EXACT, files[i].smem4000_registers);
        }
        expect(find(&list, "smem1024"), COMPILED_STATIC_SMEM, FIGURE_EXACT, 1024);
        expect(find(&list, "plain"), COMPILED_STATIC_SMEM, FIGURE_EXACT, 0);
        expect(find(&list, "plain"), COMPILED_BARRIERS, FIGURE_EXACT, 0);
        expect(find(&list, "plain"), COMPILED_THREADS, FIGURE_UNKNOWN, 0);
        expect(find(&list, "plain"), COMPILED_DYNAMIC_SMEM, FIGURE_UNKNOWN, 0);
        expect(find(&list, "calls"), COMPILED_STACK, FIGURE_EXACT, 128);
        if (files[i].calls_registers > 0) {
            expect(find(&list, "calls"), COMPILED_REGISTERS, FIGURE_EXACT, files[i].calls_registers);
        }
        if (files[i].arch >= 90) {
            expect(find(&list, "clustered"), COMPILED_CLUSTER, FIGURE_EXACT, 2);
        }
        compiled_kernel_list_release(&list);
    }
}
END_TEST

/* From sm_90 on the register byte of sh_info is 0: whoever reads that finds kernels without registers. */
START_TEST(registers_do_not_come_from_the_section_header)
{
    size_t length = 0;
    char *bytes = load(NVCC_FOLDER "probe-sm_90.cubin", &length);
    Elf64_Ehdr header;
    memcpy(&header, bytes, sizeof header);
    size_t code_sections = 0;
    for (size_t i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section;
        memcpy(&section, bytes + header.e_shoff + i * sizeof section, sizeof section);
        if (section.sh_type == SHT_PROGBITS && (section.sh_flags & SHF_EXECINSTR) != 0) {
            code_sections++;
            ck_assert_uint_eq(section.sh_info >> 24, 0);
        }
    }
    ck_assert_uint_eq(code_sections, 5);
    free(bytes);
    struct compiled_kernel_list list = {0};
    parse_file(NVCC_FOLDER "probe-sm_90.cubin", &list);
    for (size_t i = 0; i < list.count; i++) {
        ck_assert_uint_ge(list.items[i].figures[COMPILED_REGISTERS].value, 8);
    }
    compiled_kernel_list_release(&list);
}
END_TEST

START_TEST(relocatable_code_is_a_bound)
{
    struct compiled_kernel_list list = {0};
    parse_file(NVCC_FOLDER "probe-sm_90-rdc.cubin", &list);
    ck_assert_uint_eq(list.count, 5); /* helper is a device function, not a kernel */
    expect(find(&list, "calls"), COMPILED_REGISTERS, FIGURE_AT_LEAST, 24);
    expect(find(&list, "smem1024"), COMPILED_STATIC_SMEM, FIGURE_AT_LEAST, 1024); /* no reserve in it yet */
    ck_assert_ptr_nonnull(strstr(find(&list, "calls")->note, "relocatable"));
    compiled_kernel_list_release(&list);
}
END_TEST

START_TEST(both_abi_versions_of_triton)
{
    struct compiled_kernel_list list = {0};
    parse_file(ABI_7_CUBIN, &list);
    parse_file(ABI_8_CUBIN, &list);
    ck_assert_uint_eq(list.count, 2);
    ck_assert_str_eq(list.items[0].name, "matmul_kernel");
    ck_assert_uint_eq(list.items[0].arch, 90);
    ck_assert_int_eq(list.items[0].arch_suffix, 'a');
    expect(&list.items[0], COMPILED_THREADS, FIGURE_EXACT, 128);
    ck_assert_uint_eq(list.items[1].arch, 120);
    ck_assert_int_eq(list.items[1].arch_suffix, 'a');
    expect(&list.items[1], COMPILED_REGISTERS, FIGURE_EXACT, 74);
    compiled_kernel_list_release(&list);
}
END_TEST

/* Any beginning of the file is refused with a line, or (where only the tail of padding is cut) read in full. */
static void cut_at_every_length(const char *path)
{
    size_t length = 0;
    char *bytes = load(path, &length);
    size_t read = 0;
    for (size_t cut = 0; cut < length; cut++) {
        struct compiled_kernel_list list = {0};
        struct error error = {0};
        char *exact = malloc(cut + 1); /* so that a sanitizer sees each byte too far */
        memcpy(exact, bytes, cut);
        enum status status = cubin_parse(exact, cut, "cut.cubin", &list, &error);
        if (status == STATUS_OK) {
            read++;
        } else {
            ck_assert_int_eq(status, STATUS_BAD_DATA);
            ck_assert_str_ne(error.text, "");
            ck_assert_uint_eq(list.count, 0);
        }
        free(exact);
        compiled_kernel_list_release(&list);
    }
    ck_assert_msg(read == 0, "%s: %zu cut files were read", path, read);
    free(bytes);
}

START_TEST(cut_short_anywhere)
{
    cut_at_every_length(NVCC_FOLDER "probe-sm_80.cubin");
    cut_at_every_length(NVCC_FOLDER "probe-sm_90.cubin");
}
END_TEST

static enum status parse_bytes(const char *bytes, size_t length, struct error *error)
{
    struct compiled_kernel_list list = {0};
    memset(error, 0, sizeof *error);
    enum status status = cubin_parse(bytes, length, "lie.cubin", &list, error);
    ck_assert(status == STATUS_OK || (list.count == 0 && error->text[0] != '\0'));
    compiled_kernel_list_release(&list);
    return status;
}

/* Each field of each section header set to what does not fit: no crash, and never a kernel list with an error. */
START_TEST(lying_section_headers)
{
    static const uint64_t lies[] = {0, 1, 63, 0x7fffffff, 0xffffffff, UINT64_MAX, UINT64_MAX - 7, 1u << 20};
    size_t length = 0, refused = 0, tried = 0;
    char *bytes = load(NVCC_FOLDER "probe-sm_90.cubin", &length);
    Elf64_Ehdr header;
    memcpy(&header, bytes, sizeof header);
    for (size_t i = 0; i < header.e_shnum; i++) {
        size_t at = header.e_shoff + i * sizeof(Elf64_Shdr);
        for (size_t field = 0; field + 4 <= sizeof(Elf64_Shdr); field += 4) {
            for (size_t lie = 0; lie < sizeof lies / sizeof lies[0]; lie++) {
                char kept[8];
                size_t width = at + field + 8 <= length ? 8 : 4;
                memcpy(kept, bytes + at + field, width);
                memcpy(bytes + at + field, &lies[lie], width);
                struct error error;
                refused += parse_bytes(bytes, length, &error) != STATUS_OK;
                tried++;
                memcpy(bytes + at + field, kept, width);
            }
        }
    }
    ck_assert_msg(refused > tried / 10, "%zu of %zu refused", refused, tried);
    free(bytes);
}
END_TEST

START_TEST(lying_file_headers)
{
    size_t length = 0;
    char *bytes = load(NVCC_FOLDER "probe-sm_90.cubin", &length);
    for (size_t at = 4; at < sizeof(Elf64_Ehdr); at++) {
        for (unsigned value = 0; value < 256; value += 5) {
            char kept = bytes[at];
            struct error error;
            bytes[at] = (char)value;
            (void)parse_bytes(bytes, length, &error);
            bytes[at] = kept;
        }
    }
    struct error error;
    for (unsigned i = 0; i < 2; i++) {
        Elf64_Ehdr header;
        memcpy(&header, bytes, sizeof header);
        header.e_version = i == 0 ? 0x80 : 129; /* as CUDA 12.8 and 12.9 write it */
        memcpy(bytes, &header, sizeof header);
        ck_assert_int_eq(parse_bytes(bytes, length, &error), STATUS_OK);
    }
    free(bytes);
}
END_TEST

START_TEST(says_what_it_is_not)
{
    struct error error;
    ck_assert_int_eq(parse_bytes("\x50\xed\x55\xba\x01", 5, &error), STATUS_BAD_DATA);
    ck_assert_ptr_nonnull(strstr(error.text, "cuobjdump -xelf all"));
    ck_assert_int_eq(parse_bytes("\177ELF\2\1\1", 7, &error), STATUS_BAD_DATA);
    ck_assert_int_eq(parse_bytes("", 0, &error), STATUS_BAD_DATA);
    size_t length = 0;
    char *bytes = load(NVCC_FOLDER "probe-sm_80.cubin", &length);
    Elf64_Ehdr header;
    memcpy(&header, bytes, sizeof header);
    header.e_machine = EM_X86_64;
    memcpy(bytes, &header, sizeof header);
    ck_assert_int_eq(parse_bytes(bytes, length, &error), STATUS_BAD_DATA);
    ck_assert_ptr_nonnull(strstr(error.text, "not of CUDA"));
    free(bytes);
}
END_TEST

Suite *suite_cubin_file(void)
{
    Suite *suite = suite_create("cubin_file");
    TCase *kernels = tcase_create("kernels"), *hostile = tcase_create("hostile");
    tcase_add_test(kernels, reads_every_architecture);
    tcase_add_test(kernels, registers_do_not_come_from_the_section_header);
    tcase_add_test(kernels, relocatable_code_is_a_bound);
    tcase_add_test(kernels, both_abi_versions_of_triton);
    tcase_add_test(hostile, cut_short_anywhere);
    tcase_add_test(hostile, lying_section_headers);
    tcase_add_test(hostile, lying_file_headers);
    tcase_add_test(hostile, says_what_it_is_not);
    tcase_set_timeout(hostile, 120);
    suite_add_tcase(suite, kernels);
    suite_add_tcase(suite, hostile);
    return suite;
}
