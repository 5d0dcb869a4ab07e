/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam inspect`: what files of evidence say, as a table, as a table of loops or measurements, as a curve, or as a
 * scenario. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "cli/command.h"
#include "cli/command_texts.h"
#include "cli/inspect_evidence.h"
#include "cli/options.h"
#include "model/describe/gpu_device.h"

enum {
    LOOPS_SHOWN = 2 /* main loops printed without --loops */
};

enum inspect_form {
    INSPECT_TABLE,
    INSPECT_LOOPS,
    INSPECT_SCENARIO,
    INSPECT_MEASUREMENTS,
    INSPECT_CURVE,
    INSPECT_FORMS
};

struct inspect_options {
    enum output_format format;
    enum inspect_form form;
    enum code_listing_choice listing;
    bool all_loops;
    uint64_t warps;
    const char *kernel, *arch, *output;
    struct text_list columns;
    struct operands operands;
};

static enum status choose(const char *option, const char *text, const char *const *names, size_t count, int *choice,
                          struct error *error)
{
    struct text_buffer list = {0};
    for (size_t i = 0; text != NULL && i < count; i++) {
        if (strcmp(names[i], text) == 0) {
            *choice = (int)i;
            text_buffer_release(&list);
            return STATUS_OK;
        }
        text_buffer_append_format(&list, "%s%s", i > 0 ? ", " : "", names[i]);
    }
    enum status status = text == NULL ? STATUS_OK
                                      : error_set(error, STATUS_USAGE, "option --%s: \"%s\" is none of %s", option,
                                                  text, list.text != NULL ? list.text : "");
    text_buffer_release(&list);
    return status;
}

static enum status read_options(int argc, char **argv, struct inspect_options *options, struct error *error)
{
    static const char *const forms[INSPECT_FORMS] = {"table", "loops", "scenario", "measurements", "curve"},
                             *const listings[] = {"auto", "ptx", "sass"};
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
        {.name = "column", .kind = OPTION_LIST, .target = &options->columns},
    };
    uint32_t number;
    char suffix;
    *options = (struct inspect_options){0};
    enum status status = options_parse(argc, argv, rows, sizeof rows / sizeof rows[0], "FILE or FOLDER", 1,
                                       OPERANDS_MAX, &options->operands, error);
    if (status == STATUS_OK)
        status = choose("as", form, forms, INSPECT_FORMS, &form_choice, error);
    if (status == STATUS_OK)
        status = choose("listing", listing, listings, 3, &listing_choice, error);
    if (status == STATUS_OK && options->arch != NULL &&
        !code_arch_parse(options->arch, strlen(options->arch), &number, &suffix))
        status =
            error_set(error, STATUS_USAGE, "option --arch: \"%s\" is no architecture such as sm_90", options->arch);
    options->form = (enum inspect_form)form_choice;
    options->listing = (enum code_listing_choice)listing_choice;
    if (status == STATUS_OK && options->output != NULL && options->form == INSPECT_TABLE)
        status = error_set(error, STATUS_USAGE, "option --output goes with another --as than table");
    if (status == STATUS_OK && options->columns.count > 0 && options->form != INSPECT_MEASUREMENTS)
        status = error_set(error, STATUS_USAGE, "option --column goes with --as measurements");
    return status;
}

/* --- files that are written ----------------------------------------------------------------------------------------
 */

/* Everything an answer is made of. */
struct inspection {
    struct evidence evidence;
    struct inspect_rows rows;
    struct inspect_claims claims;
    const struct text_list *columns; /* --column */
    char device[GPU_NAME_SIZE];
};

typedef enum status file_writer(const struct inspection *self, const char *table, FILE *stream, struct error *error);

static enum status write_loops(const struct inspection *self, const char *unused, FILE *stream, struct error *error)
{
    (void)unused;
    return inspect_loop_table(&self->rows, stream, error);
}

static enum status write_code_scenario(const struct inspection *self, const char *table, FILE *stream,
                                       struct error *error)
{
    return inspect_scenario(&self->rows, table, stream, error);
}

static enum status write_launch_scenario(const struct inspection *self, const char *unused, FILE *stream,
                                         struct error *error)
{
    (void)unused;
    return inspect_launch_scenario(&self->rows, stream, error);
}

static enum status write_measurements(const struct inspection *self, const char *unused, FILE *stream,
                                      struct error *error)
{
    (void)unused;
    return inspect_measurements(&self->claims, self->columns, stream, error);
}

static enum status write_curve(const struct inspection *self, const char *unused, FILE *stream, struct error *error)
{
    (void)unused;
    return inspect_curve(&self->evidence, stream, error);
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

/* *text is the caller's to free, also after an error. */
static enum status write_memory(const struct inspection *self, file_writer *writer, const char *table, char **text,
                                size_t *size, struct error *error)
{
    FILE *memory = open_memstream(text, size);
    if (memory == NULL)
        return error_set(error, STATUS_NO_MEMORY, "no memory for the answer");
    enum status status = writer(self, table, memory, error);
    if (fclose(memory) != 0 && status == STATUS_OK)
        status = error_set(error, STATUS_NO_MEMORY, "no memory for the answer");
    return status;
}

/* The whole text first: what cannot be answered leaves a file that was there as it is. */
static enum status write_file(const struct inspection *self, const char *path, file_writer *writer, const char *table,
                              struct error *error)
{
    char *text = NULL;
    size_t size = 0;
    enum status status = write_memory(self, writer, table, &text, &size, error);
    if (status == STATUS_OK)
        status = write_text(path, text, size, error);
    free(text);
    return status;
}

static enum status check_scenario_path(const char *output, const char **ending, struct error *error)
{
    const size_t length = strlen(output);
    *ending = length > 5 && strcmp(output + length - 5, ".yaml") == 0 ? output + length - 5 : NULL;
    return *ending != NULL ? STATUS_OK
                           : error_set(error, STATUS_USAGE, "option --output: a scenario's name ends in .yaml");
}

static const char *next_step(const struct inspection *self)
{
    return self->rows.launch != NULL && !isnan(self->rows.fit.turns) ? "" : " says what to answer";
}

/* "dir/k.yaml": the table is "dir/k.csv", called "k.csv" in the scenario. */
static enum status write_scenario(const struct inspection *self, const char *output, struct error *error)
{
    struct text_buffer path = {0};
    const char *ending = NULL;
    enum status status = check_scenario_path(output, &ending, error);
    if (status != STATUS_OK)
        return status;
    text_buffer_append_bytes(&path, output, (size_t)(ending - output));
    text_buffer_append(&path, ".csv");
    if (path.failed)
        return error_set(error, STATUS_NO_MEMORY, "no memory for a file name");
    const char *slash = strrchr(path.text, '/');
    status = write_file(self, output, write_code_scenario, slash != NULL ? slash + 1 : path.text, error);
    if (status == STATUS_OK)
        status = write_file(self, path.text, write_loops, NULL, error);
    if (status == STATUS_OK && self->rows.launch != NULL)
        inspect_print_launch(self->rows.launch, self->rows.other_launches, "", stdout);
    if (status == STATUS_OK)
        (void)printf("%s, %s: occam predict %s%s\n", output, path.text, output, next_step(self));
    text_buffer_release(&path);
    return status;
}

static enum status write_launch(const struct inspection *self, const char *output, struct error *error)
{
    const char *ending = NULL;
    enum status status = check_scenario_path(output, &ending, error);
    if (status == STATUS_OK)
        status = write_file(self, output, write_launch_scenario, NULL, error);
    if (status == STATUS_OK)
        inspect_print_launch(self->rows.launch, self->rows.other_launches, "", stdout);
    if (status == STATUS_OK)
        (void)printf("%s: occam predict %s%s\n", output, output, next_step(self));
    return status;
}

/* --- answers -------------------------------------------------------------------------------------------------------
 */

/* Compiled code was asked for, whatever else lies in its folders: it keeps its own table. */
static bool is_about_code(const struct inspection *self)
{
    for (size_t i = 0; i < self->evidence.file_count; i++)
        if (self->evidence.files[i].is_named)
            return false;
    return self->rows.count > 0;
}

static enum status print_tables(const struct inspection *self, size_t loops, struct error *error)
{
    const bool about_code = is_about_code(self);
    enum status status = about_code ? inspect_print_table(&self->rows, error) : STATUS_OK;
    if (status == STATUS_OK && self->evidence.file_count + self->evidence.problem_count > 0) {
        if (about_code)
            (void)printf("\nOther files there:\n");
        status = inspect_evidence_print(&self->claims, about_code ? self->rows.count : 0, error);
    }
    if (status == STATUS_OK && self->rows.count > 0)
        inspect_print_loops(&self->rows, loops);
    return status;
}

static enum status answer_table(const struct inspection *self, const struct inspect_options *options,
                                struct error *error)
{
    struct report report = {0};
    const char *rows = is_about_code(self) ? "variants" : self->claims.count > 0 ? "claims" : "serving";
    if (options->format == OUTPUT_FORMAT_TEXT)
        return print_tables(self, options->all_loops ? SIZE_MAX : LOOPS_SHOWN, error);
    inspect_record(&self->rows, &report);
    if (self->evidence.file_count > 0)
        inspect_evidence_record(&self->claims, &report);
    enum status status = report_print(&report, options->format, rows, stdout, error);
    report_release(&report);
    return status;
}

static enum status need_code(const struct inspection *self, struct error *error)
{
    return self->rows.count > 0
               ? STATUS_OK
               : error_set(error, STATUS_USAGE, "no compiled code among the files: there are no loops");
}

/* Turns of the loop from the time of the launch: what the scenario itself predicts is solved for them. */
static enum status fit_turns(struct inspection *self, file_writer *writer, struct error *error)
{
    char *text = NULL;
    size_t size = 0;
    self->rows.fit.turns = 1; /* any number: it is what is solved for */
    enum status status = write_memory(self, writer, NULL, &text, &size, error);
    if (status == STATUS_OK)
        inspect_fit_turns(text, size, inspect_time_us(self->rows.launch), &self->rows.fit);
    free(text);
    return status;
}

/* A launch among the claims gives the scenario its grid and its GPU, and chooses the variants that explain it. */
static enum status answer_scenario(struct inspection *self, const struct inspect_options *options, struct error *error)
{
    bool explained = false;
    struct inspect_rows *rows = &self->rows;
    rows->fit = (struct inspect_fit){.turns = NAN};
    enum status status = inspect_launch_choose(&self->claims, &rows->launch, &rows->other_launches, error);
    if (status == STATUS_OK && rows->launch != NULL) {
        status = inspect_launch_device(rows->launch, self->device, error);
        rows->launch_device = self->device[0] != '\0' ? self->device : NULL;
        inspect_rows_of_launch(rows, rows->launch, &explained);
    }
    if (status != STATUS_OK)
        return status;
    if (rows->launch != NULL && !explained) {
        if (rows->count > 0)
            (void)fprintf(stderr, "occam: inspect: no compiled variant explains this launch: the scenario is of the "
                                  "launch alone (occam reconcile says why)\n");
        status = fit_turns(self, write_launch_scenario, error);
        if (status != STATUS_OK)
            return status;
        return options->output != NULL ? write_launch(self, options->output, error)
                                       : write_launch_scenario(self, NULL, stdout, error);
    }
    status = need_code(self, error);
    if (status == STATUS_OK && rows->launch != NULL)
        status = fit_turns(self, write_code_scenario, error);
    if (status != STATUS_OK)
        return status;
    return options->output != NULL ? write_scenario(self, options->output, error)
                                   : inspect_scenario(rows, NULL, stdout, error);
}

static enum status answer(struct inspection *self, const struct inspect_options *options, struct error *error)
{
    static file_writer *const writers[INSPECT_FORMS] = {
        [INSPECT_LOOPS] = write_loops, [INSPECT_MEASUREMENTS] = write_measurements, [INSPECT_CURVE] = write_curve};
    if (options->form == INSPECT_TABLE)
        return answer_table(self, options, error);
    if (options->form == INSPECT_SCENARIO)
        return answer_scenario(self, options, error);
    enum status status = options->form == INSPECT_LOOPS ? need_code(self, error) : STATUS_OK;
    if (status != STATUS_OK)
        return status;
    return options->output != NULL ? write_file(self, options->output, writers[options->form], NULL, error)
                                   : writers[options->form](self, NULL, stdout, error);
}

/* The variants of compiled code; none is fine where other evidence is left. */
static enum status choose_rows(struct inspection *self, const struct inspect_options *options, struct error *error)
{
    enum status status = inspect_rows_choose(&self->evidence.code, options->kernel, options->arch,
                                             (uint32_t)options->warps, &self->rows, error);
    if (status == STATUS_USAGE && (self->evidence.file_count > 0 || self->evidence.code.count == 0)) {
        *error = (struct error){0};
        status = STATUS_OK;
    }
    return status == STATUS_OK ? inspect_claims_choose(&self->evidence, &self->rows, options->kernel, options->arch,
                                                       &self->claims, error)
                               : status;
}

int command_inspect(int argc, char **argv)
{
    struct inspect_options options;
    struct inspection self = {0};
    struct error error = {0};
    enum status status = read_options(argc, argv, &options, &error);
    self.columns = &options.columns;
    if (status == STATUS_OK)
        status = evidence_read(options.operands.items, options.operands.count, options.listing, &self.evidence, &error);
    if (status == STATUS_OK)
        status = choose_rows(&self, &options, &error);
    if (status == STATUS_OK)
        status = answer(&self, &options, &error);
    free(self.rows.items);
    inspect_claims_release(&self.claims);
    evidence_release(&self.evidence);
    return status == STATUS_OK ? 0 : command_fail("inspect", &error);
}
