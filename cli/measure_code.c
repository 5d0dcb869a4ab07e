/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam measure --compile-only --code DIR`: keeps what the compiler makes of each compiled setting. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/measure_request.h"

enum {
    PATH_SIZE = 700
};

static enum status write_file(const char *path, const void *bytes, size_t size, struct error *error)
{
    FILE *stream = fopen(path, "wb");
    if (stream == NULL)
        return error_set(error, STATUS_IO, "%s: %s", path, strerror(errno));
    bool good = fwrite(bytes, 1, size, stream) == size;
    good = fclose(stream) == 0 && good;
    return good ? STATUS_OK : error_set(error, STATUS_IO, "%s: it could not be written", path);
}

static enum status write_code(const struct measure_code_folder *folder, const char *stem,
                              const struct measure_code *code, struct error *error)
{
    const struct {
        const char *ending;
        const void *bytes;
        size_t size;
    } files[] = {{"cubin", code->cubin, code->cubin_bytes},
                 {"ptx", code->ptx, strlen(code->ptx)},
                 {"log", code->log, strlen(code->log)}};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < sizeof files / sizeof *files && status == STATUS_OK; i++) {
        char path[PATH_SIZE];
        (void)snprintf(path, sizeof path, "%.500s/%s.%s", folder->path, stem, files[i].ending);
        status = write_file(path, files[i].bytes, files[i].size, error);
    }
    return status;
}

/* ",sm,VALUE,VALUE\n" of the compiled settings: one code however it is launched. */
static void append_settings(struct text_buffer *line, const struct measure_config *config, unsigned arch)
{
    text_buffer_append_format(line, ",%u", arch);
    for (size_t i = 0; i < config->kernel->setting_count; i++)
        if (config->kernel->settings[i].compiled)
            text_buffer_append_format(line, ",%lld", (long long)config->values[i]);
    text_buffer_append(line, "\n");
}

enum status measure_code_add(struct measure_code_folder *folder, struct measure_compiler *compiler,
                             const struct measure_config *config, unsigned arch, struct error *error)
{
    struct measure_code code = {0};
    struct text_buffer settings = {0};
    char stem[100];
    enum status status = STATUS_OK;
    append_settings(&settings, config, arch);
    bool is_known =
        settings.failed || (folder->known.text != NULL && strstr(folder->known.text, settings.text) != NULL);
    if (!is_known) {
        (void)snprintf(stem, sizeof stem, "%.60s-sm_%u-%zu", config->kernel->name, arch, ++folder->count);
        if (folder->count == 1 && mkdir(folder->path, 0777) != 0 && errno != EEXIST)
            status = error_set(error, STATUS_IO, "%s: %s", folder->path, strerror(errno));
        if (status == STATUS_OK)
            status = measure_compile_code(compiler, config, arch, &code, error);
        if (status == STATUS_OK)
            status = write_code(folder, stem, &code, error);
        text_buffer_append_format(&folder->index, "%s%s", stem, settings.text);
        text_buffer_append(&folder->known, settings.text);
    }
    if (status == STATUS_OK && (settings.failed || folder->index.failed || folder->known.failed))
        status = error_set(error, STATUS_NO_MEMORY, "no memory for an index of compiled code");
    measure_code_release(&code);
    text_buffer_release(&settings);
    return status;
}

enum status measure_code_finish(struct measure_code_folder *folder, const struct measure_kernel *kernel,
                                struct error *error)
{
    struct text_buffer text = {0};
    char path[PATH_SIZE];
    if (folder->count == 0)
        return STATUS_OK;
    text_buffer_append(&text, "file,compute_capability");
    for (size_t i = 0; i < kernel->setting_count; i++)
        if (kernel->settings[i].compiled)
            text_buffer_append_format(&text, ",%s", kernel->settings[i].name);
    text_buffer_append_format(&text, "\n%s", folder->index.text);
    (void)snprintf(path, sizeof path, "%.500s/index.csv", folder->path);
    enum status status = text.failed ? error_set(error, STATUS_NO_MEMORY, "no memory for an index of compiled code")
                                     : write_file(path, text.text, text.length, error);
    text_buffer_release(&text);
    return status;
}
