/* SPDX-License-Identifier: GPL-3.0-or-later
 * NVRTC behind built-in code and a disk cache. Both are keyed by text, options and architecture; the compiler's version
 * stands in the cache's file names, so that a machine without a compiler can still use what another one compiled. */
#include "kernels/code_compiler.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "kernels/cuda_driver.h"
#include "kernels/embedded_code.h"

enum {
    OPTIONS_MAX = MEASURE_SETTINGS_MAX + 8,
    OPTION_SIZE = 64,
    HEADERS_MAX = 8
};

struct code_compiler {
    struct nvrtc nvrtc;
    int major, minor;
    char cache[400];
};

struct option_list {
    int count;
    char text[OPTIONS_MAX][OPTION_SIZE];
};

static bool open_nvrtc(struct nvrtc *nvrtc, const char *path)
{
    nvrtc->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!nvrtc->library)
        return false;
#define NVRTC_FIND(member, symbol, parameters)                                                                         \
    if (!(*(void **)&nvrtc->member = dlsym(nvrtc->library, symbol))) {                                                 \
        dlclose(nvrtc->library);                                                                                       \
        nvrtc->library = NULL;                                                                                         \
        return false;                                                                                                  \
    }
    NVRTC_LIST(NVRTC_FIND)
#undef NVRTC_FIND
    return true;
}

enum status code_compiler_create(const char *nvrtc_path, const char *cache_directory, struct code_compiler **compiler,
                                 struct error *error)
{
    static const char *const usual[] = {"libnvrtc.so.13",
                                        "libnvrtc.so.12",
                                        "libnvrtc.so",
                                        "/usr/local/cuda/lib64/libnvrtc.so.13",
                                        "/usr/local/cuda/lib64/libnvrtc.so.12",
                                        "/usr/local/cuda/lib64/libnvrtc.so"};
    struct code_compiler *made = calloc(1, sizeof *made);
    if (!made)
        return error_set(error, STATUS_NO_MEMORY, "no memory for the kernel compiler");
    bool wanted = !nvrtc_path || nvrtc_path[0];
    if (nvrtc_path && wanted && !open_nvrtc(&made->nvrtc, nvrtc_path)) {
        enum status status = error_set(error, STATUS_MISSING, "%s is no usable NVRTC library", nvrtc_path);
        free(made);
        return status;
    }
    for (size_t i = 0; wanted && !made->nvrtc.library && i < sizeof usual / sizeof *usual; i++)
        if (open_nvrtc(&made->nvrtc, usual[i]))
            break;
    if (made->nvrtc.library && made->nvrtc.version(&made->major, &made->minor) != 0)
        made->major = made->minor = 0;
    if (cache_directory) {
        if ((size_t)snprintf(made->cache, sizeof made->cache, "%s", cache_directory) >= sizeof made->cache) {
            code_compiler_free(made);
            return error_set(error, STATUS_LIMIT, "the name of the code cache is longer than 399 bytes");
        }
        if (mkdir(cache_directory, 0777) != 0 && errno != EEXIST) {
            enum status status = error_set(error, STATUS_IO, "%s: %s", cache_directory, strerror(errno));
            code_compiler_free(made);
            return status;
        }
    }
    *compiler = made;
    return STATUS_OK;
}

void code_compiler_free(struct code_compiler *compiler)
{
    free(compiler); /* NVRTC stays loaded: what its start-up allocated would be lost with it */
}

void code_compiler_version(const struct code_compiler *compiler, int *major, int *minor)
{
    *major = compiler->major;
    *minor = compiler->minor;
}

const char *kernel_source_find(const char *name)
{
    for (const struct kernel_source *source = kernel_sources; source->name; source++)
        if (strcmp(source->name, name) == 0)
            return source->text;
    return NULL;
}

static void add_option(struct option_list *list, const char *name, int64_t value)
{
    if (list->count >= OPTIONS_MAX)
        BUG("more than %d compiler options", OPTIONS_MAX);
    char *text = list->text[list->count++];
    int length = snprintf(text, OPTION_SIZE, "%s%lld", name, (long long)value);
    if (length >= OPTION_SIZE)
        BUG("compiler option %s is too long", name);
}

/* Settings become -DNAME=value; max_registers, where a kernel has it, becomes the compiler's own option. */
static void list_options(const struct measure_config *config, unsigned arch, struct option_list *list)
{
    list->count = 0;
    add_option(list, "--gpu-architecture=sm_", arch);
    add_option(list, "--std=c++", 17);
    for (size_t i = 0; config && i < config->kernel->setting_count; i++) {
        const struct measure_setting *setting = &config->kernel->settings[i];
        if (!setting->compiled)
            continue;
        if (strcmp(setting->name, "max_registers") == 0) {
            if (config->values[i] > 0) { /* launch bounds would override it: the kernels leave them out then */
                add_option(list, "--maxrregcount=", config->values[i]);
                add_option(list, "-DMAX_REGISTERS=", config->values[i]);
            }
            continue;
        }
        char name[OPTION_SIZE] = "-D";
        size_t length = 2;
        for (const char *c = setting->name; *c && length < OPTION_SIZE - 2; c++)
            name[length++] = (char)toupper((unsigned char)*c);
        name[length++] = '=';
        name[length] = '\0';
        add_option(list, name, config->values[i]);
    }
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    static const unsigned char end = 0xff; /* so that two texts are not their concatenation */
    return hash_bytes(hash_bytes(hash, text, strlen(text)), &end, 1);
}

/* Includes between kernel sources: every built-in text whose name ends in .cuh. */
uint64_t code_hash(const char *text, const struct measure_config *config, unsigned arch)
{
    struct option_list options;
    list_options(config, arch, &options);
    uint64_t hash = hash_text(HASH_START, text);
    for (const struct kernel_source *source = kernel_sources; source->name; source++)
        if (strstr(source->name, ".cuh") && strstr(text, source->name))
            hash = hash_text(hash, source->text);
    for (int i = 0; i < options.count; i++)
        hash = hash_text(hash, options.text[i]);
    return hash;
}

static bool read_file(const char *path, void **bytes, size_t *size)
{
    FILE *stream = fopen(path, "rb");
    struct stat info;
    if (!stream)
        return false;
    bool good = fstat(fileno(stream), &info) == 0 && info.st_size > 0 && info.st_size < (64 << 20);
    char *block = good ? malloc((size_t)info.st_size + 1) : NULL;
    good = block && fread(block, 1, (size_t)info.st_size, stream) == (size_t)info.st_size;
    fclose(stream);
    if (!good) {
        free(block);
        return false;
    }
    block[info.st_size] = '\0';
    *bytes = block;
    *size = (size_t)info.st_size;
    return true;
}

/* Written under another name first: a reader never sees half a file. */
static void write_file(const char *path, const void *bytes, size_t size)
{
    char draft[CODE_PATH_SIZE + 24];
    snprintf(draft, sizeof draft, "%s.%ld", path, (long)getpid());
    FILE *stream = fopen(draft, "wb");
    if (!stream)
        return; /* a cache that cannot be written is only slower */
    bool good = fwrite(bytes, 1, size, stream) == size;
    good = fclose(stream) == 0 && good;
    if (!good || rename(draft, path) != 0)
        unlink(draft);
}

void code_cache_path(const char *directory, const char *source_name, uint64_t hash, int major, int minor,
                     const char *ending, char out[CODE_PATH_SIZE])
{
    if (major)
        snprintf(out, CODE_PATH_SIZE, "%s/%s-%016llx-%d.%d%s", directory, source_name, (unsigned long long)hash, major,
                 minor, ending);
    else
        snprintf(out, CODE_PATH_SIZE, "%s/%s-%016llx-*%s", directory, source_name, (unsigned long long)hash, ending);
}

/* The version at the end of DIRECTORY/SOURCE-HASH-VERSION.cubin. */
static void version_of_path(const char *path, struct machine_code *code)
{
    const char *dash = strrchr(path, '-');
    if (!dash || sscanf(dash, "-%d.%d.", &code->compiler_major, &code->compiler_minor) != 2)
        code->compiler_major = code->compiler_minor = 0;
}

/* Image and log of one version: with a compiler its own, else the first there is. */
static bool read_cached(const struct code_compiler *compiler, const char *source, uint64_t hash,
                        struct machine_code *code)
{
    char path[CODE_PATH_SIZE];
    size_t log_bytes;
    glob_t found;
    code_cache_path(compiler->cache, source, hash, compiler->major, compiler->minor, ".cubin", path);
    if (!compiler->major) {
        if (glob(path, 0, NULL, &found) != 0)
            return false;
        bool fits = found.gl_pathc > 0 && strlen(found.gl_pathv[0]) < sizeof path;
        snprintf(path, sizeof path, "%s", fits ? found.gl_pathv[0] : "");
        globfree(&found);
    }
    version_of_path(path, code);
    if (!read_file(path, &code->image, &code->image_bytes))
        return false;
    code_cache_path(compiler->cache, source, hash, code->compiler_major, code->compiler_minor, ".log", path);
    if (read_file(path, (void **)&code->log, &log_bytes))
        return true;
    machine_code_release(code);
    return false;
}

/* The first line that says "error", else the first line. */
static enum status report_log(const char *log, struct error *error)
{
    const char *line = strstr(log, "error");
    if (!line)
        line = log;
    while (line > log && line[-1] != '\n')
        line--;
    int length = (int)strcspn(line, "\n");
    return error_set(error, STATUS_BAD_DATA, "%.*s", length > 240 ? 240 : length, line);
}

/* fresh: past NVRTC's own cache, which gives machine code without the assembler's log; compilers before 12.9 have
 * neither the cache nor the option. *refused: the option was not understood. */
static enum status run_nvrtc(const struct nvrtc *nvrtc, const char *name, const char *text,
                             const struct option_list *options, bool fresh, bool *refused, struct machine_code *code,
                             struct error *error)
{
    const char *headers[HEADERS_MAX], *header_names[HEADERS_MAX], *arguments[OPTIONS_MAX + 2];
    char paths[HEADERS_MAX][MEASURE_NAME_SIZE + 8];
    int header_count = 0;
    for (const struct kernel_source *source = kernel_sources; source->name && header_count < HEADERS_MAX; source++) {
        if (strstr(source->name, ".cuh")) {
            snprintf(paths[header_count], sizeof *paths, "kernels/%s", source->name);
            header_names[header_count] = paths[header_count];
            headers[header_count++] = source->text;
        }
    }
    int count = 0;
    while (count < options->count) {
        arguments[count] = options->text[count];
        count++;
    }
    arguments[count++] = "--ptxas-options=-v"; /* registers and spills go to the log */
    if (fresh)
        arguments[count++] = "--no-cache";
    struct nvrtc_program *program = NULL;
    if (nvrtc->create(&program, text, name, header_count, headers, header_names) != 0)
        return error_set(error, STATUS_NO_MEMORY, "NVRTC could not take in %s", name);
    int compiled = nvrtc->compile(program, count, arguments);
    *refused = compiled == NVRTC_ERROR_INVALID_OPTION;
    size_t size = 0;
    enum status status = STATUS_OK;
    if (nvrtc->log_size(program, &size) == 0 && (code->log = calloc(1, size + 1)))
        nvrtc->log(program, code->log);
    if (!code->log)
        status = error_set(error, STATUS_NO_MEMORY, "no memory for the compiler's log");
    else if (compiled == NVRTC_ERROR_OUT_OF_MEMORY)
        status = error_set(error, STATUS_NO_MEMORY, "NVRTC ran out of memory compiling %s", name);
    else if (compiled == NVRTC_ERROR_BUILTINS)
        status = error_set(error, STATUS_IO, "NVRTC does not find its library of built-in functions");
    else if (compiled != 0)
        status = report_log(code->log, error);
    else if (nvrtc->cubin_size(program, &code->image_bytes) != 0 || code->image_bytes == 0 ||
             !(code->image = malloc(code->image_bytes)) || nvrtc->cubin(program, code->image) != 0)
        status = error_set(error, STATUS_BAD_DATA, "NVRTC gave no machine code for %s", name);
    else if (nvrtc->ptx_size(program, &size) != 0 || !(code->ptx = calloc(1, size + 1)) ||
             nvrtc->ptx(program, code->ptx) != 0)
        status = error_set(error, STATUS_BAD_DATA, "NVRTC gave no PTX for %s", name);
    nvrtc->destroy(&program);
    return status;
}

static const char *source_text(const char *source_name, char file[MEASURE_NAME_SIZE + 4])
{
    snprintf(file, MEASURE_NAME_SIZE + 4, "%s.cu", source_name);
    const char *text = kernel_source_find(file);
    if (!text)
        BUG("no kernel source %s is built in", file);
    return text;
}

enum status code_compile_fresh(struct code_compiler *compiler, const char *source_name,
                               const struct measure_config *config, unsigned arch, struct machine_code *code,
                               struct error *error)
{
    struct option_list options;
    char file[MEASURE_NAME_SIZE + 4];
    const char *text = source_text(source_name, file);
    bool refused;
    memset(code, 0, sizeof *code);
    if (!compiler->nvrtc.library)
        return embedded_code_explain(source_name, arch, error);
    list_options(config, arch, &options);
    enum status status = run_nvrtc(&compiler->nvrtc, file, text, &options, true, &refused, code, error);
    if (refused) {
        machine_code_release(code);
        status = run_nvrtc(&compiler->nvrtc, file, text, &options, false, &refused, code, error);
    }
    if (status != STATUS_OK) {
        machine_code_release(code);
        return status;
    }
    code->compiler_major = compiler->major;
    code->compiler_minor = compiler->minor;
    return STATUS_OK;
}

enum status code_compile(struct code_compiler *compiler, const char *source_name, const struct measure_config *config,
                         unsigned arch, struct machine_code *code, struct error *error)
{
    char file[MEASURE_NAME_SIZE + 4], path[CODE_PATH_SIZE];
    uint64_t hash = code_hash(source_text(source_name, file), config, arch);
    memset(code, 0, sizeof *code);
    const struct embedded_code *embedded = embedded_code_find(source_name, hash);
    if (embedded && embedded_code_usable(embedded, compiler->major, compiler->minor))
        return embedded_code_copy(embedded, code, error);
    if (compiler->cache[0] && read_cached(compiler, source_name, hash, code))
        return STATUS_OK;
    enum status status = code_compile_fresh(compiler, source_name, config, arch, code, error);
    if (status == STATUS_OK && compiler->cache[0]) {
        code_cache_path(compiler->cache, source_name, hash, compiler->major, compiler->minor, ".log", path);
        write_file(path, code->log, strlen(code->log));
        code_cache_path(compiler->cache, source_name, hash, compiler->major, compiler->minor, ".cubin", path);
        write_file(path, code->image, code->image_bytes);
    }
    return status;
}

void machine_code_release(struct machine_code *code)
{
    free(code->image);
    free(code->log);
    free(code->ptx);
    memset(code, 0, sizeof *code);
}

/* The number that stands before `label` in [text, end), or 0. */
static uint32_t number_before(const char *text, const char *end, const char *label)
{
    const char *found = strstr(text, label);
    if (!found || found >= end)
        return 0;
    const char *start = found;
    while (start > text && isdigit((unsigned char)start[-1]))
        start--;
    return (uint32_t)strtoul(start, NULL, 10);
}

bool machine_code_resources(const struct machine_code *code, const char *entry, struct measure_resources *resources)
{
    char mark[MEASURE_NAME_SIZE + 40];
    snprintf(mark, sizeof mark, "Compiling entry function '%s'", entry);
    const char *start = strstr(code->log, mark);
    if (!start)
        return false;
    start += strlen(mark);
    const char *end = strstr(start, "Compiling entry function");
    if (!end)
        end = start + strlen(start);
    resources->local_bytes = number_before(start, end, " bytes stack frame");
    resources->spill_store_bytes = number_before(start, end, " bytes spill stores");
    resources->spill_load_bytes = number_before(start, end, " bytes spill loads");
    resources->registers_per_thread = number_before(start, end, " registers");
    resources->barriers = number_before(start, end, " barriers");
    resources->static_smem_bytes = number_before(start, end, " bytes smem");
    return resources->registers_per_thread > 0;
}
