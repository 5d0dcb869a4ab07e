/* SPDX-License-Identifier: GPL-3.0-or-later
 * From the events of a trace to claims: the first launch of its kind is parsed in full, later ones alike are recognised
 * by their text. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "evidence/json_tolerant.h"
#include "evidence/profiles/profile_readers.h"
#include "evidence/profiles/trace_events.h"
#include "evidence/profiles/trace_launch.h"
#include "evidence/profiles/trace_operators.h"
#include "evidence/profiles/trace_reader_private.h"
#include "evidence/profiles/trace_scan.h"
#include "evidence/profiles/trace_shapes.h"

enum {
    DEVICES_MAX = 64,
    DEFAULT_SMEM_BYTES = 48 << 10 /* the limit without opt-in, with which Kineto estimates occupancy */
};

struct trace_device {
    int64_t id;
    const char *name; /* in the list's arena */
    uint32_t arch;    /* 0: not NVIDIA's, or unknown */
    double sm_count, threads_per_sm;
};

struct trace_reader {
    const char *name;
    bool parses_all;
    struct kernel_claim_list *list;
    struct trace_shapes shapes;
    struct trace_scan scan;
    struct trace_operators operators;
    struct trace_device devices[DEVICES_MAX];
    size_t device_count;
    struct error *error;
};

/* --- devices -------------------------------------------------------------------------------------------------------
 */

static double positive(const json_t *object, const char *key)
{
    double number = NAN;
    bool is_good = json_tolerant_number(json_object_get(object, key), &number) && number >= 1 && number <= INT32_MAX;
    return is_good ? number : (double)NAN;
}

static enum status read_device(struct trace_reader *self, const json_t *item)
{
    struct trace_device *device = &self->devices[self->device_count];
    const char *name = json_string_value(json_object_get(item, "name"));
    const json_t *id = json_object_get(item, "id");
    if (!json_is_integer(id) || name == NULL) {
        kernel_claim_skip(self->list, "%s: deviceProperties has an entry without id and name", self->name);
        return STATUS_OK;
    }
    double major = positive(item, "computeMajor"), minor = 0;
    bool has_minor = json_tolerant_number(json_object_get(item, "computeMinor"), &minor) && minor >= 0 && minor <= 9;
    /* AMD's have the same keys for something else; this one only they have. */
    bool is_other = json_object_get(item, "maxSharedMemoryPerMultiProcessor") != NULL;
    *device = (struct trace_device){.id = json_integer_value(id),
                                    .name = arena_copy_text(&self->list->arena, name, strlen(name)),
                                    .sm_count = positive(item, "numSms"),
                                    .threads_per_sm = positive(item, "maxThreadsPerMultiprocessor")};
    if (!is_other && has_minor && major >= 1 && major <= 99) {
        device->arch = 10 * (uint32_t)major + (uint32_t)minor;
    }
    if (device->name == NULL) {
        return error_set(self->error, STATUS_NO_MEMORY, "no memory for the devices of %s", self->name);
    }
    self->device_count++;
    return STATUS_OK;
}

static enum status read_devices(struct trace_reader *self, const struct trace_item *item)
{
    json_t *root = NULL;
    struct error reason = {0};
    enum status status = STATUS_OK;
    if (item->length == 0 || item->text[0] != '[' ||
        json_tolerant_parse(item->text, item->length, self->name, JSON_DUPLICATES_LAST, &root, NULL, &reason) !=
            STATUS_OK) {
        kernel_claim_skip(self->list, "%s: deviceProperties at byte %llu: %s", self->name,
                          (unsigned long long)item->offset, reason.text[0] != '\0' ? reason.text : "an array expected");
        return STATUS_OK;
    }
    for (size_t i = 0; i < json_array_size(root) && status == STATUS_OK; i++) {
        if (self->device_count == DEVICES_MAX) {
            kernel_claim_skip(self->list, "%s: more than %d devices", self->name, DEVICES_MAX);
        } else {
            status = read_device(self, json_array_get(root, i));
        }
    }
    json_decref(root);
    return status;
}

static const struct trace_device *find_device(const struct trace_reader *self, int64_t id)
{
    for (size_t i = 0; i < self->device_count; i++) {
        if (self->devices[i].id == id) {
            return &self->devices[i];
        }
    }
    return NULL;
}

/* Leaves an element out, with its place. */
static void skip(struct trace_reader *self, const struct trace_item *item, const char *reason)
{
    if (item->ordinal == 0) {
        kernel_claim_skip(self->list, "%s: byte %llu: %s", self->name, (unsigned long long)item->offset, reason);
    } else {
        kernel_claim_skip(self->list, "%s: event %llu at byte %llu: %s", self->name, (unsigned long long)item->ordinal,
                          (unsigned long long)item->offset, reason);
    }
}

/* --- launches ------------------------------------------------------------------------------------------------------
 */

static double product(const uint32_t sides[3])
{
    return (double)sides[0] * sides[1] * sides[2];
}

/* Occupancy figures as the profiler computes them, where they mean something. Above 48 KiB it computes with the limit
 * without opt-in and says 0. Its percentage is the smaller of what fits and what was launched. The device may be told
 * only behind the events, so what cannot be told yet is left for finish_claim: the interval stays, unless the grid was
 * too small. */
static void set_occupancy(struct trace_reader *self, struct kernel_claim *claim, const struct trace_launch *launch)
{
    bool is_faulty = launch->shape.smem_bytes > DEFAULT_SMEM_BYTES;
    bool has_figure = !isnan(launch->occupancy_percent) || !isnan(launch->resident_ctas);
    if (is_faulty && has_figure) {
        kernel_claim_remark(self->list, claim, "occupancy left out: the profiler counts with at most 48 KiB of SMEM");
    }
    if (is_faulty || launch->shape.smem_bytes == TRACE_UNKNOWN) {
        return;
    }
    if (launch->resident_ctas >= 1) {
        kernel_claim_set(claim, CLAIM_CTAS_PER_SM, launch->resident_ctas);
    }
    double percent = launch->occupancy_percent, threads = product(launch->shape.block);
    if (percent > 0 && percent <= 100 && threads > 0) {
        claim->figures[CLAIM_OCCUPANCY] =
            (struct claim_value){true, fmax(0, percent - 0.5) / 100, fmin(100, percent + 0.5) / 100};
    }
}

static void fill_claim(struct trace_reader *self, struct kernel_claim *claim, const struct trace_launch *launch)
{
    const struct trace_shape *shape = &launch->shape;
    memcpy(claim->grid, shape->grid, sizeof claim->grid);
    memcpy(claim->block, shape->block, sizeof claim->block);
    if (shape->grid[0] > 0) {
        kernel_claim_set(claim, CLAIM_GRID, product(shape->grid));
    }
    if (shape->block[0] > 0) {
        kernel_claim_set(claim, CLAIM_THREADS, product(shape->block));
    }
    if (shape->registers > 0) {
        kernel_claim_set(claim, CLAIM_REGISTERS, (double)shape->registers);
    }
    if (shape->smem_bytes >= 0) {
        kernel_claim_set(claim, CLAIM_LAUNCH_SMEM, (double)shape->smem_bytes);
    }
    set_occupancy(self, claim, launch);
}

/* One more launch of a group; is_first: the one that made it. An operator tells the inputs only where it told them for
 * every launch, and the same. A launch before its operator in the file has none. */
static void add_launch(struct trace_reader *self, struct launch_group *group, const struct trace_launch *launch,
                       bool is_first)
{
    struct trace_kind *kind = &self->shapes.kinds[group - self->shapes.groups.items];
    const uint32_t operator= launch->graph_node> 0 ? (uint32_t)TRACE_OPERATOR_NONE
                                                   : trace_operators_find(&self->operators, launch->operator_id);
    kind->operators_differ = kind->operators_differ || (!is_first && kind->operator!= operator);
    kind->operator= is_first ? operator: kind->operator;
    launch_table_count(&self->shapes.groups, group, launch->duration_us, launch->start_us);
}

static enum status count_launch(struct trace_reader *self, const struct trace_launch *launch, uint64_t ordinal)
{
    struct launch_group *group = trace_shapes_find(&self->shapes, launch);
    const bool is_first = group == NULL;
    if (is_first) {
        enum status status = trace_shapes_add(&self->shapes, launch, ordinal, &group, self->error);
        if (status != STATUS_OK || group == NULL) {
            return status;
        }
        fill_claim(self, &self->list->items[group->claim], launch);
    }
    add_launch(self, group, launch, is_first);
    return STATUS_OK;
}

static enum status parse_launch(struct trace_reader *self, const struct trace_item *item)
{
    json_t *root = NULL;
    bool is_kernel = false;
    struct trace_launch launch;
    struct error reason = {0};
    enum status status = trace_launch_parse(item->text, item->length, &root, &is_kernel, &launch, &reason);
    if (status == STATUS_NO_MEMORY) {
        *self->error = reason;
    } else if (status != STATUS_OK) {
        skip(self, item, reason.text);
        status = STATUS_OK;
    } else if (is_kernel) {
        status = count_launch(self, &launch, item->ordinal);
    }
    json_decref(root);
    return status;
}

static enum status read_kernel(struct trace_reader *self, const struct trace_item *item)
{
    struct trace_launch launch;
    if (!self->parses_all && trace_scan_launch(&self->scan, item->text, item->length, &launch)) {
        struct launch_group *group = trace_shapes_find(&self->shapes, &launch);
        if (group != NULL) {
            add_launch(self, group, &launch, false);
            return STATUS_OK;
        }
        if (self->shapes.groups.count == TRACE_GROUPS_MAX) {
            self->shapes.groups.left_out++;
            return STATUS_OK;
        }
    }
    return parse_launch(self, item);
}

/* --- the whole file ------------------------------------------------------------------------------------------------
 */

/* What called the kernel, with which inputs. */
static enum status tell_operator(struct trace_reader *self, size_t index)
{
    const struct trace_kind *kind = &self->shapes.kinds[index];
    struct kernel_claim *claim = &self->list->items[self->shapes.groups.items[index].claim];
    if (kind->operators_differ) {
        kernel_claim_remark(self->list, claim, "called with different inputs, or not all of them told");
    }
    if (kind->operators_differ || kind->operator== TRACE_OPERATOR_NONE || kind->operator== TRACE_OPERATOR_UNCLEAR) {
        return STATUS_OK;
    }
    enum status status = trace_operators_claim(&self->operators, kind->operator, self->list, claim, self->error);
    if (status == STATUS_OK && claim->operator!= NULL) {
        kernel_claim_remark(self->list, claim, "called by %s with inputs %s", claim->operator->name,
                            claim->operator->input_dims);
    }
    return status;
}

/* What hangs on the device. */
static void finish_claim(const struct trace_reader *self, size_t index)
{
    const struct launch_group *group = &self->shapes.groups.items[index];
    struct kernel_claim *claim = &self->list->items[group->claim];
    struct claim_value *occupancy = &claim->figures[CLAIM_OCCUPANCY];
    const struct trace_device *device = find_device(self, self->shapes.kinds[index].shape.device);
    if (group->timed < group->launches) {
        kernel_claim_remark(self->list, claim, "%llu launches have no duration",
                            (unsigned long long)(group->launches - group->timed));
    }
    if (device == NULL) {
        *occupancy = (struct claim_value){0};
        return;
    }
    claim->device = device->name;
    claim->arch = device->arch;
    if (!isnan(device->sm_count)) {
        kernel_claim_set(claim, CLAIM_SM_COUNT, device->sm_count);
    }
    /* Launched threads per SM, as far as the device could hold them: were they fewer than what fits, the percentage
     * tells of the grid. */
    double launched = product(claim->grid) * product(claim->block) / device->sm_count / device->threads_per_sm;
    if (!(launched > occupancy->high)) {
        *occupancy = (struct claim_value){0};
    }
}

static void remark(struct kernel_claim_list *list, const char *text)
{
    size_t length = strlen(list->remark);
    (void)snprintf(list->remark + length, sizeof list->remark - length, "%s%s", length > 0 ? "; " : "", text);
}

static void remark_end(struct trace_reader *self, const struct trace_events *events, const struct byte_stream *stream)
{
    char text[512];
    if (byte_stream_damage(stream)[0] != '\0') {
        (void)snprintf(text, sizeof text, "%s: %s", self->name, byte_stream_damage(stream));
        remark(self->list, text);
    }
    if (events->is_cut) {
        (void)snprintf(text, sizeof text, "%s: cut off %s at byte %llu, behind %llu complete events", self->name,
                       events->is_cut_in_event ? "within the event that begins" : "between events",
                       (unsigned long long)events->offset, (unsigned long long)events->event_count);
        remark(self->list, text);
    }
    if (events->has_rest) {
        (void)snprintf(text, sizeof text, "%s: what follows the end of the trace at byte %llu was not read", self->name,
                       (unsigned long long)events->offset);
        remark(self->list, text);
    }
    if (self->shapes.groups.left_out > 0) {
        (void)snprintf(text, sizeof text, "%s: %llu launches of further kinds were left out behind the first %zu",
                       self->name, (unsigned long long)self->shapes.groups.left_out, self->shapes.groups.count);
        remark(self->list, text);
    }
    if (self->operators.left_out > 0) {
        (void)snprintf(text, sizeof text, "%s: the inputs of %llu operators were left out", self->name,
                       (unsigned long long)self->operators.left_out);
        remark(self->list, text);
    }
    if (self->shapes.groups.count == 0) {
        (void)snprintf(text, sizeof text, "%s: no kernels among %llu events", self->name,
                       (unsigned long long)events->event_count);
        remark(self->list, text);
    }
}

static enum status read_items(struct trace_reader *self, struct trace_events *events)
{
    struct trace_item item;
    enum status status = trace_events_next(events, &item, self->error);
    while (status == STATUS_OK && item.kind != TRACE_ITEM_END) {
        if (item.kind == TRACE_ITEM_KERNEL) {
            status = read_kernel(self, &item);
        } else if (item.kind == TRACE_ITEM_OPERATOR) {
            status = trace_operators_note(&self->operators, item.text, item.length, self->error);
        } else if (item.kind == TRACE_ITEM_DEVICES) {
            status = read_devices(self, &item);
        } else {
            skip(self, &item, item.reason);
        }
        if (status == STATUS_OK) {
            status = trace_events_next(events, &item, self->error);
        }
    }
    return status;
}

enum status trace_read_stream(struct byte_stream *stream, const char *name, bool parses_all,
                              struct kernel_claim_list *list, struct error *error)
{
    struct trace_reader reader = {.name = name, .parses_all = parses_all, .list = list, .error = error};
    struct trace_events events;
    struct error own = {0};
    reader.error = error != NULL ? error : &own;
    enum status status = trace_events_init(&events, stream, name, reader.error);
    if (status == STATUS_OK) {
        status = trace_shapes_init(&reader.shapes, list, name, reader.error);
    }
    if (status == STATUS_OK) {
        status = read_items(&reader, &events);
    }
    if (status == STATUS_OK) {
        for (size_t i = 0; i < reader.shapes.groups.count && status == STATUS_OK; i++) {
            finish_claim(&reader, i);
            status = tell_operator(&reader, i);
        }
    }
    if (status == STATUS_OK) {
        launch_table_finish(&reader.shapes.groups, false);
        remark_end(&reader, &events, stream);
    }
    trace_operators_release(&reader.operators);
    trace_shapes_release(&reader.shapes);
    trace_events_release(&events);
    return status;
}

enum status trace_read(const char *path, struct kernel_claim_list *list, struct error *error)
{
    struct byte_stream *stream = NULL;
    enum status status = byte_stream_open(path, &stream, error);
    if (status == STATUS_OK) {
        byte_stream_read_ahead(stream);
        status = trace_read_stream(stream, path, false, list, error);
    }
    byte_stream_free(stream);
    return status;
}
