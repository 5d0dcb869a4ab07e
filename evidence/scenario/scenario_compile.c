/* SPDX-License-Identifier: GPL-3.0-or-later
 * Compiles a scenario for one thread: expressions, who depends on whom, memo tables. All allocation happens here. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "evidence/scenario/scenario_evaluator.h"
#include "model/predict/smem_rule.h"

/* --- formulas ------------------------------------------------------------------------------------------------------
 */

static enum status out_of_memory(struct error *error)
{
    return error_set(error, STATUS_NO_MEMORY, "no memory to compile the scenario");
}

static enum status compile_formula(struct scenario_evaluator *evaluator, const struct scenario_formula *formula,
                                   const char *what, struct compiled_formula *compiled, struct error *error)
{
    const struct scenario *scenario = evaluator->scenario;
    compiled->formula = formula;
    if (formula->kind == FORMULA_EXPRESSION) {
        enum status status = expression_compile(formula->text, scenario->symbols, evaluator->scratch,
                                                scenario->symbol_count, &compiled->expression, error);
        return status == STATUS_OK ? status : formula_error(scenario, formula, what, status, error);
    }
    if (formula->part_count > 0) {
        compiled->parts = arena_allocate(&evaluator->arena, formula->part_count, sizeof *compiled->parts);
        if (compiled->parts == NULL) {
            return out_of_memory(error);
        }
    }
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < formula->part_count && status == STATUS_OK; i++) {
        status = compile_formula(evaluator, &formula->parts[i], what, &compiled->parts[i], error);
    }
    if (status == STATUS_OK && formula->otherwise != NULL) {
        compiled->otherwise = arena_allocate(&evaluator->arena, 1, sizeof *compiled->otherwise);
        status = compiled->otherwise == NULL
                     ? out_of_memory(error)
                     : compile_formula(evaluator, formula->otherwise, what, compiled->otherwise, error);
    }
    return status;
}

static void release_formula(struct compiled_formula *compiled)
{
    expression_free(compiled->expression);
    for (uint32_t i = 0; compiled->parts != NULL && i < compiled->formula->part_count; i++) {
        release_formula(&compiled->parts[i]);
    }
    if (compiled->otherwise != NULL) {
        release_formula(compiled->otherwise);
    }
}

static enum status evaluate_rule(struct scenario_evaluator *evaluator, const struct compiled_formula *compiled,
                                 const char *what, double *value, struct error *error)
{
    const struct gpu_limits *limits = &evaluator->scenario->device->limits;
    struct smem_rule_input input = {.cc_major = limits->cc_major,
                                    .cc_minor = limits->cc_minor,
                                    .element_bytes_a = 2,
                                    .element_bytes_b = 2,
                                    .element_bytes_out = 2};
    uint32_t *const members[SCENARIO_RULE_FIELDS] = {
        &input.block_m,         &input.block_n,           &input.block_k,   &input.head_dim,  &input.element_bytes_a,
        &input.element_bytes_b, &input.element_bytes_out, &input.num_warps, &input.num_stages};
    const struct scenario_formula *formula = compiled->formula;
    for (uint32_t i = 0; i < formula->part_count; i++) {
        double number;
        enum input_source ignored;
        enum status status = compiled_evaluate(evaluator, &compiled->parts[i], what, &number, &ignored, error);
        if (status != STATUS_OK) {
            return status;
        }
        if (!(number >= 0 && number <= 1e6) || number != floor(number)) {
            status = error_set(error, STATUS_DOMAIN, "the SMEM rule needs whole numbers from 0 to 1e6, not %g", number);
            return formula_error(evaluator->scenario, &formula->parts[i], what, status, error);
        }
        *members[formula->rule_fields[i]] = (uint32_t)number;
    }
    struct smem_rule_result result = {0};
    enum status status = smem_rule_apply(formula->rule_name, &input, &result, error);
    if (status == STATUS_OK && result.quality == SMEM_RULE_UNKNOWN) {
        status = error_set(error, STATUS_DOMAIN,
                           "the SMEM rule %s does not cover compute capability %u.%u: write the bytes as a number, an "
                           "expression or a table of compiled kernels",
                           formula->rule_name, limits->cc_major, limits->cc_minor);
    }
    *value = (double)result.smem_bytes; /* 0 after an error */
    return status == STATUS_OK ? status : formula_error(evaluator->scenario, formula, what, status, error);
}

static enum status missing_row(const struct scenario_evaluator *evaluator, const struct scenario_formula *formula,
                               const double *keys, const char *what, struct error *error)
{
    struct text_buffer list = {0};
    char number[32];
    for (uint32_t i = 0; i < formula->part_count; i++) {
        text_buffer_append_format(&list, "%s%s = %s", i > 0 ? ", " : "", formula->key_columns[i],
                                  number_format(keys[i], number));
    }
    enum status status = error_set(error, STATUS_BAD_DATA, "%.200s has no row with %.400s, and there is no 'else'",
                                   formula->table_name, list.text != NULL ? list.text : "");
    text_buffer_release(&list);
    return formula_error(evaluator->scenario, formula, what, status, error);
}

static enum status evaluate_lookup(struct scenario_evaluator *evaluator, const struct compiled_formula *compiled,
                                   const char *what, double *value, enum input_source *source, struct error *error)
{
    const struct scenario_formula *formula = compiled->formula;
    double keys[RESOURCE_KEYS_MAX];
    for (uint32_t i = 0; i < formula->part_count; i++) {
        enum status status = compiled_evaluate(evaluator, &compiled->parts[i], what, &keys[i], source, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    if (resource_index_find(formula->index, keys, value)) {
        *source = INPUT_SOURCE_COMPILED;
        return STATUS_OK;
    }
    if (compiled->otherwise == NULL) {
        return missing_row(evaluator, formula, keys, what, error);
    }
    return compiled_evaluate(evaluator, compiled->otherwise, what, value, source, error);
}

enum status compiled_evaluate(struct scenario_evaluator *evaluator, const struct compiled_formula *compiled,
                              const char *what, double *value, enum input_source *source, struct error *error)
{
    const struct scenario_formula *formula = compiled->formula;
    enum status status = STATUS_OK;
    switch (formula->kind) {
    case FORMULA_NUMBER:
        *value = formula->number;
        *source = formula->source;
        return STATUS_OK;
    case FORMULA_EXPRESSION:
        *source = formula->source;
        status = expression_evaluate(compiled->expression, value, error);
        return status == STATUS_OK ? status : formula_error(evaluator->scenario, formula, what, status, error);
    case FORMULA_LOOKUP:
        return evaluate_lookup(evaluator, compiled, what, value, source, error);
    case FORMULA_RULE:
        *source = INPUT_SOURCE_RULE;
        return evaluate_rule(evaluator, compiled, what, value, error);
    default:
        BUG("formula kind %d", (int)formula->kind);
    }
}

/* --- cells ---------------------------------------------------------------------------------------------------------
 */

static bool has_symbol(const struct variable_set *set, uint32_t symbol)
{
    return set->bits[symbol / 64] >> (symbol % 64) & 1;
}

static uint8_t *list_inputs(struct scenario_evaluator *evaluator, const struct variable_set *set, uint32_t *count)
{
    uint8_t *inputs = arena_allocate(&evaluator->arena, EXPRESSION_VARIABLES_MAX, 1);
    *count = 0;
    for (uint32_t symbol = 0; inputs != NULL && symbol < evaluator->scenario->symbol_count; symbol++) {
        if (has_symbol(set, symbol)) {
            inputs[(*count)++] = (uint8_t)symbol;
        }
    }
    return inputs;
}

static enum status add_cell(struct scenario_evaluator *evaluator, enum cell_role role, uint32_t owner,
                            const struct scenario_formula *formula, const char *what,
                            const struct scenario_quantity *quantity, struct error *error)
{
    const struct scenario *scenario = evaluator->scenario;
    uint32_t id = evaluator->cell_count++;
    struct cell *cell = &evaluator->cells[id];
    cell->role = role;
    cell->owner = owner;
    cell->what = what;
    cell->quantity = quantity;
    enum status status = compile_formula(evaluator, formula, what, &cell->compiled, error);
    if (status != STATUS_OK) {
        return status;
    }
    cell->inputs = list_inputs(evaluator, &formula->inputs, &cell->input_count);
    if (cell->inputs == NULL) {
        return out_of_memory(error);
    }
    for (uint32_t i = 0; i < cell->input_count; i++) {
        uint32_t symbol = cell->inputs[i];
        evaluator->dependents[symbol * evaluator->word_count + id / 64] |= (uint64_t)1 << (id % 64);
        if (symbol < scenario->variable_count) {
            cell->variables |= (uint64_t)1 << symbol;
        } else if (symbol < scenario->variable_count + scenario->let_count) {
            cell->variables |= evaluator->cells[evaluator->let_cells[symbol - scenario->variable_count]].variables;
        }
    }
    return STATUS_OK;
}

static enum status add_kernel_cells(struct scenario_evaluator *evaluator, uint32_t k, struct error *error)
{
    const struct scenario_kernel *kernel = &evaluator->scenario->kernels[k];
    enum status status = STATUS_OK;
    evaluator->kernel_first[k] = evaluator->cell_count;
    evaluator->has_when[k] = kernel->when != NULL;
    if (kernel->when != NULL) {
        status = add_cell(evaluator, CELL_WHEN, k, kernel->when, "when", NULL, error);
    }
    for (uint32_t i = 0; i < kernel->quantity_count && status == STATUS_OK; i++) {
        const struct scenario_quantity *quantity = &kernel->quantities[i];
        uint32_t id = evaluator->cell_count;
        status = add_cell(evaluator, CELL_QUANTITY, k, &quantity->formula, quantity->name, quantity, error);
        evaluator->kernel_masks[k][id / 64] |= (uint64_t)1 << (id % 64);
    }
    evaluator->kernel_first[k + 1] = evaluator->cell_count;
    return status;
}

/* The let entries that requirements need, also through other let entries, and the requirements themselves. */
static void build_require_mask(struct scenario_evaluator *evaluator)
{
    const struct scenario *scenario = evaluator->scenario;
    bool needed[SCENARIO_LET_MAX] = {0};
    for (uint32_t i = 0; i < scenario->require_count; i++) {
        uint32_t id = evaluator->require_first + i;
        evaluator->require_mask[id / 64] |= (uint64_t)1 << (id % 64);
        for (uint32_t let = 0; let < scenario->let_count; let++) {
            needed[let] =
                needed[let] || has_symbol(&scenario->require_formulas[i].inputs, scenario_let_symbol(scenario, let));
        }
    }
    for (uint32_t position = scenario->let_count; position-- > 0;) { /* users come after what they use */
        uint32_t let = scenario->let_order[position];
        evaluator->let_mask[position / 64] |= (uint64_t)1 << (position % 64);
        if (!needed[let]) {
            continue;
        }
        evaluator->require_mask[position / 64] |= (uint64_t)1 << (position % 64);
        for (uint32_t other = 0; other < scenario->let_count; other++) {
            needed[other] =
                needed[other] || has_symbol(&scenario->lets[let].formula.inputs, scenario_let_symbol(scenario, other));
        }
    }
}

static enum status add_cells(struct scenario_evaluator *evaluator, struct error *error)
{
    const struct scenario *scenario = evaluator->scenario;
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < scenario->let_count && status == STATUS_OK; i++) {
        uint32_t let = scenario->let_order[i];
        evaluator->let_cells[let] = i;
        status =
            add_cell(evaluator, CELL_LET, let, &scenario->lets[let].formula, scenario->lets[let].name, NULL, error);
    }
    evaluator->require_first = evaluator->cell_count;
    for (uint32_t i = 0; i < scenario->require_count && status == STATUS_OK; i++) {
        status = add_cell(evaluator, CELL_REQUIRE, i, &scenario->require_formulas[i], "require", NULL, error);
    }
    for (uint32_t k = 0; k < scenario->kernel_count && status == STATUS_OK; k++) {
        status = add_kernel_cells(evaluator, k, error);
    }
    build_require_mask(evaluator);
    return status;
}

/* --- memo tables ----------------------------------------------------------------------------------------------------
 */

/* Dimensions: knobs from the last (the fastest in odometer order) backwards while the table stays below `limit`. */
static void plan_memo(const struct scenario *scenario, uint64_t variables, uint32_t limit, struct memo *memo)
{
    *memo = (struct memo){.size = 1};
    for (uint32_t v = scenario->knob_count; v-- > 0;) {
        uint32_t count = scenario->variables[v].value_count;
        if (!(variables >> v & 1) || count == 1) {
            continue;
        }
        if (memo->size > limit / count || memo->dimension_count == MEMO_DIMENSIONS_MAX) {
            break;
        }
        memo->variables[memo->dimension_count] = (uint8_t)v;
        memo->strides[memo->dimension_count++] = memo->size;
        memo->fast |= (uint64_t)1 << v;
        memo->size *= count;
    }
    if (memo->dimension_count == 0) {
        memo->size = 0;
    }
}

static uint64_t memo_variables(const struct scenario_evaluator *evaluator, uint32_t id)
{
    const struct cell *cell = &evaluator->cells[id];
    bool is_copy = cell->compiled.formula->kind == FORMULA_NUMBER ||
                   (cell->compiled.formula->kind == FORMULA_EXPRESSION && cell->input_count == 1 &&
                    strcmp(cell->compiled.formula->text, evaluator->scenario->symbols[cell->inputs[0]]) == 0);
    return is_copy ? 0 : cell->variables; /* copying a number is cheaper than any table */
}

static enum status plan_memos(struct scenario_evaluator *evaluator, struct error *error)
{
    const struct scenario *scenario = evaluator->scenario;
    evaluator->memos = arena_allocate(&evaluator->arena, evaluator->cell_count + 1, sizeof *evaluator->memos);
    if (evaluator->memos == NULL) {
        return out_of_memory(error);
    }
    for (uint32_t limit = MEMO_ENTRIES_MAX; limit >= MEMO_ENTRIES_MIN; limit /= 2) {
        uint64_t bytes = 0;
        for (uint32_t id = 0; id < evaluator->cell_count; id++) {
            plan_memo(scenario, memo_variables(evaluator, id), limit, &evaluator->memos[id]);
            bytes += (uint64_t)evaluator->memos[id].size * sizeof(struct memo_entry) * evaluator->context_count;
        }
        if (bytes <= MEMO_BYTES_MAX) {
            break;
        }
        memset(evaluator->memos, 0, evaluator->cell_count * sizeof *evaluator->memos);
    }
    for (uint32_t v = 0; v < scenario->variable_count; v++) {
        evaluator->slow_memos[v] = arena_allocate(&evaluator->arena, evaluator->cell_count + 1, sizeof(uint16_t));
        if (evaluator->slow_memos[v] == NULL) {
            return out_of_memory(error);
        }
        for (uint32_t id = 0; id < evaluator->cell_count; id++) {
            const struct memo *memo = &evaluator->memos[id];
            if (memo->size > 0 && (memo_variables(evaluator, id) & ~memo->fast) >> v & 1) {
                evaluator->slow_memos[v][evaluator->slow_counts[v]++] = (uint16_t)id;
            }
        }
    }
    return STATUS_OK;
}

/* --- contexts -------------------------------------------------------------------------------------------------------
 */

static enum status create_context(struct scenario_evaluator *evaluator, struct evaluation_context *context,
                                  struct error *error)
{
    const struct scenario *scenario = evaluator->scenario;
    struct arena *arena = &evaluator->arena;
    uint32_t cells = evaluator->cell_count;
    context->dirty = arena_allocate(arena, evaluator->word_count, sizeof *context->dirty);
    context->values = arena_allocate(arena, cells + 1, sizeof *context->values);
    context->sources = arena_allocate(arena, cells + 1, 1);
    context->invalid = arena_allocate(arena, cells + 1, 1);
    context->epochs = arena_allocate(arena, cells + 1, sizeof *context->epochs);
    context->tables = arena_allocate(arena, cells + 1, sizeof *context->tables);
    if (context->dirty == NULL || context->values == NULL || context->sources == NULL || context->invalid == NULL ||
        context->epochs == NULL || context->tables == NULL) {
        return out_of_memory(error);
    }
    for (uint32_t i = 0; i < cells; i++) {
        context->dirty[i / 64] |= (uint64_t)1 << (i % 64);
        context->values[i] = NAN;
        context->sources[i] = INPUT_SOURCE_COUNT;
    }
    for (uint32_t i = 0; i < cells; i++) {
        context->epochs[i] = 1;
        if (evaluator->memos[i].size > 0) {
            context->tables[i] = arena_allocate(arena, evaluator->memos[i].size, sizeof(struct memo_entry));
            if (context->tables[i] == NULL) {
                return out_of_memory(error);
            }
        }
    }
    for (uint32_t i = 0; i < EXPRESSION_VARIABLES_MAX; i++) {
        context->symbols[i] = NAN;
    }
    for (int i = 0; i < SCENARIO_CONSTANT_COUNT; i++) {
        context->symbols[scenario_constant_symbol(scenario, (enum scenario_constant)i)] = scenario->constants[i];
    }
    for (uint32_t k = 0; k < scenario->kernel_count; k++) {
        context->kernels[k].built = scenario->kernels[k].prototype;
    }
    return STATUS_OK;
}

struct value_rank {
    double value;
    uint32_t index;
};

static int compare_ranks(const void *left, const void *right)
{
    double a = ((const struct value_rank *)left)->value, b = ((const struct value_rank *)right)->value;
    return (a > b) - (a < b);
}

static enum status sort_values(struct scenario_evaluator *evaluator, struct error *error)
{
    const struct scenario *scenario = evaluator->scenario;
    struct value_rank ranks[SCENARIO_KNOB_VALUES_MAX];
    for (uint32_t v = 0; v < scenario->variable_count; v++) {
        const struct scenario_variable *variable = &scenario->variables[v];
        evaluator->sorted[v] = arena_allocate(&evaluator->arena, variable->value_count, sizeof(uint32_t));
        if (evaluator->sorted[v] == NULL) {
            return out_of_memory(error);
        }
        for (uint32_t i = 0; i < variable->value_count; i++) {
            ranks[i] = (struct value_rank){variable->values[i], i};
        }
        qsort(ranks, variable->value_count, sizeof ranks[0], compare_ranks);
        for (uint32_t i = 0; i < variable->value_count; i++) {
            evaluator->sorted[v][i] = ranks[i].index;
        }
    }
    return STATUS_OK;
}

static enum status compile_overrides(struct scenario_evaluator *evaluator, struct error *error)
{
    const struct scenario *scenario = evaluator->scenario;
    for (uint32_t g = 0; g < scenario->layer_group_count; g++) {
        const struct scenario_layers *group = &scenario->layer_groups[g];
        struct compiled_override *list = arena_allocate(&evaluator->arena, group->override_count + 1, sizeof *list);
        if (list == NULL) {
            return out_of_memory(error);
        }
        evaluator->overrides[g] = list;
        for (uint32_t i = 0; i < group->override_count; i++) {
            enum status status =
                compile_formula(evaluator, &group->overrides[i].formula, "layers", &list[i].compiled, error);
            if (status != STATUS_OK) {
                return status;
            }
            list[i].inputs = list_inputs(evaluator, &group->overrides[i].formula.inputs, &list[i].input_count);
            list[i].last_inputs = arena_allocate(&evaluator->arena, list[i].input_count + 1, sizeof(double));
            if (list[i].inputs == NULL || list[i].last_inputs == NULL) {
                return out_of_memory(error);
            }
        }
    }
    return STATUS_OK;
}

static enum status allocate_tables(struct scenario_evaluator *evaluator, struct error *error)
{
    const struct scenario *scenario = evaluator->scenario;
    uint32_t cells = scenario->let_count + scenario->require_count;
    for (uint32_t k = 0; k < scenario->kernel_count; k++) {
        cells += scenario->kernels[k].quantity_count + 1;
    }
    struct arena *arena = &evaluator->arena;
    evaluator->word_count = cells / 64 + 1;
    evaluator->cells = arena_allocate(arena, cells + 1, sizeof *evaluator->cells);
    evaluator->dependents =
        arena_allocate(arena, (size_t)scenario->symbol_count * evaluator->word_count, sizeof(uint64_t));
    evaluator->require_mask = arena_allocate(arena, evaluator->word_count, sizeof(uint64_t));
    evaluator->let_mask = arena_allocate(arena, evaluator->word_count, sizeof(uint64_t));
    evaluator->context_count = 1 + scenario->layer_group_count;
    evaluator->contexts = arena_allocate(arena, evaluator->context_count, sizeof *evaluator->contexts);
    bool failed = evaluator->cells == NULL || evaluator->dependents == NULL || evaluator->require_mask == NULL ||
                  evaluator->let_mask == NULL || evaluator->contexts == NULL;
    for (uint32_t k = 0; k < scenario->kernel_count; k++) {
        evaluator->kernel_masks[k] = arena_allocate(arena, evaluator->word_count, sizeof(uint64_t));
        failed = failed || evaluator->kernel_masks[k] == NULL;
    }
    return failed ? out_of_memory(error) : STATUS_OK;
}

enum status evaluator_compile(struct scenario_evaluator *evaluator, struct error *error)
{
    const struct scenario *scenario = evaluator->scenario;
    enum status status = allocate_tables(evaluator, error);
    if (status == STATUS_OK) {
        status = add_cells(evaluator, error);
    }
    if (status == STATUS_OK) {
        status = plan_memos(evaluator, error);
    }
    if (status == STATUS_OK) {
        status = sort_values(evaluator, error);
    }
    for (uint32_t i = 0; i < evaluator->context_count && status == STATUS_OK; i++) {
        status = create_context(evaluator, &evaluator->contexts[i], error);
    }
    if (status == STATUS_OK) {
        status = compile_overrides(evaluator, error);
    }
    for (uint32_t i = 0; i < scenario->note_count && status == STATUS_OK; i++) {
        if (scenario->note_formulas[i] != NULL) {
            status = compile_formula(evaluator, scenario->note_formulas[i], "when", &evaluator->notes[i], error);
        }
    }
    for (uint32_t i = 0; i < scenario->setting_count && status == STATUS_OK; i++) {
        status = compile_formula(evaluator, &scenario->setting_formulas[i], scenario->settings[i],
                                 &evaluator->settings[i], error);
    }
    return status;
}

void evaluator_release(struct scenario_evaluator *evaluator)
{
    const struct scenario *scenario = evaluator->scenario;
    for (uint32_t i = 0; i < evaluator->cell_count; i++) {
        release_formula(&evaluator->cells[i].compiled);
    }
    for (uint32_t g = 0; g < scenario->layer_group_count; g++) {
        for (uint32_t i = 0; evaluator->overrides[g] != NULL && i < scenario->layer_groups[g].override_count; i++) {
            release_formula(&evaluator->overrides[g][i].compiled);
        }
    }
    for (uint32_t i = 0; i < scenario->note_count; i++) {
        release_formula(&evaluator->notes[i]);
    }
    for (uint32_t i = 0; i < scenario->setting_count; i++) {
        release_formula(&evaluator->settings[i]);
    }
    arena_release(&evaluator->arena);
}
