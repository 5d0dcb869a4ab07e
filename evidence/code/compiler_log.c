/* SPDX-License-Identifier: GPL-3.0-or-later
 * Reader of ptxas' verbose report. Lines look like "ptxas info    : Used 74 registers, used 1 barriers, 376 bytes
 * cumulative stack size, 4000 bytes smem, 364 bytes cmem[0]"; what is 0 is mostly left out. */
#include "evidence/code/compiler_log.h"

#include <string.h>

#include "evidence/text_lines.h"

enum {
    REJECTIONS_MAX = 64 /* errors that wait for their kernel */
};

/* "Entry function 'k' uses too much shared data (0x13880 bytes, 0xc000 max)": comes before the kernel's report. */
struct rejection {
    struct text_span name, reason;
};

struct log_reader {
    const char *name;
    struct compiled_kernel_list *list;
    struct error *error;
    unsigned line;
    struct compiled_kernel *kernel; /* being filled; the list's last */
    bool is_own_property;           /* the last "Function properties" were those of this kernel */
    bool has_usage;
    size_t rejection_count;
    struct rejection rejections[REJECTIONS_MAX];
};

bool compiler_log_is_one(const char *text, size_t length)
{
    struct text_span span = {text, text + length};
    while (span_find(&span, "ptxas ")) {
        struct text_span rest = span;
        span_skip_spaces(&rest);
        if (span_take(&rest, "info :") || span_take(&rest, "error :") || span_take(&rest, "warning :")) {
            return true;
        }
    }
    return false;
}

static void set_exact(struct log_reader *self, enum compiled_figure figure, uint64_t value)
{
    compiled_kernel_set(self->kernel, figure, FIGURE_EXACT, CODE_SOURCE_COMPILER_LOG, value);
}

/* --- the kernel before the next one begins ------------------------------------------------------------------------
 */

static void finish_kernel(struct log_reader *self)
{
    if (self->kernel == NULL) {
        return;
    }
    if (!self->has_usage && !self->kernel->is_rejected) {
        compiled_kernel_remark(self->list, self->kernel, "the log ends before this kernel's line of registers");
    }
    self->kernel = NULL;
}

static void apply_rejection(struct log_reader *self)
{
    for (size_t i = 0; i < self->rejection_count; i++) {
        const struct rejection *rejection = &self->rejections[i];
        size_t length = (size_t)(rejection->name.end - rejection->name.at);
        if (length == strlen(self->kernel->name) && memcmp(rejection->name.at, self->kernel->name, length) == 0) {
            self->kernel->is_rejected = true;
            compiled_kernel_remark(self->list, self->kernel, "refused by the compiler: %.*s",
                                   (int)(rejection->reason.end - rejection->reason.at), rejection->reason.at);
            self->rejections[i] = self->rejections[--self->rejection_count];
            return;
        }
    }
}

/* Compiling entry function 'NAME' for 'sm_90a' */
static enum status begin_kernel(struct log_reader *self, struct text_span span)
{
    struct text_span name, arch;
    finish_kernel(self);
    if (!span_take_quoted(&span, &name) || !span_take(&span, " for ") || !span_take_quoted(&span, &arch)) {
        return error_set_at(self->error, STATUS_BAD_DATA, self->name, self->line, 0,
                            "\"Compiling entry function\" without a name and an architecture in quotes");
    }
    enum status status = compiled_kernel_list_add(self->list, name.at, (size_t)(name.end - name.at), self->name,
                                                  &self->kernel, self->error);
    if (status != STATUS_OK) {
        return status;
    }
    self->kernel->line = self->line;
    self->has_usage = self->is_own_property = false;
    if (!code_arch_parse(arch.at, (size_t)(arch.end - arch.at), &self->kernel->arch, &self->kernel->arch_suffix)) {
        return error_set_at(self->error, STATUS_BAD_DATA, self->name, self->line, 0,
                            "'%.*s' is no architecture such as sm_90a", (int)(arch.end - arch.at), arch.at);
    }
    apply_rejection(self);
    return STATUS_OK;
}

/* Function properties for NAME: of the kernel itself, or of a function kept out of line. */
static void begin_properties(struct log_reader *self, struct text_span span)
{
    span_skip_spaces(&span);
    while (span.end > span.at && span.end[-1] == ' ') {
        span.end--;
    }
    size_t length = (size_t)(span.end - span.at);
    self->is_own_property = self->kernel != NULL && length == strlen(self->kernel->name) &&
                            memcmp(span.at, self->kernel->name, length) == 0;
}

/* N bytes stack frame, N bytes spill stores, N bytes spill loads */
static void read_frame(struct log_reader *self, struct text_span span)
{
    uint64_t frame, stores, loads;
    if (self->kernel != NULL && self->is_own_property && span_take_number(&span, &frame) &&
        span_take(&span, " bytes stack frame, ") && span_take_number(&span, &stores) &&
        span_take(&span, " bytes spill stores, ") && span_take_number(&span, &loads) &&
        span_take(&span, " bytes spill loads")) {
        set_exact(self, COMPILED_STACK, frame);
        set_exact(self, COMPILED_SPILL_STORES, stores);
        set_exact(self, COMPILED_SPILL_LOADS, loads);
    }
}

/* One item of the "Used" line: "74 registers", "used 1 barriers", "4000 bytes smem", "48+16 bytes smem". */
static void read_item(struct log_reader *self, struct text_span item)
{
    uint64_t value, more = 0;
    span_skip_spaces(&item);
    (void)span_take(&item, "used ");
    if (!span_take_number(&item, &value)) {
        return;
    }
    if (span_take(&item, "+")) {
        (void)span_take_number(&item, &more); /* sm_1x: parameters were kept in SMEM */
    }
    if (span_take(&item, " registers")) {
        self->has_usage = value <= COMPILED_REGISTERS_MAX;
        set_exact(self, COMPILED_REGISTERS, value);
    } else if (span_take(&item, " barriers")) {
        set_exact(self, COMPILED_BARRIERS, value);
    } else if (span_take(&item, " bytes smem")) {
        set_exact(self, COMPILED_STATIC_SMEM, value + more);
    } else if (span_take(&item, " bytes cumulative stack size")) {
        struct code_figure *stack = &self->kernel->figures[COMPILED_STACK];
        if (stack->state == FIGURE_UNKNOWN || stack->value < value) {
            set_exact(self, COMPILED_STACK, value); /* with the frames of what it calls */
        }
    }
}

/* Used N registers, ... */
static enum status read_usage(struct log_reader *self, struct text_span span)
{
    if (self->kernel == NULL || self->has_usage) {
        return STATUS_OK; /* belongs to no entry function that was announced: not attached to another */
    }
    set_exact(self, COMPILED_STATIC_SMEM, 0); /* left out where it is 0 */
    set_exact(self, COMPILED_RESERVED_SMEM, compiled_reserved_smem_bytes(self->kernel->arch));
    while (span.at < span.end) {
        const char *comma = memchr(span.at, ',', (size_t)(span.end - span.at));
        struct text_span item = {span.at, comma != NULL ? comma : span.end};
        read_item(self, item);
        span.at = comma != NULL ? comma + 1 : span.end;
    }
    if (!self->has_usage) {
        return error_set_at(self->error, STATUS_BAD_DATA, self->name, self->line, 0,
                            "a line \"Used ...\" without a number of registers from 0 to %d", COMPILED_REGISTERS_MAX);
    }
    return STATUS_OK;
}

/* Entry function 'NAME' uses too much shared data (...) */
static void read_error(struct log_reader *self, struct text_span span)
{
    struct text_span name, rest = span;
    if (!span_find(&rest, "ntry function ") || !span_take_quoted(&rest, &name)) {
        return;
    }
    size_t length = (size_t)(name.end - name.at);
    span_skip_spaces(&rest);
    if (self->kernel != NULL && length == strlen(self->kernel->name) &&
        memcmp(name.at, self->kernel->name, length) == 0) {
        self->kernel->is_rejected = true;
        compiled_kernel_remark(self->list, self->kernel, "refused by the compiler: %.*s", (int)(rest.end - rest.at),
                               rest.at);
    } else if (self->rejection_count < REJECTIONS_MAX) {
        self->rejections[self->rejection_count++] = (struct rejection){name, rest};
    }
}

/* --- lines ---------------------------------------------------------------------------------------------------------
 */

static enum status read_line(struct log_reader *self, struct text_span span)
{
    struct text_span rest = span;
    if (!span_find(&rest, "ptxas ")) {
        span_skip_spaces(&span);
        read_frame(self, span); /* indented below "Function properties" */
        return STATUS_OK;
    }
    span_skip_spaces(&rest);
    if (span_take(&rest, ". ")) { /* NVRTC's form of the indented line */
        read_frame(self, rest);
        return STATUS_OK;
    }
    if (span_take(&rest, "error : ")) {
        read_error(self, rest);
        return STATUS_OK;
    }
    if (!span_take(&rest, "info : ")) {
        return STATUS_OK;
    }
    if (span_take(&rest, "Compiling entry function ")) {
        return begin_kernel(self, rest);
    }
    if (span_take(&rest, "Function properties for ")) {
        begin_properties(self, rest);
        return STATUS_OK;
    }
    return span_take(&rest, "Used ") ? read_usage(self, rest) : STATUS_OK;
}

enum status compiler_log_parse(const char *text, size_t length, const char *name, struct compiled_kernel_list *list,
                               struct error *error)
{
    struct log_reader reader = {.name = name, .list = list, .error = error};
    struct text_lines lines = {text, text + length, 0};
    struct text_span span;
    size_t before = list->count;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && text_lines_next(&lines, &span)) {
        reader.line = lines.line;
        status = read_line(&reader, span);
    }
    finish_kernel(&reader);
    if (status == STATUS_OK && list->count == before) {
        status = error_set_at(error, STATUS_BAD_DATA, name, 0, 0,
                              "no kernel in this log: compile with -Xptxas -v (NVRTC: --ptxas-options=-v)");
    }
    list->count = status == STATUS_OK ? list->count : before;
    return status;
}
