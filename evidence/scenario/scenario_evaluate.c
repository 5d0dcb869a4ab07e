/* SPDX-License-Identifier: GPL-3.0-or-later
 * Evaluates a compiled scenario. The hot path of sweeps: no allocation, and only what changed is computed again. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "evidence/scenario/scenario_evaluator.h"

/* --- variables ------------------------------------------------------------------------------------------------------
 */

/* Index of value in the variable's list, or UINT32_MAX. guess: the last index; odometers step by one or wrap. */
static uint32_t find_value(const struct scenario_variable *variable, const uint32_t *sorted, uint32_t guess,
                           double value)
{
    const double *values = variable->values;
    if (guess + 1 < variable->value_count && values[guess + 1] == value) {
        return guess + 1;
    }
    if (values[0] == value) {
        return 0;
    }
    uint32_t low = 0, high = variable->value_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        double found = values[sorted[middle]];
        if (found == value) {
            return sorted[middle];
        }
        if (found < value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return UINT32_MAX;
}

static void end_epochs(const struct scenario_evaluator *evaluator, struct evaluation_context *context,
                       uint32_t variable)
{
    for (uint32_t i = 0; i < evaluator->slow_counts[variable]; i++) {
        uint32_t id = evaluator->slow_memos[variable][i];
        if (++context->epochs[id] == 0) {
            memset(context->tables[id], 0, evaluator->memos[id].size * sizeof(struct memo_entry));
            context->epochs[id] = 1;
        }
    }
}

/* Every question that is still open, with how to answer it. */
static enum status open_questions(const struct scenario *scenario, const double *values, struct error *error)
{
    char text[640] = "";
    size_t length = 0;
    for (uint32_t v = 0; v < scenario->variable_count && length + 1 < sizeof text; v++) {
        const struct scenario_variable *variable = &scenario->variables[v];
        if (variable->question != NULL && isnan(values[v])) {
            int added = snprintf(text + length, sizeof text - length, "%s-s %s=... (%.160s)", length > 0 ? ", " : "",
                                 variable->name, variable->question);
            length += added > 0 ? (size_t)added : 0;
        }
    }
    return error_set_at(error, STATUS_USAGE, scenario->path, 0, 0, "the scenario leaves open what only you know: %s",
                        text);
}

static enum status take_variable(const struct scenario_evaluator *evaluator, struct evaluation_context *context,
                                 uint32_t variable, double value, struct error *error)
{
    const struct scenario *scenario = evaluator->scenario;
    if (!isfinite(value)) {
        return error_set(error, STATUS_DOMAIN, "%s is not a finite number", scenario->variables[variable].name);
    }
    uint64_t bit = (uint64_t)1 << variable;
    context->symbols[variable] = value;
    uint32_t index =
        find_value(&scenario->variables[variable], evaluator->sorted[variable], context->value_index[variable], value);
    context->off_list = index == UINT32_MAX ? context->off_list | bit : context->off_list & ~bit;
    context->value_index[variable] = index == UINT32_MAX ? 0 : index;
    end_epochs(evaluator, context, variable);
    const uint64_t *dependents = evaluator->dependents + (size_t)variable * evaluator->word_count;
    for (uint32_t w = 0; w < evaluator->word_count; w++) {
        context->dirty[w] |= dependents[w];
    }
    return STATUS_OK;
}

/* Which workload it is: calibrations remember those they were trained on (CAL-6). */
static uint64_t workload_of(const struct scenario *scenario, const double *symbols)
{
    uint64_t hash = HASH_START;
    for (uint32_t v = scenario->knob_count; v < scenario->variable_count; v++) {
        const double value = symbols[v] + 0.0; /* -0 is 0 */
        hash = hash_bytes(hash, &value, sizeof value);
    }
    return hash ? hash : 1;
}

static enum status take_variables(const struct scenario_evaluator *evaluator, struct evaluation_context *context,
                                  const double *values, struct error *error)
{
    uint32_t count = evaluator->scenario->variable_count, knobs = evaluator->scenario->knob_count;
    bool other_workload = context->workload == 0;
    for (uint32_t v = 0; v < count; v++) {
        if (values[v] != context->symbols[v]) { /* NaN, as at the start, always differs */
            if (isnan(values[v]) && evaluator->scenario->variables[v].question != NULL) {
                return open_questions(evaluator->scenario, values, error);
            }
            enum status status = take_variable(evaluator, context, v, values[v], error);
            if (status != STATUS_OK) {
                return status;
            }
            other_workload = other_workload || v >= knobs;
        }
    }
    if (other_workload) {
        context->workload = workload_of(evaluator->scenario, context->symbols);
    }
    return STATUS_OK;
}

/* --- cells ---------------------------------------------------------------------------------------------------------
 */

static struct memo_entry *memo_find(const struct scenario_evaluator *evaluator,
                                    const struct evaluation_context *context, uint32_t id)
{
    const struct memo *memo = &evaluator->memos[id];
    if (memo->size == 0 || (context->off_list & memo->fast) != 0) {
        return NULL;
    }
    uint32_t index = 0;
    for (uint32_t d = 0; d < memo->dimension_count; d++) {
        index += context->value_index[memo->variables[d]] * memo->strides[d];
    }
    return &context->tables[id][index];
}

static enum status cell_value(struct scenario_evaluator *evaluator, struct evaluation_context *context, uint32_t id,
                              double *value, enum input_source *source, struct error *error)
{
    struct memo_entry *entry = memo_find(evaluator, context, id);
    if (entry != NULL && entry->epoch == context->epochs[id]) {
        *value = entry->value;
        *source = (enum input_source)entry->source;
        return STATUS_OK;
    }
    const struct cell *cell = &evaluator->cells[id];
    for (uint32_t i = 0; i < cell->input_count; i++) {
        evaluator->scratch[cell->inputs[i]] = context->symbols[cell->inputs[i]];
    }
    enum status status = compiled_evaluate(evaluator, &cell->compiled, cell->what, value, source, error);
    if (status == STATUS_OK && entry != NULL) {
        *entry = (struct memo_entry){*value, context->epochs[id], (uint32_t)*source};
    }
    return status;
}

/* Whole numbers beyond these cannot be held exactly or by the member. */
static bool fits(enum quantity_type type, double value)
{
    switch (type) {
    case QUANTITY_DOUBLE:
        return true;
    case QUANTITY_FLAG:
        return value == 0 || value == 1;
    case QUANTITY_COUNT32:
        return value >= 0 && value <= UINT32_MAX && value == floor(value);
    case QUANTITY_COUNT64:
        return value >= 0 && value <= 9007199254740992.0 && value == floor(value);
    case QUANTITY_INT32:
        return value >= INT32_MIN && value <= INT32_MAX && value == floor(value);
    default:
        return false;
    }
}

static void store_quantity(struct kernel_state *state, const struct scenario_quantity *quantity, double value,
                           enum input_source source)
{
    unsigned char *member = (unsigned char *)&state->built + quantity->offset;
    switch (quantity->type) {
    case QUANTITY_DOUBLE:
        memcpy(member, &value, sizeof value);
        break;
    case QUANTITY_FLAG:
        memcpy(member, &(bool){value != 0}, sizeof(bool));
        break;
    case QUANTITY_COUNT32:
        memcpy(member, &(uint32_t){(uint32_t)value}, sizeof(uint32_t));
        break;
    case QUANTITY_COUNT64:
        memcpy(member, &(uint64_t){(uint64_t)value}, sizeof(uint64_t));
        break;
    case QUANTITY_INT32:
        memcpy(member, &(int32_t){(int32_t)value}, sizeof(int32_t));
        break;
    }
    if (quantity->source_offset != 0) {
        memcpy((unsigned char *)&state->built + quantity->source_offset, &source, sizeof source);
    }
}

static void take_quantity(struct evaluation_context *context, const struct cell *cell, uint32_t id, double value,
                          enum input_source source)
{
    struct kernel_state *state = &context->kernels[cell->owner];
    bool invalid = !fits(cell->quantity->type, value);
    state->invalid_count += (uint32_t)invalid - (uint32_t)context->invalid[id];
    context->invalid[id] = invalid;
    state->check = KERNEL_UNCHECKED;
    if (!invalid) {
        store_quantity(state, cell->quantity, value, source);
    }
}

static enum status refresh_cell(struct scenario_evaluator *evaluator, struct evaluation_context *context, uint32_t id,
                                struct error *error)
{
    double value;
    enum input_source source;
    enum status status = cell_value(evaluator, context, id, &value, &source, error);
    if (status != STATUS_OK) {
        return status; /* stays dirty: the next call that needs it tries again */
    }
    context->dirty[id / 64] &= ~((uint64_t)1 << (id % 64));
    if (value == context->values[id] && source == (enum input_source)context->sources[id]) {
        return STATUS_OK;
    }
    context->values[id] = value;
    context->sources[id] = (uint8_t)source;
    const struct cell *cell = &evaluator->cells[id];
    if (cell->role == CELL_LET) {
        uint32_t symbol = scenario_let_symbol(evaluator->scenario, cell->owner);
        const uint64_t *dependents = evaluator->dependents + (size_t)symbol * evaluator->word_count;
        context->symbols[symbol] = value;
        for (uint32_t w = id / 64; w < evaluator->word_count; w++) {
            context->dirty[w] |= dependents[w];
        }
    } else if (cell->role == CELL_QUANTITY) {
        take_quantity(context, cell, id, value, source);
    }
    return STATUS_OK;
}

/* Dirty cells of the mask among words [first, end), in order. A cell can dirty later ones only. */
static enum status refresh(struct scenario_evaluator *evaluator, struct evaluation_context *context,
                           const uint64_t *mask, uint32_t first, uint32_t end, struct error *error)
{
    for (uint32_t w = first; w < end; w++) {
        uint64_t bits;
        while ((bits = context->dirty[w] & mask[w]) != 0) {
            uint32_t id = w * 64 + (uint32_t)__builtin_ctzll(bits);
            enum status status = refresh_cell(evaluator, context, id, error);
            if (status != STATUS_OK) {
                return status;
            }
        }
    }
    return STATUS_OK;
}

/* --- kernels -------------------------------------------------------------------------------------------------------
 */

static void set_mean_iterations(struct tile_loop *loop)
{
    double ctas = 0, iterations = 0;
    for (uint32_t i = 0; i < loop->ragged_count; i++) {
        ctas += (double)loop->ragged[i].ctas;
        iterations += (double)loop->ragged[i].ctas * loop->ragged[i].iterations;
    }
    loop->iterations = ctas > 0 ? iterations / ctas : 0;
}

static const char *expected_of(enum quantity_type type)
{
    switch (type) {
    case QUANTITY_FLAG:
        return "0 or 1";
    case QUANTITY_INT32:
        return "a whole number of 32 bits";
    case QUANTITY_COUNT32:
        return "a whole number from 0 to 4294967295";
    case QUANTITY_COUNT64:
        return "a whole number from 0 to 2^53";
    case QUANTITY_DOUBLE:
    default:
        return "a number";
    }
}

static enum status invalid_cell_error(const struct scenario_evaluator *evaluator,
                                      const struct evaluation_context *context, uint32_t k, struct error *error)
{
    const struct scenario *scenario = evaluator->scenario;
    for (uint32_t id = evaluator->kernel_first[k]; id < evaluator->kernel_first[k + 1]; id++) {
        if (context->invalid[id]) {
            const struct cell *cell = &evaluator->cells[id];
            return error_set_at(error, STATUS_DOMAIN, scenario->path, cell->compiled.formula->line,
                                cell->compiled.formula->column, "kernel %s: %s is %.15g; it must be %s",
                                scenario->kernels[k].name, cell->what, context->values[id],
                                expected_of(cell->quantity->type));
        }
    }
    BUG("kernel %s counts an invalid cell that is not there", scenario->kernels[k].name);
}

/* STATUS_DOMAIN with *error filled when no kernel can have these values. */
static enum status check_kernel(const struct scenario_evaluator *evaluator, struct evaluation_context *context,
                                uint32_t k, struct error *error)
{
    const struct scenario_kernel *kernel = &evaluator->scenario->kernels[k];
    struct kernel_state *state = &context->kernels[k];
    if (state->check == KERNEL_VALID) {
        return STATUS_OK;
    }
    if (state->invalid_count > 0) {
        return invalid_cell_error(evaluator, context, k, error);
    }
    if (kernel->mean_iterations) {
        set_mean_iterations(&state->built.loop);
    }
    enum status status = kernel_case_validate(&state->built, error);
    if (status != STATUS_OK) {
        if (error != NULL && error->line == 0) {
            struct error found = *error;
            error_set_at(error, status, evaluator->scenario->path, kernel->line, kernel->column, "%s", found.text);
        }
        return status;
    }
    state->check = KERNEL_VALID;
    return STATUS_OK;
}

/* Parts of struct kernel_case that every copy needs; the arrays between and behind them are copied as far as they are
 * filled. Not constants for the compiler: it would inline copies of a known size as `rep movs`, which is slower here
 * than the library's copy by half the cost of a whole evaluation. */
struct copy_plan {
    size_t head_bytes, tail_offset, tail_bytes;
};
enum {
    MMA_OFFSET = offsetof(struct kernel_case, loop) + offsetof(struct tile_loop, mma),
    MMA_END = MMA_OFFSET + sizeof(struct mma_op[TILE_LOOP_MMA_MAX]),
    RAGGED_OFFSET = offsetof(struct kernel_case, loop) + offsetof(struct tile_loop, ragged)
};
static volatile const struct copy_plan copy_plan = {MMA_OFFSET, MMA_END, RAGGED_OFFSET - MMA_END};

/* Groups without CTAs do not count, and one group alone is a plain loop: so a scenario may always list the CTAs with
 * the rest of an uneven split. */
static void copy_ragged(const struct tile_loop *from, struct tile_loop *out)
{
    out->ragged_count = 0;
    for (uint32_t i = 0; i < from->ragged_count; i++) {
        if (from->ragged[i].ctas > 0) {
            out->ragged[out->ragged_count++] = from->ragged[i];
        }
    }
    if (out->ragged_count == 1) {
        out->iterations = out->ragged[0].iterations;
        out->ragged_count = 0;
    }
}

static void copy_kernel(const struct kernel_state *state, struct kernel_case *out)
{
    const struct tile_loop *loop = &state->built.loop;
    size_t tail_offset = copy_plan.tail_offset;
    memcpy(out, &state->built, copy_plan.head_bytes);
    for (uint32_t i = 0; i < loop->mma_count; i++) {
        out->loop.mma[i] = loop->mma[i];
    }
    memcpy((unsigned char *)out + tail_offset, (const unsigned char *)&state->built + tail_offset,
           copy_plan.tail_bytes);
    copy_ragged(loop, &out->loop);
    out->skipped = false;
}

static void skip_kernel(const struct scenario_kernel *kernel, struct kernel_case *out)
{
    memset(out, 0, copy_plan.head_bytes);
    memset((unsigned char *)out + copy_plan.tail_offset, 0, copy_plan.tail_bytes);
    out->name = kernel->name;
    out->skipped = true;
}

/* *invalid: the values are none that a kernel can have, and *error says which. */
static enum status build_layer(struct scenario_evaluator *evaluator, struct evaluation_context *context,
                               struct layer_case *layer, bool *invalid, struct error *error)
{
    const struct scenario *scenario = evaluator->scenario;
    layer->workload = context->workload;
    layer->kernel_count = scenario->kernel_count;
    *invalid = false;
    for (uint32_t k = 0; k < scenario->kernel_count; k++) {
        uint32_t first = evaluator->kernel_first[k], end = evaluator->kernel_first[k + 1];
        enum status status = STATUS_OK;
        if (evaluator->has_when[k]) {
            if (context->dirty[first / 64] >> (first % 64) & 1) {
                status = refresh_cell(evaluator, context, first, error);
            }
            if (status != STATUS_OK) {
                return status;
            }
            if (context->values[first] == 0) {
                skip_kernel(&scenario->kernels[k], &layer->kernels[k]);
                continue;
            }
        }
        status = refresh(evaluator, context, evaluator->kernel_masks[k], first / 64, (end + 63) / 64, error);
        if (status != STATUS_OK) {
            return status;
        }
        if (check_kernel(evaluator, context, k, error) != STATUS_OK) {
            *invalid = true;
            return STATUS_OK;
        }
        copy_kernel(&context->kernels[k], &layer->kernels[k]);
    }
    return STATUS_OK;
}

/* --- public --------------------------------------------------------------------------------------------------------
 */

enum status scenario_evaluator_create(const struct scenario *scenario, struct scenario_evaluator **evaluator,
                                      struct error *error)
{
    *evaluator = NULL;
    struct scenario_evaluator *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory to evaluate the scenario");
    }
    made->scenario = scenario;
    enum status status = evaluator_compile(made, error);
    if (status != STATUS_OK) {
        scenario_evaluator_free(made);
        return status;
    }
    *evaluator = made;
    return STATUS_OK;
}

void scenario_evaluator_free(struct scenario_evaluator *evaluator)
{
    if (evaluator != NULL) {
        evaluator_release(evaluator);
        free(evaluator);
    }
}

enum status scenario_evaluate(struct scenario_evaluator *evaluator, const double *values, enum config_verdict *verdict,
                              size_t *constraint_index, struct layer_case *layer, struct error *error)
{
    struct evaluation_context *context = &evaluator->contexts[0];
    uint32_t words = evaluator->word_count, require_count = evaluator->scenario->require_count;
    enum status status = take_variables(evaluator, context, values, error);
    if (status == STATUS_OK) {
        status = refresh(evaluator, context, evaluator->require_mask, 0, words, error);
    }
    if (status != STATUS_OK) {
        return status;
    }
    for (uint32_t i = 0; i < require_count; i++) {
        if (context->values[evaluator->require_first + i] == 0) {
            *verdict = CONFIG_CONSTRAINT;
            *constraint_index = i;
            return STATUS_OK;
        }
    }
    *verdict = CONFIG_OK;
    if (layer == NULL) {
        return STATUS_OK;
    }
    status = refresh(evaluator, context, evaluator->let_mask, 0, evaluator->scenario->let_count / 64 + 1, error);
    bool invalid = false;
    if (status == STATUS_OK) {
        status = build_layer(evaluator, context, layer, &invalid, error);
    }
    if (invalid) {
        *verdict = CONFIG_KERNEL_INVALID;
    }
    return status;
}

enum status scenario_evaluate_forbidden(struct scenario_evaluator *evaluator, enum config_verdict *verdict,
                                        struct layer_case *layer, struct error *error)
{
    struct evaluation_context *context = &evaluator->contexts[0];
    bool invalid = false;
    enum status status =
        refresh(evaluator, context, evaluator->let_mask, 0, evaluator->scenario->let_count / 64 + 1, error);
    if (status == STATUS_OK) {
        status = build_layer(evaluator, context, layer, &invalid, error);
    }
    *verdict = invalid ? CONFIG_KERNEL_INVALID : CONFIG_OK;
    return status;
}

static enum status apply_overrides(struct scenario_evaluator *evaluator, size_t group, double *values,
                                   struct error *error)
{
    const struct scenario_layers *layers = &evaluator->scenario->layer_groups[group];
    double results[SCENARIO_OVERRIDES_MAX];
    for (uint32_t i = 0; i < layers->override_count; i++) {
        struct compiled_override *override = &evaluator->overrides[group][i];
        bool same = override->known;
        for (uint32_t k = 0; k < override->input_count; k++) {
            uint32_t symbol = override->inputs[k];
            double input =
                symbol < evaluator->scenario->variable_count ? values[symbol] : evaluator->contexts[0].symbols[symbol];
            same = same && input == override->last_inputs[k];
            override->last_inputs[k] = input;
            evaluator->scratch[symbol] = input;
        }
        if (!same) {
            enum input_source source;
            override->known = false;
            enum status status =
                compiled_evaluate(evaluator, &override->compiled, "layers", &override->value, &source, error);
            if (status != STATUS_OK) {
                return status;
            }
            override->known = true;
        }
        results[i] = override->value;
    }
    for (uint32_t i = 0; i < layers->override_count; i++) { /* after all were computed from the same values */
        values[layers->overrides[i].variable] = results[i];
    }
    return STATUS_OK;
}

enum status scenario_evaluate_group(struct scenario_evaluator *evaluator, const double *values, size_t group,
                                    struct layer_case *layer, struct error *error)
{
    const struct scenario *scenario = evaluator->scenario;
    if (group >= scenario->layer_group_count) {
        BUG("layer group %zu of %u", group, (unsigned)scenario->layer_group_count);
    }
    struct evaluation_context *context = &evaluator->contexts[1 + group];
    double changed[SCENARIO_KNOBS_MAX + SCENARIO_WORKLOAD_MAX];
    memcpy(changed, values, scenario->variable_count * sizeof *changed);
    enum status status = apply_overrides(evaluator, group, changed, error);
    if (status == STATUS_OK) {
        status = take_variables(evaluator, context, changed, error);
    }
    if (status == STATUS_OK) {
        status = refresh(evaluator, context, evaluator->let_mask, 0, scenario->let_count / 64 + 1, error);
    }
    bool invalid = false;
    if (status == STATUS_OK) {
        status = build_layer(evaluator, context, layer, &invalid, error);
    }
    return invalid ? STATUS_DOMAIN : status;
}

double scenario_evaluator_let(const struct scenario_evaluator *evaluator, size_t index)
{
    if (index >= evaluator->scenario->let_count) {
        BUG("let entry %zu of %u", index, (unsigned)evaluator->scenario->let_count);
    }
    const struct evaluation_context *context = &evaluator->contexts[0];
    uint32_t id = evaluator->let_cells[index];
    bool dirty = context->dirty[id / 64] >> (id % 64) & 1;
    return dirty ? (double)NAN : context->values[id];
}

enum status scenario_note_applies(struct scenario_evaluator *evaluator, size_t index, bool *applies,
                                  struct error *error)
{
    const struct scenario *scenario = evaluator->scenario;
    if (index >= scenario->note_count) {
        BUG("note %zu of %u", index, (unsigned)scenario->note_count);
    }
    const struct scenario_formula *formula = scenario->note_formulas[index];
    *applies = formula == NULL;
    if (formula == NULL) {
        return STATUS_OK;
    }
    const struct evaluation_context *context = &evaluator->contexts[0];
    memcpy(evaluator->scratch, context->symbols, sizeof evaluator->scratch);
    bool skipped = evaluator->has_when[0] && context->values[evaluator->kernel_first[0]] == 0;
    evaluator->scratch[scenario_constant_symbol(scenario, SCENARIO_CONSTANT_GRID_CTAS)] =
        skipped ? 0 : (double)context->kernels[0].built.launch.grid_ctas;
    for (uint32_t i = 0; i < SCENARIO_CONSTANT_GRID_CTAS; i++) {
        uint32_t symbol = scenario_constant_symbol(scenario, (enum scenario_constant)i);
        if ((formula->inputs.bits[symbol / 64] >> (symbol % 64) & 1) && isnan(evaluator->scratch[symbol])) {
            return error_set_at(error, STATUS_MISSING, scenario->path, formula->line, formula->column,
                                "the note uses %s, which is not known for the device %s", scenario_constant_names[i],
                                scenario->device->name);
        }
    }
    double value;
    enum input_source source;
    enum status status = compiled_evaluate(evaluator, &evaluator->notes[index], "when", &value, &source, error);
    *applies = status == STATUS_OK && value != 0;
    return status;
}
