/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam inspect`: what files of compiled code say, as a table, as a table of loops, or as a scenario. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "cli/command.h"
#include "cli/command_texts.h"
#include "cli/inspect.h"
#include "cli/options.h"

enum {
    LOOPS_SHOWN = 2 /* main loops printed without --loops */
};

enum inspect_form {
    INSPECT_TABLE,
    INSPECT_LOOPS,
    INSPECT_SCENARIO
};

struct inspect_options {
    enum output_format format;
    enum inspect_form form;
    enum code_listing_choice listing;
    bool all_loops;
    uint64_t warps;
    const char *kernel, *arch, *output;
    struct operands operands;
};

static enum status choose(const char *option, const char *text, const char *const *names, size_t count, int *choice,
                          struct error *error)
{
    for (size_t i = 0; text != NULL && i < count; i++) {
        if (strcmp(names[i], text) == 0) {
            *choice = (int)i;
            return STATUS_OK;
        }
    }
    return text == NULL ? STATUS_OK
                        : error_set(error, STATUS_USAGE, "option --%s: \"%s\" is none of %s, %s, %s", option, text,
                                    names[0], names[1], names[2]);
}

static enum status read_options(int argc, char **argv, struct inspect_options *options, struct error *error)
{
    static const char *const forms[] = {"table", "loops", "scenario"}, *const listings[] = {"auto", "ptx", "sass"};
    const char *form = NULL, *listing = NULL;
    int form_choice = INSPECT_TABLE, listing_choice = CODE_LISTING_AUTO;
    const struct option_row rows[] = {
        {.name = "format", .kind = OPTION_FORMAT, .target = &options->format},
        {.name = "as", .kind = OPTION_TEXT, .target = &form},
        {.name = "listing", .kind = OPTION_TEXT, .target = &listing},
        {.name = "kernel", .kind = OPTION_TEXT, .target = &options->kernel},
        {.name = "arch", .kind = OPTION_TEXT, .target = &options->arch},
        {0, "warps", OPTION_COUNT, &options->warps, 1, 64},
        {.name = "loops", .kind = OPTION_FLAG, .target = &options->all_loops},
        {.letter = 'o', .name = "output", .kind = OPTION_TEXT, .target = &options->output},
    };
    uint32_t number;
    char suffix;
    *options = (struct inspect_options){0};
    enum status status = options_parse(argc, argv, rows, sizeof rows / sizeof rows[0], "FILE or FOLDER", 1,
                                       OPERANDS_MAX, &options->operands, error);
    if (status == STATUS_OK)
        status = choose("as", form, forms, 3, &form_choice, error);
    if (status == STATUS_OK)
        status = choose("listing", listing, listings, 3, &listing_choice, error);
    if (status == STATUS_OK && options->arch != NULL &&
        !code_arch_parse(options->arch, strlen(options->arch), &number, &suffix))
        status =
            error_set(error, STATUS_USAGE, "option --arch: \"%s\" is no architecture such as sm_90", options->arch);
    options->form = (enum inspect_form)form_choice;
    options->listing = (enum code_listing_choice)listing_choice;
    if (status == STATUS_OK && options->output != NULL && options->form == INSPECT_TABLE)
        status = error_set(error, STATUS_USAGE, "option --output goes with --as loops or --as scenario");
    return status;
}

/* --- files that are written ----------------------------------------------------------------------------------------
 */

typedef enum status file_writer(const struct inspect_rows *rows, const char *table, FILE *stream, struct error *error);

static enum status write_loops(const struct inspect_rows *rows, const char *unused, FILE *stream, struct error *error)
{
    (void)unused;
    return inspect_loop_table(rows, stream, error);
}

static enum status write_text(const char *path, const char *text, size_t size, struct error *error)
{
    FILE *stream = fopen(path, "w");
    if (stream == NULL)
        return error_set_at(error, STATUS_IO, path, 0, 0, "the file cannot be written: %s", strerror(errno));
    const bool complete = fwrite(text, 1, size, stream) == size;
    if (fclose(stream) != 0 || !complete)
        return error_set_at(error, STATUS_IO, path, 0, 0, "the file cannot be written: %s", strerror(errno));
    return STATUS_OK;
}

/* The whole text first: what cannot be answered leaves a file that was there as it is. */
static enum status write_file(const struct inspect_rows *rows, const char *path, file_writer *writer, const char *table,
                              struct error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (memory == NULL)
        return error_set(error, STATUS_NO_MEMORY, "no memory for %s", path);
    enum status status = writer(rows, table, memory, error);
    if (fclose(memory) != 0 && status == STATUS_OK)
        status = error_set(error, STATUS_NO_MEMORY, "no memory for %s", path);
    if (status == STATUS_OK)
        status = write_text(path, text, size, error);
    free(text);
    return status;
}

/* "dir/k.yaml": the table is "dir/k.csv", called "k.csv" in the scenario. */
static enum status write_scenario(const struct inspect_rows *rows, const char *output, struct error *error)
{
    struct text_buffer path = {0};
    size_t length = strlen(output);
    const char *ending = length > 5 && strcmp(output + length - 5, ".yaml") == 0 ? output + length - 5 : NULL;
    if (ending == NULL)
        return error_set(error, STATUS_USAGE, "option --output: a scenario's name ends in .yaml");
    text_buffer_append_bytes(&path, output, (size_t)(ending - output));
    text_buffer_append(&path, ".csv");
    if (path.failed)
        return error_set(error, STATUS_NO_MEMORY, "no memory for a file name");
    const char *slash = strrchr(path.text, '/');
    enum status status = write_file(rows, output, inspect_scenario, slash != NULL ? slash + 1 : path.text, error);
    if (status == STATUS_OK)
        status = write_file(rows, path.text, write_loops, NULL, error);
    if (status == STATUS_OK)
        (void)printf("%s, %s: occam predict %s says what to answer\n", output, path.text, output);
    text_buffer_release(&path);
    return status;
}

/* --- answers -------------------------------------------------------------------------------------------------------
 */

static enum status answer_table(const struct inspect_rows *rows, const struct inspect_options *options,
                                struct error *error)
{
    struct report report = {0};
    if (options->format == OUTPUT_FORMAT_TEXT)
        return inspect_print(rows, options->all_loops ? SIZE_MAX : LOOPS_SHOWN, error);
    inspect_record(rows, &report);
    enum status status = report_print(&report, options->format, "variants", stdout, error);
    report_release(&report);
    return status;
}

static enum status answer(const struct inspect_rows *rows, const struct inspect_options *options, struct error *error)
{
    if (options->form == INSPECT_TABLE)
        return answer_table(rows, options, error);
    if (options->form == INSPECT_LOOPS)
        return options->output != NULL ? write_file(rows, options->output, write_loops, NULL, error)
                                       : inspect_loop_table(rows, stdout, error);
    return options->output != NULL ? write_scenario(rows, options->output, error)
                                   : inspect_scenario(rows, "loops.csv", stdout, error);
}

int command_inspect(int argc, char **argv)
{
    struct inspect_options options;
    struct compiled_code code = {0};
    struct inspect_rows rows = {0};
    struct error error = {0};
    enum status status = read_options(argc, argv, &options, &error);
    if (status == STATUS_OK)
        status = compiled_code_read(options.operands.items, options.operands.count, options.listing, &code, &error);
    if (status == STATUS_OK)
        status = inspect_rows_choose(&code, options.kernel, options.arch, (uint32_t)options.warps, &rows, &error);
    if (status == STATUS_OK)
        status = answer(&rows, &options, &error);
    free(rows.items);
    compiled_code_release(&code);
    return status == STATUS_OK ? 0 : command_fail("inspect", &error);
}
