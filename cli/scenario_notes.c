/* SPDX-License-Identifier: GPL-3.0-or-later
 * Picks and prints the scenario's remarks. */
#include "cli/scenario_notes.h"

#include <math.h>

enum status scenario_note_concerns(const struct question *question, size_t index, bool *applies, bool *known,
                                   struct error *error)
{
    const struct scenario_note *note = scenario_note_get(question->scenario, index);
    long knob = *note->knob == '\0' ? -1 : scenario_variable_find(question->scenario, note->knob);
    enum status status;

    *known = true;
    *applies = knob < 0 || question->values[knob] != question->base[knob];
    if (!*applies)
        return STATUS_OK;
    status = scenario_note_applies(question->evaluator, index, applies, error);
    if (status != STATUS_MISSING)
        return status;
    *error = (struct error){0};
    *applies = true;
    *known = false;
    return STATUS_OK;
}

enum status scenario_notes_measured(const struct question *question, double *time_us, struct error *error)
{
    enum status status = STATUS_OK;

    *time_us = NAN;
    for (size_t i = 0; i < scenario_note_count(question->scenario) && status == STATUS_OK && isnan(*time_us); i++) {
        const struct scenario_note *note = scenario_note_get(question->scenario, i);
        bool applies = false, known = false;

        if (!isnan(note->measured_us))
            status = scenario_note_concerns(question, i, &applies, &known, error);
        if (status == STATUS_OK && applies && known)
            *time_us = note->measured_us;
    }
    return status;
}

enum status scenario_notes_print(const struct question *question, FILE *stream, struct error *error)
{
    for (size_t i = 0; i < scenario_note_count(question->scenario); i++) {
        const struct scenario_note *note = scenario_note_get(question->scenario, i);
        bool applies, known;
        enum status status = scenario_note_concerns(question, i, &applies, &known, error);

        if (status != STATUS_OK)
            return status;
        if (!applies)
            continue;
        (void)fprintf(stream, "\nNote%s: %s", known ? "" : " (whether it applies on this device is not known)",
                      note->text);
        if (*note->source != '\0')
            (void)fprintf(stream, " (%s)", note->source);
        (void)fprintf(stream, "\n");
    }
    return STATUS_OK;
}
