/* SPDX-License-Identifier: GPL-3.0-or-later
 * Finding the ledger, and records from a question. */
#include "cli/ledger_place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "cli/program_version.h"

enum {
    SCENARIO_BYTES_MAX = 8 << 20
};

/* Every folder above the file. */
static enum status make_folders(const char *path, struct error *error)
{
    struct text_buffer folder = {0};
    enum status status = STATUS_OK;
    for (const char *slash = strchr(path + 1, '/'); slash != NULL && status == STATUS_OK;
         slash = strchr(slash + 1, '/')) {
        text_buffer_clear(&folder);
        text_buffer_append_bytes(&folder, path, (size_t)(slash - path));
        if (folder.failed) {
            status = error_set(error, STATUS_NO_MEMORY, "no memory for the ledger's place");
        } else if (mkdir(folder.text, 0777) != 0 && errno != EEXIST) {
            status = error_set(error, STATUS_IO, "ledger: cannot make folder %s: %s", folder.text, strerror(errno));
        }
    }
    text_buffer_release(&folder);
    return status;
}

enum status ledger_place_open(const char *asked, bool to_write, struct ledger **ledger, struct error *error)
{
    const char *named = asked != NULL ? asked : getenv("OCCAM_LEDGER");
    if (named != NULL && named[0] != '\0') {
        return ledger_open(named, to_write, ledger, error);
    }
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    struct text_buffer path = {0};
    *ledger = NULL;
    if (data != NULL && data[0] == '/') {
        text_buffer_append_format(&path, "%s/occam/ledger.sqlite", data);
    } else if (home != NULL && home[0] == '/') {
        text_buffer_append_format(&path, "%s/.local/share/occam/ledger.sqlite", home);
    } else {
        return error_set(error, STATUS_MISSING, "there is no home folder for the ledger: name it with --ledger FILE");
    }
    enum status status =
        path.failed ? error_set(error, STATUS_NO_MEMORY, "no memory for the ledger's place") : STATUS_OK;
    if (status == STATUS_OK && to_write) {
        status = make_folders(path.text, error);
    }
    if (status == STATUS_OK) {
        status = ledger_open(path.text, to_write, ledger, error);
    }
    text_buffer_release(&path);
    return status;
}

static enum status keep_scenario(struct ledger *ledger, const struct question *question, int64_t *id,
                                 struct error *error)
{
    const char *path = scenario_path(question->scenario);
    char hash[17], *text = NULL;
    size_t length;
    (void)snprintf(hash, sizeof hash, "%016llx", (unsigned long long)scenario_hash(question->scenario));
    /* A scenario that is built in has no file; its text is in every occam of that version. */
    if (strncmp(path, "built in", 8) != 0) {
        enum status status = file_read_text(path, SCENARIO_BYTES_MAX, &text, &length, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    const struct ledger_scenario record = {.name = scenario_name(question->scenario),
                                           .path = path,
                                           .device = question->device->name,
                                           .hash = hash,
                                           .text = text};
    enum status status = ledger_add_scenario_once(ledger, &record, id, error);
    free(text);
    return status;
}

static enum status keep_calibration(struct ledger *ledger, const struct question *question, int64_t *id,
                                    struct error *error)
{
    const struct calibration *calibration = question->calibration;
    *id = 0;
    if (calibration == NULL) {
        return STATUS_OK;
    }
    char hash[34], text[320];
    (void)snprintf(hash, sizeof hash, "%016llx%016llx", (unsigned long long)calibration->scenario_hash,
                   (unsigned long long)calibration->rows_hash);
    (void)snprintf(text, sizeof text, "%s, %s, %u rows, %s", calibration->scenario, calibration->device,
                   calibration->row_count, calibration->date);
    const struct ledger_calibration record = {.name = calibration->name, .hash = hash, .text = text};
    return ledger_add_calibration_once(ledger, &record, id, error);
}

enum status ledger_keep_question(struct ledger *ledger, const struct question *question, int64_t *scenario,
                                 int64_t *calibration, struct error *error)
{
    enum status status = keep_scenario(ledger, question, scenario, error);
    return status == STATUS_OK ? keep_calibration(ledger, question, calibration, error) : status;
}

void config_text(const struct question *question, const double *values, bool only_changed, struct text_buffer *out)
{
    const size_t count = scenario_knob_count(question->scenario);
    const char *last = "";
    /* A selection by name: there are few knobs. */
    for (size_t done = 0; done < count; done++) {
        size_t next = count;
        for (size_t i = 0; i < count; i++) {
            const char *name = scenario_variable_get(question->scenario, i)->name;
            if (strcmp(name, last) > 0 &&
                (next == count || strcmp(name, scenario_variable_get(question->scenario, next)->name) < 0)) {
                next = i;
            }
        }
        if (next == count) {
            return;
        }
        last = scenario_variable_get(question->scenario, next)->name;
        if (!only_changed || values[next] != question->base[next]) {
            char number[32];
            text_buffer_append_format(out, "%s%s=%s", out->length > 0 ? " " : "", last,
                                      number_format(values[next], number));
        }
    }
}

const char *model_text(const struct question *question, char out[64])
{
    uint64_t hash = HASH_START;
    for (int i = 0; i < PARAMETER_COUNT; i++) {
        hash = hash_bytes(hash, &question->parameters.items[i].value, sizeof(double));
        hash = hash_bytes(hash, &question->parameters.items[i].log_sigma, sizeof(double));
    }
    (void)snprintf(out, 64, "%s %016llx", program_version(), (unsigned long long)hash);
    return out;
}

const char *input_hash_text(const struct question *question, const double *values, char out[17])
{
    const uint64_t scenario = scenario_hash(question->scenario),
                   rows = question->calibration != NULL ? question->calibration->rows_hash : 0;
    uint64_t hash = hash_bytes(HASH_START, &scenario, sizeof scenario);
    hash = hash_bytes(hash, &rows, sizeof rows);
    hash = hash_bytes(hash, question->device->name, strlen(question->device->name));
    hash = hash_bytes(hash, values, scenario_variable_count(question->scenario) * sizeof *values);
    (void)snprintf(out, 17, "%016llx", (unsigned long long)hash);
    return out;
}
