/* SPDX-License-Identifier: GPL-3.0-or-later
 * Reader of cuobjdump's resource report: "Function k:" and below it "REG:74 STACK:0 SHARED:1024 LOCAL:0 ...". */
#include "evidence/code/resource_usage_text.h"

#include <string.h>

#include "evidence/text_lines.h"

struct usage_reader {
    const char *name;
    struct compiled_kernel_list *list;
    struct error *error;
    unsigned line;
    uint32_t arch;
    char suffix;
    bool is_pending; /* a function was named, its figures follow */
    struct text_span function;
};

bool resource_usage_text_is_one(const char *text, size_t length)
{
    struct text_span span = {text, text + length};
    return span_find(&span, "Resource usage:");
}

static enum status fail(const struct usage_reader *self, const char *text)
{
    return error_set_at(self->error, STATUS_BAD_DATA, self->name, self->line, 0, "%s", text);
}

static void record_item(struct compiled_kernel *kernel, const char *key, size_t key_length, uint64_t value)
{
    const enum code_source source = CODE_SOURCE_RESOURCE_USAGE;
    if (key_length == 3 && memcmp(key, "REG", 3) == 0) {
        compiled_kernel_set(kernel, COMPILED_REGISTERS, FIGURE_EXACT, source, value);
    } else if (key_length == 5 && memcmp(key, "STACK", 5) == 0) {
        compiled_kernel_set(kernel, COMPILED_STACK, FIGURE_EXACT, source, value);
    } else if (key_length == 6 && memcmp(key, "SHARED", 6) == 0) {
        compiled_kernel_set_merged_smem(kernel, source, value);
    }
}

/* REG:N STACK:N SHARED:N LOCAL:N CONSTANT[0]:N ... */
static enum status read_figures(struct usage_reader *self, struct text_span span)
{
    struct compiled_kernel *kernel;
    enum status status =
        compiled_kernel_list_add(self->list, self->function.at, (size_t)(self->function.end - self->function.at),
                                 self->name, &kernel, self->error);
    if (status != STATUS_OK) {
        return status;
    }
    kernel->line = self->line;
    kernel->arch = self->arch;
    kernel->arch_suffix = self->suffix;
    self->is_pending = false;
    while (span_skip_spaces(&span), span.at < span.end) {
        const char *key = span.at, *colon = memchr(span.at, ':', (size_t)(span.end - span.at));
        uint64_t value;
        if (colon == NULL) {
            return fail(self, "expected figures such as REG:74 STACK:0 SHARED:1024");
        }
        span.at = colon + 1;
        if (!span_take_number(&span, &value)) {
            return fail(self, "a figure of the resource report is no whole number");
        }
        if (colon - key == 3 && memcmp(key, "REG", 3) == 0 && value > COMPILED_REGISTERS_MAX) {
            return fail(self, "more than 255 registers per thread");
        }
        record_item(kernel, key, (size_t)(colon - key), value);
    }
    if (kernel->figures[COMPILED_STATIC_SMEM].state == FIGURE_AT_MOST) {
        compiled_kernel_remark(self->list, kernel,
                               "the report names no architecture: from sm_90 on 1024 of the bytes are the reserve");
    }
    return kernel->figures[COMPILED_REGISTERS].state != FIGURE_UNKNOWN ? STATUS_OK
                                                                       : fail(self, "a function without REG");
}

static enum status read_line(struct usage_reader *self, struct text_span span)
{
    span_skip_spaces(&span);
    while (span.end > span.at && span.end[-1] == ' ') {
        span.end--;
    }
    if (self->is_pending && span.at < span.end) {
        struct text_span rest = span;
        if (!span_find(&rest, "REG:")) {
            return fail(self, "expected the figures of the function named on the line before");
        }
        return read_figures(self, span);
    }
    if (span_take(&span, "arch = ")) {
        self->arch = 0;
        self->suffix = 0;
        (void)code_arch_parse(span.at, (size_t)(span.end - span.at), &self->arch, &self->suffix);
    } else if (span_take(&span, "Fatbin ") || span_take(&span, "==")) {
        self->arch = 0; /* another file or part: its architecture is its own */
        self->suffix = 0;
    } else if (span_take(&span, "Function ") && span.end > span.at && span.end[-1] == ':') {
        self->function = (struct text_span){span.at, span.end - 1};
        self->is_pending = true;
    }
    return STATUS_OK;
}

enum status resource_usage_text_parse(const char *text, size_t length, const char *name,
                                      struct compiled_kernel_list *list, struct error *error)
{
    struct usage_reader reader = {.name = name, .list = list, .error = error};
    struct text_lines lines = {text, text + length, 0};
    struct text_span span;
    size_t before = list->count;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && text_lines_next(&lines, &span)) {
        reader.line = lines.line;
        status = read_line(&reader, span);
    }
    if (status == STATUS_OK && reader.is_pending) {
        status = fail(&reader, "the report ends before the figures of its last function");
    }
    if (status == STATUS_OK && list->count == before) {
        status = error_set_at(error, STATUS_BAD_DATA, name, 0, 0, "no function in this resource report");
    }
    list->count = status == STATUS_OK ? list->count : before;
    return status;
}
