/* SPDX-License-Identifier: GPL-3.0-or-later
 * The figure `timeline`: what every SM runs when, from the table of `occam simulate cta --timeline` or of `occam
 * measure
 * --timeline`, or simulated here. Neighbouring CTAs of a slot differ in colour. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/units.h"
#include "cli/plot_table.h"
#include "sim/cta_simulator.h"

enum {
    CTAS_MAX = 2000000,
    KERNELS_SHOWN_MAX = 5,
    SLOTS_SEEN_MAX = 1 << 20,
    SMS_MAX = 65536,
    MEASURED_SLOTS_MAX = 64, /* twice what any GPU holds */
    LINES_APART_MAX = 40     /* slots that are drawn with a gap between them: more would flicker */
};
#define FILE_BYTES_MAX (256u << 20)
static const double NS_PER_US = 1e-3, ROOM_FOR_LABEL = 0.8;

struct segment {
    uint32_t kernel, sm, slot;
    double start_us, stop_us;
};

struct segments {
    size_t count;
    struct segment *items;
    uint32_t kernel_count, sm_count, slot_count;
    uint32_t kernel_slots[KERNELS_SHOWN_MAX]; /* slots that each kernel uses of an SM */
    const char *kernels[KERNELS_SHOWN_MAX * 2];
    bool measured;
    char device[96];
};

/* Of the first kernel. */
static double latest_stop(const struct segments *segments)
{
    double latest = 0.0;

    for (size_t i = 0; i < segments->count; i++)
        if (segments->items[i].kernel == 0)
            latest = fmax(latest, segments->items[i].stop_us);
    return latest;
}

static void count_places(struct segments *segments)
{
    for (size_t i = 0; i < segments->count; i++) {
        const struct segment *segment = &segments->items[i];

        segments->sm_count = segment->sm >= segments->sm_count ? segment->sm + 1 : segments->sm_count;
        segments->slot_count = segment->slot >= segments->slot_count ? segment->slot + 1 : segments->slot_count;
    }
}

/* How few CTAs of the first kernel still run half-way through the last one: what a tail costs. */
static const char *describe_tail(struct figure_sheet *sheet, const struct segments *segments)
{
    unsigned char *busy = sheet_memory(sheet, (size_t)segments->sm_count + 1);
    const double end = latest_stop(segments);
    double begin = end;
    size_t count = 0, running = 0, sms = 0;
    uint32_t highest = 0;
    char text[32];

    for (size_t i = 0; i < segments->count; i++) {
        const struct segment *segment = &segments->items[i];

        count += segment->kernel == 0;
        if (segment->kernel == 0 && segment->stop_us >= end && segment->start_us < begin)
            begin = segment->start_us;
    }
    const double middle = 0.5 * (begin + end);
    for (size_t i = 0; i < segments->count && busy != NULL; i++) {
        const struct segment *segment = &segments->items[i];

        if (segment->kernel != 0 || segment->start_us > middle || segment->stop_us <= middle)
            continue;
        running++;
        sms += !busy[segment->sm];
        busy[segment->sm] = 1;
        highest = segment->sm > highest ? segment->sm : highest;
    }
    if (running == 0)
        return "";
    if (highest + 1 < ROOM_FOR_LABEL * segments->sm_count) /* above the tail nothing is drawn */
        sheet_add_label(sheet, begin, highest + 1.0, sheet_text(sheet, "the last %zu CTAs", running));
    return sheet_text(sheet, "Of %zu CTAs of %s %zu run at %s us, half-way through the last one, on %zu of %u SMs.",
                      count, segments->kernels[0], running, number_format_digits(middle, 4, text), sms,
                      segments->sm_count);
}

/* CTAs alternate between two shades, so that rounds are told apart: odd[i] says that segment i is the 2nd, 4th, ... CTA
 * of its kernel in its slot. */
static bool mark_turns(const struct segments *segments, unsigned char *odd)
{
    const size_t slots = (size_t)segments->sm_count * segments->slot_count;
    struct turn {
        unsigned char kernel, odd; /* kernel: 1 more than its index; 0: none yet */
    } *turns = slots > SLOTS_SEEN_MAX ? NULL : calloc(slots + 1, sizeof *turns);

    if (turns == NULL)
        return false;
    for (size_t i = 0; i < segments->count; i++) {
        const struct segment *segment = &segments->items[i];
        struct turn *turn = &turns[(size_t)segment->sm * segments->slot_count + segment->slot];

        turn->odd = turn->kernel == segment->kernel + 1 ? !turn->odd : 0;
        turn->kernel = (unsigned char)(segment->kernel + 1);
        odd[i] = turn->odd;
    }
    free(turns);
    return true;
}

static const char *kernel_label(struct figure_sheet *sheet, const struct segments *segments, const unsigned char *odd,
                                uint32_t kernel, unsigned parity)
{
    bool several = false;

    for (size_t i = 0; i < segments->count; i++)
        several = several || (segments->items[i].kernel == kernel && odd[i] == 1);
    if (!several)
        return segments->kernels[kernel];
    return sheet_text(sheet, "%s, rounds %s, ...", segments->kernels[kernel], parity == 0 ? "1, 3" : "2, 4");
}

static void add_kernel(struct figure_sheet *sheet, const struct segments *segments, const unsigned char *odd,
                       uint32_t kernel, unsigned parity)
{
    static const int colors[KERNELS_SHOWN_MAX][2] = {{PLOT_COLOR_BASE, PLOT_COLOR_SIXTH},
                                                     {PLOT_COLOR_VARIANT, PLOT_COLOR_FIFTH},
                                                     {PLOT_COLOR_BEST, PLOT_COLOR_BEST},
                                                     {PLOT_COLOR_FOURTH, PLOT_COLOR_FOURTH},
                                                     {PLOT_COLOR_MEASURED, PLOT_COLOR_MEASURED}};
    size_t count = 0, n = 0;

    for (size_t i = 0; i < segments->count; i++)
        count += segments->items[i].kernel == kernel && odd[i] == parity;
    if (count == 0)
        return;
    double *x_lo = sheet_numbers(sheet, count), *x_hi = sheet_numbers(sheet, count);
    double *y_lo = sheet_numbers(sheet, count), *y_hi = sheet_numbers(sheet, count);
    const double slots = segments->kernel_slots[kernel];
    const bool apart = segments->sm_count * slots <= LINES_APART_MAX;

    if (sheet->failed)
        return;
    for (size_t i = 0; i < segments->count; i++) {
        const struct segment *segment = &segments->items[i];

        if (segment->kernel != kernel || odd[i] != parity)
            continue;
        x_lo[n] = segment->start_us;
        x_hi[n] = segment->stop_us;
        y_lo[n] = segment->sm + segment->slot / slots;
        y_hi[n++] = segment->sm + (segment->slot + (apart ? 0.9 : 1.0)) / slots;
    }
    sheet_add_series(sheet, (struct figure_series){.label = kernel_label(sheet, segments, odd, kernel, parity),
                                                   .style = SERIES_STYLE_BOXES,
                                                   .count = count,
                                                   .x_lo = x_lo,
                                                   .x_hi = x_hi,
                                                   .y_lo = y_lo,
                                                   .y_hi = y_hi,
                                                   .touching = !apart,
                                                   .color_index = colors[kernel % KERNELS_SHOWN_MAX][parity]});
}

static enum status fill(struct figure_sheet *sheet, struct segments *segments, struct error *error)
{
    unsigned char *odd = calloc(segments->count + 1, 1);

    if (odd == NULL)
        return error_set(error, STATUS_NO_MEMORY, "memory ran out for the figure");
    if (!mark_turns(segments, odd)) {
        free(odd);
        return error_set(error, STATUS_LIMIT, "a timeline of %u SMs with %u slots is too large to draw",
                         segments->sm_count, segments->slot_count);
    }
    for (size_t i = 0; i < segments->count; i++) {
        const struct segment *segment = &segments->items[i];
        uint32_t *slots = &segments->kernel_slots[segment->kernel];

        *slots = segment->slot >= *slots ? segment->slot + 1 : *slots;
    }
    for (uint32_t k = 0; k < segments->kernel_count; k++)
        for (unsigned parity = 0; parity < 2; parity++)
            add_kernel(sheet, segments, odd, k, parity);
    free(odd);
    sheet->figure.x_label = "time (us)";
    sheet->figure.y_label = "SM, its slots one above the other";
    return sheet_check(sheet, error);
}

static enum status whole_number(const struct csv_table *table, size_t row, size_t column, uint32_t limit,
                                uint32_t *value, struct error *error)
{
    double number;
    enum status status = csv_number(table, row, column, &number, error);

    if (status != STATUS_OK)
        return status;
    if (!(number >= 0.0 && number < limit && number == floor(number)))
        return error_set_at(error, STATUS_BAD_DATA, table->file, table->lines[row], 0,
                            "%s is no whole number from 0 to %u", table->names[column], limit - 1);
    *value = (uint32_t)number;
    return STATUS_OK;
}

/* Index of the kernel's name; the last of the room stands for all that come later. */
static uint32_t kernel_index(struct figure_sheet *sheet, struct segments *segments, const char *name)
{
    for (uint32_t k = 0; k < segments->kernel_count; k++)
        if (strcmp(segments->kernels[k], name) == 0)
            return k;
    if (segments->kernel_count == KERNELS_SHOWN_MAX) {
        segments->kernels[KERNELS_SHOWN_MAX - 1] = "other kernels";
        return KERNELS_SHOWN_MAX - 1;
    }
    segments->kernels[segments->kernel_count] = sheet_text(sheet, "%s", name);
    return segments->kernel_count++;
}

static enum status read_simulated(const struct csv_table *table, struct figure_sheet *sheet, struct segments *segments,
                                  struct error *error)
{
    static const char *const names[] = {"kernel", "sm", "slot", "start_us", "stop_us"};
    long columns[5];
    enum status status = STATUS_OK;

    for (int i = 0; i < 5; i++) {
        columns[i] = csv_column(table, names[i]);
        if (columns[i] < 0)
            return error_set_at(error, STATUS_BAD_DATA, table->file, 1, 0, "no column %s: not a timeline", names[i]);
    }
    for (size_t r = 0; r < table->row_count && status == STATUS_OK; r++) {
        struct segment *segment = &segments->items[r];

        segment->kernel = kernel_index(sheet, segments, csv_cell(table, r, (size_t)columns[0]));
        status = whole_number(table, r, (size_t)columns[1], SMS_MAX, &segment->sm, error);
        if (status == STATUS_OK)
            status = whole_number(table, r, (size_t)columns[2], 4096, &segment->slot, error);
        if (status == STATUS_OK)
            status = csv_number(table, r, (size_t)columns[3], &segment->start_us, error);
        if (status == STATUS_OK)
            status = csv_number(table, r, (size_t)columns[4], &segment->stop_us, error);
    }
    return status;
}

static int compare_starts(const void *left_item, const void *right_item)
{
    const struct segment *left = left_item, *right = right_item;

    if (left->sm != right->sm)
        return left->sm < right->sm ? -1 : 1;
    if (left->start_us != right->start_us)
        return left->start_us < right->start_us ? -1 : 1;
    return (left->stop_us > right->stop_us) - (left->stop_us < right->stop_us);
}

/* A GPU does not say which slot a CTA takes: the lowest that is free when it starts. Sorts the segments. */
static enum status find_slots(const char *file, struct segments *segments, struct error *error)
{
    double stops[MEASURED_SLOTS_MAX] = {0.0};
    uint32_t used = 0, slot;

    qsort(segments->items, segments->count, sizeof *segments->items, compare_starts);
    for (size_t i = 0; i < segments->count; i++) {
        struct segment *segment = &segments->items[i];

        if (i == 0 || segment->sm != segments->items[i - 1].sm)
            used = 0;
        for (slot = 0; slot < used && stops[slot] > segment->start_us; slot++)
            ;
        if (slot == MEASURED_SLOTS_MAX)
            return error_set_at(error, STATUS_BAD_DATA, file, 0, 0, "more than %d CTAs at a time on SM %u",
                                MEASURED_SLOTS_MAX, segment->sm);
        used = slot == used ? used + 1 : used;
        stops[slot] = segment->stop_us;
        segment->slot = slot;
    }
    return STATUS_OK;
}

static enum status read_measured(const struct csv_table *table, struct figure_sheet *sheet, struct segments *segments,
                                 struct error *error)
{
    const long sm = csv_column(table, "smid"), start = csv_column(table, "start_ns"),
               stop = csv_column(table, "stop_ns");
    const long kernel = csv_column(table, "kernel"), device = csv_column(table, "device");
    enum status status = STATUS_OK;

    if (start < 0 || stop < 0)
        return error_set_at(error, STATUS_BAD_DATA, table->file, 1, 0, "no column %s: not a timeline",
                            start < 0 ? "start_ns" : "stop_ns");
    for (size_t r = 0; r < table->row_count && status == STATUS_OK; r++) {
        struct segment *segment = &segments->items[r];

        segment->kernel = kernel_index(sheet, segments, kernel < 0 ? "CTAs" : csv_cell(table, r, (size_t)kernel));
        status = whole_number(table, r, (size_t)sm, SMS_MAX, &segment->sm, error);
        if (status == STATUS_OK)
            status = csv_number(table, r, (size_t)start, &segment->start_us, error);
        if (status == STATUS_OK)
            status = csv_number(table, r, (size_t)stop, &segment->stop_us, error);
        if (status == STATUS_OK && !(segment->stop_us >= segment->start_us))
            status =
                error_set_at(error, STATUS_BAD_DATA, table->file, table->lines[r], 0, "stop_ns lies before start_ns");
        segment->start_us *= NS_PER_US;
        segment->stop_us *= NS_PER_US;
    }
    if (device >= 0 && table->row_count > 0)
        (void)snprintf(segments->device, sizeof segments->device, "%s", csv_cell(table, 0, (size_t)device));
    segments->measured = true;
    segments->count = table->row_count;
    return status == STATUS_OK ? find_slots(table->file, segments, error) : status;
}

static enum status from_file(const char *path, struct figure_sheet *sheet, struct segments *segments,
                             struct error *error)
{
    struct csv_table table = {0};
    enum status status = csv_read(path, FILE_BYTES_MAX, &table, error);

    if (status != STATUS_OK)
        return status;
    segments->items = calloc(table.row_count + 1, sizeof *segments->items);
    if (segments->items == NULL)
        status = error_set(error, STATUS_NO_MEMORY, "memory ran out for the figure");
    else if (csv_column(&table, "smid") >= 0)
        status = read_measured(&table, sheet, segments, error);
    else
        status = read_simulated(&table, sheet, segments, error);
    segments->count = table.row_count;
    csv_table_release(&table);
    count_places(segments);
    sheet->figure.title = "CTAs on the SMs";
    sheet->figure.caption = sheet_text(
        sheet, "%s%s%s%s From %s; drawn %s.", describe_tail(sheet, segments), segments->measured ? " Measured on " : "",
        !segments->measured           ? ""
        : segments->device[0] == '\0' ? "a GPU not named"
                                      : segments->device,
        segments->measured ? "; slots in the order of the starts." : "", path, plot_date(sheet));
    return status;
}

static enum status simulate(const struct question *question, const struct layer_case *layer, struct segments *segments,
                            struct error *error)
{
    struct cta_simulation_options options = {.seed = 1};
    struct simulated_machine machine;
    struct cta_simulation run;
    uint64_t ctas = 0;
    enum status status = simulated_machine_init(&machine, question->device, &question->parameters, error);

    for (uint32_t k = 0; k < layer->kernel_count; k++)
        ctas += layer->kernels[k].skipped ? 0 : layer->kernels[k].launch.grid_ctas;
    if (status == STATUS_OK && ctas > CTAS_MAX)
        status = error_set(error, STATUS_LIMIT, "a timeline of %llu CTAs, the limit is %d", (unsigned long long)ctas,
                           CTAS_MAX);
    if (status != STATUS_OK)
        return status;
    options.timeline_capacity = (size_t)ctas;
    options.timeline = calloc((size_t)ctas + 1, sizeof *options.timeline);
    segments->items = calloc((size_t)ctas + 1, sizeof *segments->items);
    if (options.timeline == NULL || segments->items == NULL)
        status = error_set(error, STATUS_NO_MEMORY, "memory ran out for the figure");
    if (status == STATUS_OK)
        status = cta_simulate(&machine, layer, &options, &run, error);
    for (uint64_t i = 0; status == STATUS_OK && i < run.timeline_count; i++) {
        const struct cta_record *record = &options.timeline[i];

        segments->items[i] = (struct segment){record->kernel, record->sm, record->slot,
                                              record->start_s / SECONDS_PER_US, record->stop_s / SECONDS_PER_US};
        segments->count = (size_t)i + 1;
    }
    free(options.timeline);
    return status;
}

static enum status from_question(const struct plot_request *request, struct figure_sheet *sheet,
                                 struct segments *segments, struct error *error)
{
    struct prediction prediction;
    enum status status = plot_predict_feasible(request->question, request->question->values, &prediction, error);

    if (status == STATUS_OK)
        status = simulate(request->question, &prediction.layer, segments, error);
    if (status != STATUS_OK)
        return status;
    for (uint32_t k = 0; k < prediction.layer.kernel_count; k++)
        if (k < KERNELS_SHOWN_MAX)
            segments->kernels[segments->kernel_count++] = sheet_text(sheet, "%s", prediction.layer.kernels[k].name);
    for (size_t i = 0; i < segments->count; i++)
        if (segments->items[i].kernel >= KERNELS_SHOWN_MAX)
            segments->items[i].kernel = KERNELS_SHOWN_MAX - 1;
    count_places(segments);
    plot_describe(sheet, request->question, "CTAs on the SMs",
                  sheet_text(sheet, "Simulated, not measured: %s. %s",
                             plot_changes(sheet, request->question, request->question->values),
                             describe_tail(sheet, segments)));
    return STATUS_OK;
}

enum status plot_timeline(const struct plot_request *request, struct figure_sheet *sheet, struct error *error)
{
    struct segments segments = {0};
    enum status status = request->question != NULL ? from_question(request, sheet, &segments, error)
                                                   : from_file(request->files[0], sheet, &segments, error);

    if (status == STATUS_OK)
        status = fill(sheet, &segments, error);
    free(segments.items);
    return status;
}
