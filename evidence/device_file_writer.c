/* SPDX-License-Identifier: GPL-3.0-or-later
 * Writes device files. */
#include "evidence/device_file_writer.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/csv.h"
#include "base/text_buffer.h"

enum {
    PATH_SIZE = 1024,
    VALUE_DIGITS = 12
};

static void write_line(FILE *stream, const char *const cells[6])
{
    for (int i = 0; i < 6; i++) {
        if (i > 0) {
            (void)fputc(',', stream);
        }
        csv_write_field(stream, cells[i]);
    }
    (void)fputc('\n', stream);
}

static void write_text(FILE *stream, const char *field, const char *value, const char *origin)
{
    if (value[0] != '\0') {
        write_line(stream, (const char *const[6]){field, value, "text", origin, "literature", ""});
    }
}

static void write_figures(FILE *stream, const struct gpu_device *device)
{
    for (int i = 0; i < GPU_FIGURE_COUNT; i++) {
        const enum gpu_figure_id id = (enum gpu_figure_id)i;
        const struct gpu_figure *figure = &device->figures[i];
        char number[32];
        if (figure->source == INPUT_SOURCE_ABSENT || !isfinite(figure->value)) {
            continue;
        }
        write_line(stream, (const char *const[6]){
                               gpu_figure_column(id),
                               number_format_digits(figure->value / gpu_figure_si_factor(id), VALUE_DIGITS, number),
                               gpu_figure_unit(id), figure->citation, input_source_name(figure->source), figure->note});
    }
}

static void write_all(FILE *stream, const struct gpu_device *device, const char *origin, const char *heading)
{
    char cc[24];
    (void)snprintf(cc, sizeof cc, "%u.%u", device->limits.cc_major, device->limits.cc_minor);
    (void)fprintf(stream, "# %s\nfield,value,unit,source,kind,note\n", heading);
    write_text(stream, "title", device->title, origin);
    write_text(stream, "cc", cc, origin);
    write_text(stream, "chip", device->chip, origin);
    write_text(stream, "memory_type", device->memory_type, origin);
    write_figures(stream, device);
}

enum status device_file_write(const char *path, const struct gpu_device *device, const char *origin,
                              const char *heading, struct error *error)
{
    char temporary[PATH_SIZE];
    const int length = snprintf(temporary, sizeof temporary, "%s.%ld.new", path, (long)getpid());
    if (length < 0 || (size_t)length >= sizeof temporary) {
        return error_set(error, STATUS_LIMIT, "the path of the device file is too long");
    }
    FILE *stream = fopen(temporary, "wxe");
    if (!stream) {
        return error_set_at(error, STATUS_IO, path, 0, 0, "cannot be written: %s", strerror(errno));
    }
    write_all(stream, device, origin, heading);
    const bool failed = ferror(stream) != 0;
    if (fclose(stream) != 0 || failed || rename(temporary, path) != 0) {
        const enum status status = error_set_at(error, STATUS_IO, path, 0, 0, "cannot be written: %s", strerror(errno));
        (void)unlink(temporary);
        return status;
    }
    return STATUS_OK;
}
