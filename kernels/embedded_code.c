/* SPDX-License-Identifier: GPL-3.0-or-later
 * Look-up in the code that the build put in. Called by code_compiler.c; described to the other rooms by measure.h. */
#include "kernels/embedded_code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct embedded_code *embedded_code_find(const char *source_name, uint64_t hash)
{
    for (size_t i = 0; i < embedded_code_count; i++)
        if (embedded_codes[i].hash == hash && strcmp(embedded_codes[i].source, source_name) == 0)
            return &embedded_codes[i];
    return NULL;
}

bool embedded_code_usable(const struct embedded_code *embedded, int major, int minor)
{
    return major == 0 || (embedded->compiler_major == major && embedded->compiler_minor == minor);
}

enum status embedded_code_copy(const struct embedded_code *embedded, struct machine_code *code, struct error *error)
{
    size_t image_bytes = (size_t)(embedded->image_end - embedded->image), log_bytes = strlen(embedded->log) + 1;
    memset(code, 0, sizeof *code);
    code->image = malloc(image_bytes);
    code->log = malloc(log_bytes);
    if (!code->image || !code->log) {
        machine_code_release(code);
        return error_set(error, STATUS_NO_MEMORY, "no memory for %zu bytes of machine code", image_bytes);
    }
    memcpy(code->image, embedded->image, image_bytes);
    memcpy(code->log, embedded->log, log_bytes);
    code->image_bytes = image_bytes;
    code->compiler_major = embedded->compiler_major;
    code->compiler_minor = embedded->compiler_minor;
    return STATUS_OK;
}

/* "block_t/num_stages/..." or "16/2/...": the names or the values of "block_t=16 num_stages=2". */
static size_t add_part(char *out, size_t size, const char *settings, bool names)
{
    size_t used = 0;
    for (const char *word = settings; *word && used + 1 < size;) {
        const char *equals = strchr(word, '='), *end = strchr(word, ' ');
        if (!end)
            end = word + strlen(word);
        const char *from = names || !equals ? word : equals + 1, *to = names && equals ? equals : end;
        used += (size_t)snprintf(out + used, size - used, "%s%.*s", used ? "/" : "", (int)(to - from), from);
        word = *end ? end + 1 : end;
    }
    return used < size ? used : size - 1;
}

/* " sm_80, sm_86": the architectures there is code for. */
static void list_archs(char *out, size_t size)
{
    size_t used = 0;
    unsigned last = 0;
    out[0] = '\0';
    for (size_t i = 0; i < embedded_code_count && used < size; i++) {
        if (embedded_codes[i].arch == last)
            continue;
        used += (size_t)snprintf(out + used, size - used, "%s sm_%u", last ? "," : "", embedded_codes[i].arch);
        last = embedded_codes[i].arch;
    }
}

enum status embedded_code_explain(const char *source_name, unsigned arch, struct error *error)
{
    char list[160], part[120];
    size_t used = 0, count = 0, shown = 0;
    list[0] = '\0';
    for (size_t i = 0; i < embedded_code_count; i++) {
        const struct embedded_code *code = &embedded_codes[i];
        if (code->arch != arch || strcmp(code->source, source_name) != 0)
            continue;
        if (count++ == 0)
            used = add_part(list, sizeof list, code->settings, true);
        size_t length = add_part(part, sizeof part, code->settings, false);
        if (shown + 1 == count && used + length + 3 < sizeof list) {
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", shown ? ", " : " ", part);
            shown++;
        }
    }
    if (count == 0) {
        list_archs(list, sizeof list);
        return error_set(error, STATUS_MISSING,
                         "no NVRTC, not in the code cache, and %s is not built in for sm_%u%s%s%s", source_name, arch,
                         list[0] ? " (only for" : "", list, list[0] ? ")" : "");
    }
    char more[40] = "";
    if (shown < count)
        snprintf(more, sizeof more, " and %zu more", count - shown);
    return error_set(error, STATUS_MISSING,
                     "no NVRTC, not in the code cache, and %s is built in for sm_%u only with %s%s", source_name, arch,
                     list, more);
}

size_t measure_embedded_describe(char *out, size_t out_size)
{
    char archs[120];
    list_archs(archs, sizeof archs);
    if (embedded_code_count > 0)
        snprintf(out, out_size, "%zu pieces by NVRTC %d.%d for%s", embedded_code_count,
                 embedded_codes[0].compiler_major, embedded_codes[0].compiler_minor, archs);
    else
        snprintf(out, out_size, "none: the build found no NVRTC or left it out (EMBED_CODE=0)");
    return embedded_code_count;
}
