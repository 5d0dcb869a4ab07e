/* SPDX-License-Identifier: GPL-3.0-or-later
 * Cubin reader over libelf. Every offset is checked against the file before it is used; section and symbol names go
 * through one bounded table so that hostile files cost no more than honest ones. */
#include "evidence/code/cubin_file.h"

#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

enum {
    MACHINE_CUDA = 190,
    ABI_CUDA_12 = 7,
    ABI_CUDA_13 = 8,
    SYMBOL_IS_ENTRY = 0x10,          /* st_other */
    SECTION_ATTRIBUTES = 0x70000000, /* .nv.info */
    SECTION_SHARED_RELOCATABLE = 0x7000000a,
    REGCOUNT_NONE = 255, /* MAXREG_COUNT: nothing asked for */
    FLAG_ACCELERATED_ABI7 = 1 << 11,
    FLAG_ACCELERATED_ABI8 = 1 << 3 /* set by ptxas 12.9, not by 13.0, which writes .nv.compat's attribute 9 */
};

/* Records of .nv.info and .nv.compat: form, attribute, then a 16-bit value or a length and that many bytes. */
enum info_form {
    INFO_NO_VALUE = 1,
    INFO_BYTE = 2,
    INFO_HALF = 3,
    INFO_SIZED = 4
};
enum info_attribute {
    INFO_MAX_THREADS = 0x05,
    INFO_COMPAT_ACCELERATED = 0x09, /* of .nv.compat */
    INFO_REQNTID = 0x10,
    INFO_FRAME_SIZE = 0x11,
    INFO_MIN_STACK_SIZE = 0x12,
    INFO_MAXREG_COUNT = 0x1b,
    INFO_MAX_STACK_SIZE = 0x23,
    INFO_REGCOUNT = 0x2f,
    INFO_CTA_PER_CLUSTER = 0x3d,
    INFO_NUM_BARRIERS = 0x4c
};

struct info_record {
    unsigned form, attribute, value; /* value of BYTE and HALF */
    const unsigned char *payload;
    size_t length;
};

/* One kernel while it is read. */
struct cubin_kernel {
    const char *name;
    size_t name_length;
    uint32_t text_section;
    uint32_t info_registers; /* sh_info's upper byte, 0 = none */
    bool has_registers, has_frame, has_stack, has_threads, is_required_threads, has_barriers, has_cluster, has_cap;
    uint64_t registers, frame_bytes, stack_bytes, threads, barriers, cluster_ctas, register_cap, smem_bytes;
    bool has_smem, is_smem_relocatable;
};

struct cubin {
    const char *name; /* for messages */
    struct error *error;
    size_t length;
    Elf *elf;
    GElf_Ehdr header;
    uint32_t arch;
    char suffix;
    const char *strings; /* section names */
    size_t string_bytes; /* up to and with the last NUL */
    size_t name_budget;  /* bytes of names still to be read: overlapping names must not cost more than the file */
    size_t section_count, symbol_section;
    uint32_t *kernel_of_section; /* kernel + 1 */
    uint32_t *section_of_symbol;
    size_t symbol_count;
    struct cubin_kernel *kernels;
    size_t kernel_count, kernel_capacity;
};

bool cubin_is_elf(const char *bytes, size_t length)
{
    return length >= 4 && memcmp(bytes, "\177ELF", 4) == 0;
}

bool cubin_is_fatbin(const char *bytes, size_t length)
{
    return length >= 4 && (memcmp(bytes, "\x50\xed\x55\xba", 4) == 0 || memcmp(bytes, "\xb1\x43\x62\x46", 4) == 0);
}

static enum status fail(const struct cubin *cubin, const char *text)
{
    return error_set_at(cubin->error, STATUS_BAD_DATA, cubin->name, 0, 0, "%s", text);
}

static uint32_t read_u32(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* --- header --------------------------------------------------------------------------------------------------------
 */

static enum status check_header(struct cubin *cubin)
{
    if (elf_kind(cubin->elf) != ELF_K_ELF || gelf_getclass(cubin->elf) != ELFCLASS64 ||
        gelf_getehdr(cubin->elf, &cubin->header) == NULL) {
        return fail(cubin, "not a complete 64-bit ELF file");
    }
    const GElf_Ehdr *header = &cubin->header;
    if (header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_machine != MACHINE_CUDA) {
        return fail(cubin, "an ELF file, but not of CUDA (machine 190, little endian)");
    }
    if (header->e_version == 0 || (header->e_type != ET_EXEC && header->e_type != ET_REL)) {
        return fail(cubin, "an ELF file of CUDA, but neither linked nor relocatable code");
    }
    uint32_t flags = header->e_flags;
    unsigned abi = header->e_ident[EI_ABIVERSION];
    if (abi <= ABI_CUDA_12) {
        cubin->arch = flags & 0xff;
        cubin->suffix = (flags & FLAG_ACCELERATED_ABI7) != 0 ? 'a' : 0;
    } else if (abi == ABI_CUDA_13) {
        cubin->arch = flags >> 8 & 0xff;
        cubin->suffix = (flags & FLAG_ACCELERATED_ABI8) != 0 ? 'a' : 0;
    } else {
        return error_set_at(cubin->error, STATUS_BAD_DATA, cubin->name, 0, 0,
                            "a cubin of ABI version %u; known are up to 8 (CUDA 13)", abi);
    }
    if (header->e_phoff > cubin->length ||
        (uint64_t)header->e_phnum * header->e_phentsize > cubin->length - header->e_phoff) {
        return fail(cubin, "the file ends before its program headers do");
    }
    return cubin->arch >= 10 ? STATUS_OK : fail(cubin, "a cubin whose header names no architecture");
}

/* A section's bytes; NULL with a status where its size points outside the file. */
static enum status section_bytes(const struct cubin *cubin, size_t index, const unsigned char **bytes, size_t *length)
{
    Elf_Scn *section = elf_getscn(cubin->elf, index);
    Elf_Data *data = section != NULL ? elf_rawdata(section, NULL) : NULL;
    if (data == NULL || (data->d_size > 0 && data->d_buf == NULL)) {
        return error_set_at(cubin->error, STATUS_BAD_DATA, cubin->name, 0, 0, "section %zu lies outside the file",
                            index);
    }
    *bytes = data->d_buf;
    *length = data->d_size;
    return STATUS_OK;
}

static enum status section_header(const struct cubin *cubin, size_t index, GElf_Shdr *header)
{
    Elf_Scn *section = elf_getscn(cubin->elf, index);
    if (section == NULL || gelf_getshdr(section, header) == NULL) {
        return error_set_at(cubin->error, STATUS_BAD_DATA, cubin->name, 0, 0, "section %zu cannot be read", index);
    }
    /* SMEM sections take no bytes of the file, whatever their type; all others of these types do. */
    bool has_bytes = header->sh_type == SHT_PROGBITS || header->sh_type == SHT_SYMTAB ||
                     header->sh_type == SHT_STRTAB || header->sh_type == SHT_RELA || header->sh_type == SHT_NOTE ||
                     header->sh_type == SECTION_ATTRIBUTES;
    if (has_bytes && (header->sh_offset > cubin->length || header->sh_size > cubin->length - header->sh_offset)) {
        return error_set_at(cubin->error, STATUS_BAD_DATA, cubin->name, 0, 0, "section %zu lies outside the file",
                            index);
    }
    return STATUS_OK;
}

static enum status load_tables(struct cubin *cubin)
{
    size_t strings = 0;
    const unsigned char *bytes = NULL;
    size_t length = 0;
    if (elf_getshdrnum(cubin->elf, &cubin->section_count) != 0 || cubin->section_count < 2 ||
        elf_getshdrstrndx(cubin->elf, &strings) != 0 || strings >= cubin->section_count) {
        return fail(cubin, "the section table is missing or lies outside the file");
    }
    enum status status = section_bytes(cubin, strings, &bytes, &length);
    while (status == STATUS_OK && length > 0 && bytes[length - 1] != '\0') {
        length--; /* names must end inside the table */
    }
    if (status == STATUS_OK && length == 0) {
        status = fail(cubin, "the table of section names is empty");
    }
    if (status == STATUS_OK) {
        cubin->strings = (const char *)bytes;
        cubin->string_bytes = length;
        cubin->kernel_of_section = calloc(cubin->section_count, sizeof *cubin->kernel_of_section);
        status = cubin->kernel_of_section != NULL
                     ? STATUS_OK
                     : error_set(cubin->error, STATUS_NO_MEMORY, "no memory for %s", cubin->name);
    }
    return status;
}

/* Name of a section without copying; "" where it points outside. */
static const char *section_name(const struct cubin *cubin, const GElf_Shdr *header)
{
    return header->sh_name < cubin->string_bytes ? cubin->strings + header->sh_name : "";
}

/* --- kernels -------------------------------------------------------------------------------------------------------
 */

static enum status add_kernel(struct cubin *cubin, const char *name, size_t section, const GElf_Shdr *header)
{
    size_t length = strlen(name);
    if (length > cubin->name_budget || cubin->kernel_count == CUBIN_KERNELS_MAX) {
        return fail(cubin, "more kernel names than the file can hold");
    }
    cubin->name_budget -= length;
    if (cubin->kernel_count == cubin->kernel_capacity) {
        size_t capacity = cubin->kernel_capacity == 0 ? 16 : 2 * cubin->kernel_capacity;
        struct cubin_kernel *kernels = realloc(cubin->kernels, capacity * sizeof *kernels);
        if (kernels == NULL) {
            return error_set(cubin->error, STATUS_NO_MEMORY, "no memory for %s", cubin->name);
        }
        cubin->kernels = kernels;
        cubin->kernel_capacity = capacity;
    }
    cubin->kernels[cubin->kernel_count++] = (struct cubin_kernel){.name = name,
                                                                  .name_length = length,
                                                                  .text_section = (uint32_t)section,
                                                                  .info_registers = header->sh_info >> 24};
    cubin->kernel_of_section[section] = (uint32_t)cubin->kernel_count;
    return STATUS_OK;
}

/* Code sections become kernels; symbols say later which of them are entry functions. */
static enum status find_code(struct cubin *cubin)
{
    static const char prefix[] = ".text.";
    for (size_t i = 1; i < cubin->section_count; i++) {
        GElf_Shdr header;
        enum status status = section_header(cubin, i, &header);
        if (status != STATUS_OK) {
            return status;
        }
        const char *name = section_name(cubin, &header);
        if (header.sh_type == SHT_SYMTAB) {
            cubin->symbol_section = i;
        }
        if (header.sh_type == SHT_PROGBITS && (header.sh_flags & SHF_EXECINSTR) != 0 &&
            strncmp(name, prefix, sizeof prefix - 1) == 0 && name[sizeof prefix - 1] != '\0') {
            const unsigned char *bytes;
            size_t length;
            status = section_bytes(cubin, i, &bytes, &length);
            status = status == STATUS_OK ? add_kernel(cubin, name + sizeof prefix - 1, i, &header) : status;
        }
        if (status != STATUS_OK) {
            return status;
        }
    }
    return cubin->symbol_section != 0 ? STATUS_OK : fail(cubin, "a cubin without a symbol table");
}

/* Which section each function symbol means, and which sections hold entry functions: kernel_of_section keeps only
 * these. */
static enum status read_symbols(struct cubin *cubin)
{
    Elf_Scn *section = elf_getscn(cubin->elf, cubin->symbol_section);
    GElf_Shdr header;
    Elf_Data *data = section != NULL && gelf_getshdr(section, &header) != NULL ? elf_getdata(section, NULL) : NULL;
    if (data == NULL || header.sh_entsize != sizeof(Elf64_Sym)) {
        return fail(cubin, "the symbol table is broken");
    }
    cubin->symbol_count = data->d_size / sizeof(Elf64_Sym);
    cubin->section_of_symbol = calloc(cubin->symbol_count + 1, sizeof *cubin->section_of_symbol);
    bool *is_entry = calloc(cubin->section_count, sizeof *is_entry);
    enum status status = cubin->section_of_symbol != NULL && is_entry != NULL && cubin->symbol_count <= INT32_MAX
                             ? STATUS_OK
                             : error_set(cubin->error, STATUS_NO_MEMORY, "no memory for %s", cubin->name);
    for (size_t i = 0; i < cubin->symbol_count && status == STATUS_OK; i++) {
        GElf_Sym symbol;
        if (gelf_getsym(data, (int)i, &symbol) == NULL) {
            status = fail(cubin, "the symbol table is broken");
        } else if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx < cubin->section_count) {
            bool is_kernel = (symbol.st_other & SYMBOL_IS_ENTRY) != 0;
            /* Functions kept out of line share their caller's section ("$caller$callee"). */
            cubin->section_of_symbol[i] = symbol.st_value == 0 || is_kernel ? symbol.st_shndx : 0;
            is_entry[symbol.st_shndx] = is_entry[symbol.st_shndx] || is_kernel;
        }
    }
    for (size_t i = 0; i < cubin->section_count && status == STATUS_OK; i++) {
        cubin->kernel_of_section[i] = is_entry[i] ? cubin->kernel_of_section[i] : 0;
    }
    free(is_entry);
    return status;
}

static struct cubin_kernel *kernel_of_section(const struct cubin *cubin, size_t section)
{
    uint32_t kernel = section < cubin->section_count ? cubin->kernel_of_section[section] : 0;
    return kernel > 0 ? &cubin->kernels[kernel - 1] : NULL;
}

static struct cubin_kernel *kernel_of_symbol(const struct cubin *cubin, uint32_t symbol)
{
    return symbol < cubin->symbol_count ? kernel_of_section(cubin, cubin->section_of_symbol[symbol]) : NULL;
}

/* --- attributes ----------------------------------------------------------------------------------------------------
 */

/* The next record; false at the end or where it is cut short (*is_broken). */
static bool next_record(const unsigned char **at, const unsigned char *end, struct info_record *record, bool *is_broken)
{
    if (*at == end) {
        return false;
    }
    *is_broken = end - *at < 4 || (*at)[0] < INFO_NO_VALUE || (*at)[0] > INFO_SIZED;
    if (*is_broken) {
        return false;
    }
    *record = (struct info_record){(*at)[0], (*at)[1], (unsigned)(*at)[2] | (unsigned)(*at)[3] << 8, NULL, 0};
    *at += 4;
    if (record->form == INFO_SIZED) {
        record->payload = *at;
        record->length = record->value;
        *is_broken = (size_t)(end - *at) < record->length;
        *at += *is_broken ? 0 : record->length;
    }
    return !*is_broken;
}

typedef void record_handler(struct cubin *cubin, struct cubin_kernel *kernel, const struct info_record *record);

static enum status walk_records(struct cubin *cubin, size_t section, struct cubin_kernel *kernel,
                                record_handler *handle)
{
    const unsigned char *at;
    size_t length;
    enum status status = section_bytes(cubin, section, &at, &length);
    if (status != STATUS_OK || length == 0) {
        return status;
    }
    const unsigned char *end = at + length;
    struct info_record record;
    bool is_broken = false;
    while (next_record(&at, end, &record, &is_broken)) {
        handle(cubin, kernel, &record);
    }
    return is_broken ? error_set_at(cubin->error, STATUS_BAD_DATA, cubin->name, 0, 0,
                                    "section %zu: an attribute is cut short or of an unknown form", section)
                     : STATUS_OK;
}

/* .nv.info: {symbol, value} pairs for all kernels. */
static void handle_module_record(struct cubin *cubin, struct cubin_kernel *unused, const struct info_record *record)
{
    (void)unused;
    if (record->form != INFO_SIZED || record->length != 8) {
        return;
    }
    struct cubin_kernel *kernel = kernel_of_symbol(cubin, read_u32(record->payload));
    uint32_t value = read_u32(record->payload + 4);
    if (kernel == NULL) {
        return;
    }
    switch (record->attribute) {
    case INFO_REGCOUNT:
        kernel->has_registers = true;
        kernel->registers = value;
        break;
    case INFO_FRAME_SIZE:
        kernel->has_frame = true;
        kernel->frame_bytes = value;
        break;
    case INFO_MIN_STACK_SIZE:
        kernel->has_stack = true;
        kernel->stack_bytes = value;
        break;
    default:
        break;
    }
}

/* Product of three 32-bit sides; 0 where one is 0. At most 2^96 would not fit: capped far above any CTA. */
static uint64_t side_product(const unsigned char *payload)
{
    uint64_t product = 1;
    for (int i = 0; i < 3; i++) {
        uint64_t side = read_u32(payload + 4 * i);
        product = side > 65535 || product > 65535 ? UINT32_MAX : product * side;
    }
    return product;
}

static void handle_kernel_record(struct cubin *cubin, struct cubin_kernel *kernel, const struct info_record *record)
{
    (void)cubin;
    bool has_sides = record->form == INFO_SIZED && record->length == 12;
    if (record->attribute == INFO_REQNTID && has_sides) {
        kernel->has_threads = kernel->is_required_threads = true;
        kernel->threads = side_product(record->payload);
    } else if (record->attribute == INFO_MAX_THREADS && has_sides && !kernel->is_required_threads) {
        kernel->has_threads = true;
        kernel->threads = side_product(record->payload);
    } else if (record->attribute == INFO_CTA_PER_CLUSTER && has_sides) {
        kernel->has_cluster = true;
        kernel->cluster_ctas = side_product(record->payload);
    } else if (record->attribute == INFO_MAXREG_COUNT && record->form == INFO_HALF && record->value != REGCOUNT_NONE) {
        kernel->has_cap = true;
        kernel->register_cap = record->value;
    } else if (record->attribute == INFO_NUM_BARRIERS && record->form == INFO_BYTE) {
        kernel->has_barriers = true;
        kernel->barriers = record->value & 0xff;
    }
}

static void handle_compat_record(struct cubin *cubin, struct cubin_kernel *unused, const struct info_record *record)
{
    (void)unused;
    if (record->form == INFO_BYTE && record->attribute == INFO_COMPAT_ACCELERATED && (record->value & 0xff) == 1) {
        cubin->suffix = 'a';
    }
}

/* The kernel that a section ".nv.info.NAME" or ".nv.shared.NAME" belongs to: sh_info says, the name must agree. */
static struct cubin_kernel *owner_of(struct cubin *cubin, const GElf_Shdr *header, const char *name)
{
    struct cubin_kernel *kernel = kernel_of_section(cubin, header->sh_info);
    if (kernel == NULL || kernel->name_length > cubin->name_budget) {
        return NULL;
    }
    cubin->name_budget -= kernel->name_length;
    return strcmp(kernel->name, name) == 0 ? kernel : NULL;
}

static enum status read_attribute_section(struct cubin *cubin, size_t index)
{
    static const char info[] = ".nv.info", shared[] = ".nv.shared.";
    GElf_Shdr header;
    enum status status = section_header(cubin, index, &header);
    if (status != STATUS_OK) {
        return status;
    }
    const char *name = section_name(cubin, &header);
    if (strcmp(name, info) == 0) {
        return walk_records(cubin, index, NULL, handle_module_record);
    }
    if (strcmp(name, ".nv.compat") == 0) {
        return walk_records(cubin, index, NULL, handle_compat_record);
    }
    if (strncmp(name, info, sizeof info - 1) == 0 && name[sizeof info - 1] == '.') {
        struct cubin_kernel *kernel = owner_of(cubin, &header, name + sizeof info);
        return kernel != NULL ? walk_records(cubin, index, kernel, handle_kernel_record) : STATUS_OK;
    }
    if (strncmp(name, shared, sizeof shared - 1) == 0) {
        struct cubin_kernel *kernel = owner_of(cubin, &header, name + sizeof shared - 1);
        if (kernel != NULL && (header.sh_type == SHT_NOBITS || header.sh_type == SECTION_SHARED_RELOCATABLE)) {
            kernel->has_smem = true;
            kernel->is_smem_relocatable = header.sh_type == SECTION_SHARED_RELOCATABLE;
            kernel->smem_bytes = header.sh_size;
        }
    }
    return STATUS_OK;
}

/* --- result --------------------------------------------------------------------------------------------------------
 */

/* SMEM, without the reserve: linked code of sm_90 and later holds it in the section, relocatable code does not. */
static void record_smem(const struct cubin *cubin, const struct cubin_kernel *from, struct compiled_kernel *kernel)
{
    if (cubin->header.e_type == ET_REL || from->is_smem_relocatable || !from->has_smem) {
        compiled_kernel_set(kernel, COMPILED_STATIC_SMEM,
                            cubin->header.e_type == ET_REL ? FIGURE_AT_LEAST : FIGURE_EXACT, CODE_SOURCE_CUBIN,
                            from->smem_bytes);
        compiled_kernel_set(kernel, COMPILED_RESERVED_SMEM, FIGURE_EXACT, CODE_SOURCE_CUBIN,
                            compiled_reserved_smem_bytes(cubin->arch));
        return;
    }
    compiled_kernel_set_merged_smem(kernel, CODE_SOURCE_CUBIN, from->smem_bytes);
}

static void record_registers(const struct cubin *cubin, const struct cubin_kernel *from,
                             struct compiled_kernel_list *list, struct compiled_kernel *kernel)
{
    enum figure_state state = cubin->header.e_type == ET_REL ? FIGURE_AT_LEAST : FIGURE_EXACT;
    uint64_t registers = from->has_registers ? from->registers : from->info_registers;
    if (registers > COMPILED_REGISTERS_MAX) {
        compiled_kernel_remark(list, kernel, "%llu registers per thread are left out: no GPU has so many",
                               (unsigned long long)registers);
    } else if (registers > 0) {
        compiled_kernel_set(kernel, COMPILED_REGISTERS, state, CODE_SOURCE_CUBIN, registers);
    }
    if (from->has_registers && from->info_registers != 0 && from->info_registers != from->registers) {
        compiled_kernel_remark(list, kernel, "the section header says %u registers, the attribute %llu",
                               from->info_registers, (unsigned long long)from->registers);
    }
    if (from->has_frame || from->has_stack) {
        compiled_kernel_set(kernel, COMPILED_STACK, state, CODE_SOURCE_CUBIN,
                            from->has_stack && from->stack_bytes > from->frame_bytes ? from->stack_bytes
                                                                                     : from->frame_bytes);
    }
    if (cubin->header.e_type == ET_REL) {
        compiled_kernel_remark(list, kernel, "relocatable code: registers and stack can grow when it is linked");
    }
}

static enum status record_kernel(const struct cubin *cubin, const struct cubin_kernel *from,
                                 struct compiled_kernel_list *list)
{
    struct compiled_kernel *kernel;
    enum status status =
        compiled_kernel_list_add(list, from->name, from->name_length, cubin->name, &kernel, cubin->error);
    if (status != STATUS_OK) {
        return status;
    }
    kernel->arch = cubin->arch;
    kernel->arch_suffix = cubin->suffix;
    record_smem(cubin, from, kernel);
    record_registers(cubin, from, list, kernel);
    if (from->has_threads) {
        compiled_kernel_set(kernel, COMPILED_THREADS, from->is_required_threads ? FIGURE_EXACT : FIGURE_AT_MOST,
                            CODE_SOURCE_CUBIN, from->threads);
    }
    if (from->has_cluster) {
        compiled_kernel_set(kernel, COMPILED_CLUSTER, FIGURE_EXACT, CODE_SOURCE_CUBIN, from->cluster_ctas);
    }
    if (from->has_cap) {
        compiled_kernel_set(kernel, COMPILED_REGISTER_CAP, FIGURE_EXACT, CODE_SOURCE_CUBIN, from->register_cap);
    }
    /* CUDA 13 leaves the attribute out where there are none; CUDA 12 always does (its Triton kernels for sm_90 use one,
     * says ptxas -v). */
    if (from->has_barriers || cubin->header.e_ident[EI_ABIVERSION] > ABI_CUDA_12) {
        compiled_kernel_set(kernel, COMPILED_BARRIERS, FIGURE_EXACT, CODE_SOURCE_CUBIN, from->barriers);
    }
    return STATUS_OK;
}

static enum status read_cubin(struct cubin *cubin, struct compiled_kernel_list *list)
{
    enum status status = check_header(cubin);
    status = status == STATUS_OK ? load_tables(cubin) : status;
    status = status == STATUS_OK ? find_code(cubin) : status;
    status = status == STATUS_OK ? read_symbols(cubin) : status;
    for (size_t i = 1; i < cubin->section_count && status == STATUS_OK; i++) {
        status = read_attribute_section(cubin, i);
    }
    size_t before = list->count;
    for (size_t i = 0; i < cubin->kernel_count && status == STATUS_OK; i++) {
        if (kernel_of_section(cubin, cubin->kernels[i].text_section) != NULL) {
            status = record_kernel(cubin, &cubin->kernels[i], list);
        }
    }
    if (status == STATUS_OK && list->count == before) {
        status = fail(cubin, "a cubin without kernels");
    }
    list->count = status == STATUS_OK ? list->count : before;
    return status;
}

enum status cubin_parse(const char *bytes, size_t length, const char *name, struct compiled_kernel_list *list,
                        struct error *error)
{
    struct cubin cubin = {.name = name, .error = error, .length = length, .name_budget = 4 * length};
    if (cubin_is_fatbin(bytes, length)) {
        return fail(&cubin, "a container of several cubins: take them out with cuobjdump -xelf all");
    }
    if (!cubin_is_elf(bytes, length) || length < sizeof(Elf64_Ehdr)) {
        return fail(&cubin, "not a complete ELF file");
    }
    if (length > CUBIN_BYTES_MAX) {
        return error_set_at(error, STATUS_LIMIT, name, 0, 0, "a cubin of more than %d MiB", CUBIN_BYTES_MAX >> 20);
    }
    if (elf_version(EV_CURRENT) == EV_NONE) {
        return error_set(error, STATUS_MISSING, "libelf does not know its own version");
    }
    /* libelf may swap in place: it gets its own copy, whose alignment is right as well. */
    char *copy = malloc(length);
    if (copy == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for %s", name);
    }
    memcpy(copy, bytes, length);
    cubin.elf = elf_memory(copy, length);
    enum status status = cubin.elf != NULL ? read_cubin(&cubin, list) : fail(&cubin, "not a complete ELF file");
    if (cubin.elf != NULL) {
        (void)elf_end(cubin.elf);
    }
    free(cubin.kernel_of_section);
    free(cubin.section_of_symbol);
    free(cubin.kernels);
    free(copy);
    return status;
}
