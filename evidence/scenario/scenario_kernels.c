/* SPDX-License-Identifier: GPL-3.0-or-later
 * The section `kernels`: every key is a formula for one member of struct kernel_case, listed in tables below. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "evidence/scenario/scenario_internal.h"

/* Keys that are plain formulas. default_value NaN: required. */
struct quantity_key {
    const char *key;
    size_t offset;
    enum quantity_type type;
    double default_value;
    size_t source_offset;
    bool allow_forms;
};

#define LAUNCH(member) (offsetof(struct kernel_case, launch) + offsetof(struct kernel_launch, member))
#define LOOP(member)   (offsetof(struct kernel_case, loop) + offsetof(struct tile_loop, member))

static const struct quantity_key launch_keys[] = {
    {"grid", LAUNCH(grid_ctas), QUANTITY_COUNT64, NAN, LAUNCH(grid_source), true},
    {"threads", LAUNCH(threads), QUANTITY_COUNT32, NAN, 0, true},
    {"registers", LAUNCH(registers_per_thread), QUANTITY_COUNT32, NAN, LAUNCH(registers_source), true},
    {"static_smem_bytes", LAUNCH(static_smem_bytes), QUANTITY_COUNT32, 0, 0, true},
    {"smem_bytes", LAUNCH(dynamic_smem_bytes), QUANTITY_COUNT64, NAN, LAUNCH(smem_source), true},
    {"barriers", LAUNCH(barriers), QUANTITY_COUNT32, 1, 0, true},
    {"cluster", LAUNCH(cluster_ctas), QUANTITY_COUNT32, 1, 0, true},
    {"carveout", LAUNCH(carveout_percent), QUANTITY_INT32, CARVEOUT_DEFAULT, 0, true},
    {"prologue_bytes", LOOP(prologue_bytes), QUANTITY_DOUBLE, 0, 0, true},
    {"prologue_distinct_fraction", LOOP(prologue_distinct_fraction), QUANTITY_DOUBLE, 1, 0, true},
    {"epilogue_bytes", LOOP(epilogue_bytes), QUANTITY_DOUBLE, 0, 0, true},
    {"epilogue_piece_bytes", LOOP(epilogue_piece_bytes), QUANTITY_DOUBLE, 0, 0, true},
    {"serial_steps", LOOP(serial_steps), QUANTITY_DOUBLE, 0, 0, true},
};

static const struct quantity_key loop_keys[] = {
    {"fp32_ops", LOOP(fp32_ops), QUANTITY_DOUBLE, 0, 0, true},
    {"special_ops", LOOP(special_ops), QUANTITY_DOUBLE, 0, 0, true},
    {"convert_ops", LOOP(convert_ops), QUANTITY_DOUBLE, 0, 0, true},
    {"shuffle_ops", LOOP(shuffle_ops), QUANTITY_DOUBLE, 0, 0, true},
    {"replicated_ops", LOOP(replicated_ops), QUANTITY_DOUBLE, 0, 0, true},
    {"smem_bytes", LOOP(smem_bytes), QUANTITY_DOUBLE, 0, 0, true},
    {"operand_ops", LOOP(operand_ops), QUANTITY_DOUBLE, 0, 0, true},
    {"smem_operands", LOOP(smem_operands), QUANTITY_COUNT32, 1, 0, true},
    {"barriers", LOOP(barriers), QUANTITY_DOUBLE, 0, 0, true},
    {"warp_instructions", LOOP(warp_instructions), QUANTITY_DOUBLE, 0, 0, true},
    {"edge_instructions", LOOP(edge_instructions), QUANTITY_DOUBLE, 0, 0, true},
    {"operand_waits", LOOP(operand_waits), QUANTITY_DOUBLE, 0, 0, true},
    {"product_waits", LOOP(product_waits), QUANTITY_DOUBLE, 0, 0, true},
    {"early_fraction", LOOP(early_fraction), QUANTITY_DOUBLE, 0, 0, true},
    {"local_bytes", LOOP(local_bytes), QUANTITY_DOUBLE, 0, 0, true},
};

#define LOAD(member) offsetof(struct tile_load, member)
static const struct quantity_key load_keys[] = {
    {"row_bytes", LOAD(row_bytes), QUANTITY_DOUBLE, NAN, 0, true},
    {"alignment_bytes", LOAD(alignment_bytes), QUANTITY_DOUBLE, 0, 0, true},
    {"pipelined", LOAD(pipelined), QUANTITY_FLAG, 1, 0, true},
    {"exposures", LOAD(exposures), QUANTITY_DOUBLE, 1, 0, true},
    {"distinct_fraction", LOAD(distinct_fraction), QUANTITY_DOUBLE, 1, 0, true},
    {"in_flight_bytes", LOAD(in_flight_bytes), QUANTITY_DOUBLE, 0, 0, true},
};

#define MMA(member) offsetof(struct mma_op, member)
static const struct quantity_key mma_keys[] = {
    {"m", MMA(m), QUANTITY_COUNT32, NAN, 0, true},
    {"n", MMA(n), QUANTITY_COUNT32, NAN, 0, true},
    {"k", MMA(k), QUANTITY_COUNT32, NAN, 0, true},
    {"count", MMA(count), QUANTITY_DOUBLE, 1, 0, true},
    {"warps_m", MMA(warps_m), QUANTITY_COUNT32, 0, 0, true},
    {"warps_n", MMA(warps_n), QUANTITY_COUNT32, 0, 0, true},
    {"warpgroup", MMA(warpgroup), QUANTITY_FLAG, 0, 0, true},
};
/* Of a loop table alone; a file writes instruction: [m, n, k]. */
static const struct quantity_key instruction_keys[] = {
    {"instruction m", MMA(instruction_m), QUANTITY_COUNT32, 0, 0, true},
    {"instruction n", MMA(instruction_n), QUANTITY_COUNT32, 0, 0, true},
    {"instruction k", MMA(instruction_k), QUANTITY_COUNT32, 0, 0, true},
};
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

struct kernel_reader {
    const struct scenario_reader *reader;
    struct scenario_kernel *kernel;
    const struct loop_table *table; /* of the loop; NULL elsewhere */
    const char *prefix;             /* of its columns: "", "stream.", "mma1." */
};

static enum status new_quantity(const struct kernel_reader *self, const struct yaml_node *place, const char *key,
                                enum quantity_type type, size_t offset, struct scenario_quantity **quantity)
{
    if (self->kernel->quantity_count == SCENARIO_QUANTITIES_MAX) {
        return reader_fail(self->reader, STATUS_LIMIT, place, "kernel %s holds too many quantities",
                           self->kernel->name);
    }
    *quantity = &self->kernel->quantities[self->kernel->quantity_count++];
    **quantity = (struct scenario_quantity){.name = key, .type = type, .offset = offset};
    return STATUS_OK;
}

/* One key of a table: the formula of the file, or the default. */
static enum status read_quantity(const struct kernel_reader *self, const struct yaml_node *map,
                                 const struct quantity_key *key, size_t base)
{
    const struct yaml_node *node = yaml_find(map, key->key);
    struct scenario_quantity *quantity;
    enum status status = new_quantity(self, map, key->key, key->type, base + key->offset, &quantity);
    if (status != STATUS_OK) {
        return status;
    }
    quantity->source_offset = key->source_offset;
    const char *column;
    if (node == NULL && self->table != NULL &&
        loop_table_column(self->table, self->prefix, key->key, &column) == LOOP_COLUMN_FILLED) {
        return loop_table_formula(self->reader, self->table, column, key->key, &quantity->formula);
    }
    if (node == NULL) {
        if (isnan(key->default_value)) {
            return reader_fail(self->reader, STATUS_BAD_DATA, map, "kernel %s: '%s' is missing", self->kernel->name,
                               key->key);
        }
        formula_set_number(&quantity->formula, map, key->default_value, INPUT_SOURCE_FORMULA);
        return STATUS_OK;
    }
    return formula_read(self->reader, node, key->key, SCOPE_FULL, key->allow_forms, &quantity->formula);
}

static enum status read_quantities(const struct kernel_reader *self, const struct yaml_node *map,
                                   const struct quantity_key *keys, size_t count, size_t base)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = read_quantity(self, map, &keys[i], base);
    }
    return status;
}

static enum status check_table_keys(const struct kernel_reader *self, const struct yaml_node *map, const char *what,
                                    const struct quantity_key *keys, size_t count, const char *const *others,
                                    size_t other_count)
{
    const char *names[32];
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        names[used++] = keys[i].key;
    }
    for (size_t i = 0; i < other_count; i++) {
        names[used++] = others[i];
    }
    return reader_check_keys(self->reader, map, what, names, used);
}

/* --- loads ---------------------------------------------------------------------------------------------------------
 */

static enum status read_load(const struct kernel_reader *self, const struct yaml_node *node, const char *what,
                             size_t base, double default_rows, bool default_dependent)
{
    static const char *const others[] = {"rows", "index_dependent"};
    const struct quantity_key own_keys[] = {
        {"rows", LOAD(rows), QUANTITY_DOUBLE, default_rows, 0, true},
        {"index_dependent", LOAD(index_dependent), QUANTITY_FLAG, default_dependent, 0, true}};
    struct kernel_reader own = *self;
    bool is_filled = false;
    char prefix[16];
    struct yaml_node empty = {.kind = YAML_MAP, .text = "", .key = what};
    (void)snprintf(prefix, sizeof prefix, "%s.", what);
    own.prefix = prefix;
    enum status status = STATUS_OK;
    if (node == NULL && self->table != NULL) {
        status = loop_table_group(self->reader, self->table, prefix, "row_bytes", &is_filled);
    }
    if (is_filled) {
        empty.line = self->table->from->line;
        empty.column = self->table->from->column;
        node = &empty;
    }
    if (node == NULL) {
        return status; /* rows = 0 in the prototype: no load of this kind */
    }
    self = &own;
    status = check_table_keys(self, node, what, load_keys, COUNT_OF(load_keys), others, 2);
    if (status == STATUS_OK) {
        status = read_quantities(self, node, own_keys, COUNT_OF(own_keys), base);
    }
    return status == STATUS_OK ? read_quantities(self, node, load_keys, COUNT_OF(load_keys), base) : status;
}

/* --- tensor work ---------------------------------------------------------------------------------------------------
 */

static enum status read_choice(const struct kernel_reader *self, const struct yaml_node *node, const char *what,
                               const char *const *names, size_t count, size_t *choice)
{
    for (size_t i = 0; i < count && node->kind == YAML_SCALAR; i++) {
        if (strcmp(names[i], node->text) == 0) {
            *choice = i;
            return STATUS_OK;
        }
    }
    char list[128];
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", i > 0 ? ", " : "", names[i]);
    }
    return reader_fail(self->reader, STATUS_BAD_DATA, node, "%s must be one of %s", what, list);
}

/* A choice that the file leaves to the loop table: *node becomes *own, a scalar at the table's place. */
static enum status table_choice(const struct kernel_reader *self, const char *key, const struct yaml_node **node,
                                struct yaml_node *own)
{
    const char *text = NULL;
    enum status status = *node == NULL && self->table != NULL
                             ? loop_table_text(self->reader, self->table, self->prefix, key, &text)
                             : STATUS_OK;
    if (text != NULL) {
        *own = (struct yaml_node){.kind = YAML_SCALAR,
                                  .text = text,
                                  .key = key,
                                  .line = self->table->from->line,
                                  .column = self->table->from->column};
        *node = own;
    }
    return status;
}

static enum status read_instruction(const struct kernel_reader *self, const struct yaml_node *node, struct mma_op *op)
{
    uint32_t *const sides[] = {&op->instruction_m, &op->instruction_n, &op->instruction_k};
    if (node->kind != YAML_LIST || node->count != 3) {
        return reader_fail(self->reader, STATUS_BAD_DATA, node, "instruction must be [m, n, k]");
    }
    const struct yaml_node *child = node->first;
    for (size_t i = 0; i < 3; i++, child = child->next) {
        double value;
        enum status status = reader_number(self->reader, child, "instruction", &value);
        if (status != STATUS_OK) {
            return status;
        }
        if (value < 1 || value > 1024 || value != floor(value)) {
            return reader_fail(self->reader, STATUS_BAD_DATA, child, "instruction sides are whole numbers 1 to 1024");
        }
        *sides[i] = (uint32_t)value;
    }
    return STATUS_OK;
}

static enum status read_mma(const struct kernel_reader *self, const struct yaml_node *node, uint32_t index)
{
    static const char *const others[] = {"type", "layout", "instruction"};
    static const char *const layouts[] = {"auto", "chained", "balanced", "split_m", "split_n"}; /* enum mma_layout */
    const char *formats[NUMBER_FORMAT_COUNT];
    for (int i = 0; i < NUMBER_FORMAT_COUNT; i++) {
        formats[i] = number_format_name((enum number_format)i);
    }
    struct mma_op *op = &self->kernel->prototype.loop.mma[index];
    enum status status = check_table_keys(self, node, "mma", mma_keys, COUNT_OF(mma_keys), others, 3);
    if (status == STATUS_OK) {
        status = read_quantities(self, node, mma_keys, COUNT_OF(mma_keys), LOOP(mma) + index * sizeof *op);
    }
    if (status != STATUS_OK) {
        return status;
    }
    const struct yaml_node *type = yaml_find(node, "type"), *layout = yaml_find(node, "layout"),
                           *instruction = yaml_find(node, "instruction");
    size_t format = NUMBER_FORMAT_BF16, way = MMA_LAYOUT_AUTO;
    struct yaml_node table_type, table_layout;
    status = table_choice(self, "type", &type, &table_type);
    if (status == STATUS_OK) {
        status = table_choice(self, "layout", &layout, &table_layout);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (type != NULL) {
        status = read_choice(self, type, "type", formats, NUMBER_FORMAT_COUNT, &format);
    }
    if (status == STATUS_OK && layout != NULL) {
        status = read_choice(self, layout, "layout", layouts, sizeof layouts / sizeof layouts[0], &way);
    }
    op->format = (enum number_format)format;
    op->layout = (enum mma_layout)way;
    return status == STATUS_OK && instruction != NULL ? read_instruction(self, instruction, op) : status;
}

static enum status read_one_table_mma(const struct kernel_reader *self, uint32_t index)
{
    const struct yaml_node empty = {.kind = YAML_MAP,
                                    .text = "",
                                    .key = "mma",
                                    .line = self->table->from->line,
                                    .column = self->table->from->column};
    const char *column;
    enum status status = read_mma(self, &empty, index);
    if (status == STATUS_OK &&
        loop_table_column(self->table, self->prefix, instruction_keys[0].key, &column) == LOOP_COLUMN_FILLED) {
        status = read_quantities(self, &empty, instruction_keys, COUNT_OF(instruction_keys),
                                 LOOP(mma) + index * sizeof(struct mma_op));
    }
    return status;
}

/* Products of a loop table: columns loop.mma1.m, loop.mma1.type and so on; types are those of all its rows. */
static enum status read_table_mma(const struct kernel_reader *outer)
{
    uint32_t *count = &outer->kernel->prototype.loop.mma_count;
    enum status status = STATUS_OK;
    for (uint32_t i = 0; outer->table != NULL && i < TILE_LOOP_MMA_MAX && status == STATUS_OK; i++) {
        struct kernel_reader self = *outer;
        char prefix[16];
        bool is_filled;
        (void)snprintf(prefix, sizeof prefix, "mma%u.", (unsigned)(i + 1));
        self.prefix = prefix;
        status = loop_table_group(outer->reader, outer->table, prefix, "m", &is_filled);
        if (status == STATUS_OK && is_filled && *count != i) {
            status = reader_fail(outer->reader, STATUS_BAD_DATA, outer->table->from,
                                 "the loop table fills loop.mma%u, but not loop.mma%u", (unsigned)(i + 1), (unsigned)i);
        }
        if (status == STATUS_OK && is_filled) {
            status = read_one_table_mma(&self, (*count)++);
        }
    }
    return status;
}

static enum status read_mma_list(const struct kernel_reader *self, const struct yaml_node *node)
{
    if (node == NULL) {
        return read_table_mma(self);
    }
    struct kernel_reader by_hand = *self;
    by_hand.table = NULL; /* products written down are whole */
    self = &by_hand;
    enum status status = reader_expect(self->reader, node, YAML_LIST, "mma");
    if (status == STATUS_OK && node->count > TILE_LOOP_MMA_MAX) {
        status = reader_fail(self->reader, STATUS_LIMIT, node, "mma holds at most %d products", TILE_LOOP_MMA_MAX);
    }
    for (const struct yaml_node *child = node->first; child != NULL && status == STATUS_OK; child = child->next) {
        status = read_mma(self, child, self->kernel->prototype.loop.mma_count++);
    }
    return status;
}

/* --- the loop ------------------------------------------------------------------------------------------------------
 */

/* buffers: as given; else max(1, declared_stages - 1), which is what Triton 3.x has on its way of num_stages. */
static enum status read_stages(const struct kernel_reader *self, const struct yaml_node *node)
{
    static const struct quantity_key declared = {"declared_stages", LOOP(declared_stages), QUANTITY_DOUBLE, 1, 0, true};
    static const struct quantity_key buffers = {"buffers", LOOP(buffers), QUANTITY_DOUBLE, 1, 0, true};
    enum status status = read_quantity(self, node, &declared, 0);
    const struct yaml_node *stages = yaml_find(node, "declared_stages");
    const char *column;
    bool has_buffers =
        yaml_find(node, "buffers") != NULL ||
        (self->table != NULL && loop_table_column(self->table, "", "buffers", &column) == LOOP_COLUMN_FILLED);
    if (status != STATUS_OK || stages == NULL || has_buffers) {
        return status == STATUS_OK ? read_quantity(self, node, &buffers, 0) : status;
    }
    if (stages->kind != YAML_SCALAR) {
        return reader_fail(self->reader, STATUS_BAD_DATA, stages,
                           "declared_stages from a table needs 'buffers' beside it");
    }
    struct scenario_quantity *quantity;
    status = new_quantity(self, node, "buffers", QUANTITY_DOUBLE, LOOP(buffers), &quantity);
    char text[EXPRESSION_TEXT_MAX];
    int length = snprintf(text, sizeof text, "max(1, (%s) - 1)", stages->text);
    if (status == STATUS_OK && (length < 0 || (size_t)length >= sizeof text)) {
        status = reader_fail(self->reader, STATUS_LIMIT, stages, "declared_stages is too long an expression");
    }
    return status == STATUS_OK ? formula_set_text(self->reader, stages, "buffers", text, &quantity->formula) : status;
}

static enum status read_spills(const struct kernel_reader *self, const struct yaml_node *node)
{
    static const struct quantity_key spills = {"spill_bytes", LOOP(spill_bytes), QUANTITY_DOUBLE, 0, 0, true};
    const struct yaml_node *child = yaml_find(node, "spill_bytes");
    const char *column;
    bool is_unknown = child != NULL ? child->kind == YAML_SCALAR && strcmp(child->text, "unknown") == 0
                                    : self->table != NULL && loop_table_column(self->table, "", "spill_bytes",
                                                                               &column) == LOOP_COLUMN_EMPTY;
    if (is_unknown) {
        self->kernel->prototype.loop.spill_bytes = NAN;
        return STATUS_OK;
    }
    return read_quantity(self, node, &spills, 0);
}

static enum status read_loop_parts(const struct kernel_reader *self, const struct yaml_node *node, bool is_ragged)
{
    static const struct quantity_key iterations = {"iterations", LOOP(iterations), QUANTITY_DOUBLE, NAN, 0, true};
    enum status status = STATUS_OK;
    const char *column;
    bool has_iterations = yaml_find(node, "iterations") != NULL ||
                          loop_table_column(self->table, "", "iterations", &column) == LOOP_COLUMN_FILLED;
    self->kernel->mean_iterations = is_ragged && !has_iterations;
    if (!self->kernel->mean_iterations) {
        status = read_quantity(self, node, &iterations, 0);
    }
    if (status == STATUS_OK) {
        status = read_stages(self, node);
    }
    if (status == STATUS_OK) {
        status = read_load(self, yaml_find(node, "gather"), "gather", LOOP(gather), NAN, true);
    }
    if (status == STATUS_OK) {
        status = read_load(self, yaml_find(node, "stream"), "stream", LOOP(stream), 1, false);
    }
    if (status == STATUS_OK) {
        status = read_mma_list(self, yaml_find(node, "mma"));
    }
    if (status == STATUS_OK) {
        status = read_spills(self, node);
    }
    return status == STATUS_OK ? read_quantities(self, node, loop_keys, COUNT_OF(loop_keys), 0) : status;
}

static enum status read_loop(const struct kernel_reader *outer, const struct yaml_node *node, bool is_ragged)
{
    static const char *const others[] = {"iterations", "declared_stages", "buffers", "gather", "stream",
                                         "mma",        "spill_bytes",     "from",    "keys",   "where"};
    struct loop_table table;
    struct kernel_reader self = *outer;
    enum status status = check_table_keys(outer, node, "loop", loop_keys, COUNT_OF(loop_keys), others, 10);
    if (status != STATUS_OK) {
        return status;
    }
    status = loop_table_read(outer->reader, node, &table);
    self.table = &table;
    self.prefix = "";
    self.kernel->prototype.loop.source = table.is_open ? INPUT_SOURCE_COMPILED : INPUT_SOURCE_FORMULA;
    if (status == STATUS_OK) {
        status = read_loop_parts(&self, node, is_ragged);
    }
    loop_table_release(&table);
    return status;
}

static enum status read_ragged(const struct kernel_reader *self, const struct yaml_node *node)
{
    static const struct quantity_key keys[] = {
        {"ctas", offsetof(struct ragged_group, ctas), QUANTITY_COUNT64, NAN, 0, true},
        {"iterations", offsetof(struct ragged_group, iterations), QUANTITY_DOUBLE, NAN, 0, true}};
    if (node == NULL) {
        return STATUS_OK;
    }
    enum status status = reader_expect(self->reader, node, YAML_LIST, "ragged");
    if (status == STATUS_OK && (node->count == 0 || node->count > TILE_LOOP_RAGGED_MAX)) {
        status = reader_fail(self->reader, STATUS_LIMIT, node, "ragged holds 1 to %d groups", TILE_LOOP_RAGGED_MAX);
    }
    struct tile_loop *loop = &self->kernel->prototype.loop;
    for (const struct yaml_node *child = node->first; child != NULL && status == STATUS_OK; child = child->next) {
        status = check_table_keys(self, child, "ragged", keys, 2, NULL, 0);
        if (status == STATUS_OK) {
            status =
                read_quantities(self, child, keys, 2, LOOP(ragged) + loop->ragged_count * sizeof(struct ragged_group));
        }
        loop->ragged_count++;
    }
    return status;
}

/* --- kernels -------------------------------------------------------------------------------------------------------
 */

static enum status read_when(const struct kernel_reader *self, const struct yaml_node *node)
{
    if (node == NULL) {
        return STATUS_OK;
    }
    self->kernel->when = arena_allocate(&self->reader->scenario->arena, 1, sizeof *self->kernel->when);
    if (self->kernel->when == NULL) {
        return reader_no_memory(self->reader);
    }
    return formula_read(self->reader, node, "when", SCOPE_FULL, false, self->kernel->when);
}

static enum status read_kernel(const struct scenario_reader *reader, const struct yaml_node *node)
{
    static const char *const others[] = {"when", "loop", "ragged"};
    struct scenario *scenario = reader->scenario;
    struct kernel_reader self = {reader, &scenario->kernels[scenario->kernel_count++], NULL, ""};
    if (strlen(node->key) >= KERNEL_NAME_SIZE) {
        return error_set_at(reader->error, STATUS_BAD_DATA, scenario->path, node->key_line, node->key_column,
                            "a kernel name longer than %d characters", KERNEL_NAME_SIZE - 1);
    }
    self.kernel->name = node->key;
    self.kernel->prototype.name = node->key;
    self.kernel->line = node->line;
    self.kernel->column = node->column;
    self.kernel->quantities =
        arena_allocate(&scenario->arena, SCENARIO_QUANTITIES_MAX, sizeof *self.kernel->quantities);
    if (self.kernel->quantities == NULL) {
        return reader_no_memory(reader);
    }
    enum status status = check_table_keys(&self, node, "a kernel", launch_keys, COUNT_OF(launch_keys), others, 3);
    if (status == STATUS_OK) {
        status = read_when(&self, yaml_find(node, "when"));
    }
    if (status == STATUS_OK) {
        status = read_quantities(&self, node, launch_keys, COUNT_OF(launch_keys), 0);
    }
    const struct yaml_node *loop = yaml_find(node, "loop"), *ragged = yaml_find(node, "ragged");
    if (status == STATUS_OK && loop == NULL) {
        status = reader_fail(reader, STATUS_BAD_DATA, node, "kernel %s: 'loop' is missing", node->key);
    }
    if (status == STATUS_OK) {
        status = read_loop(&self, loop, ragged != NULL);
    }
    return status == STATUS_OK ? read_ragged(&self, ragged) : status;
}

enum status scenario_read_kernels(struct scenario_reader *reader, const struct yaml_node *node)
{
    enum status status = reader_expect(reader, node, YAML_MAP, "kernels");
    if (status == STATUS_OK && (node->count == 0 || node->count > KERNELS_PER_LAYER_MAX)) {
        status = reader_fail(reader, STATUS_LIMIT, node, "kernels holds 1 to %d kernels", KERNELS_PER_LAYER_MAX);
    }
    for (const struct yaml_node *child = node->first; child != NULL && status == STATUS_OK; child = child->next) {
        status = read_kernel(reader, child);
    }
    return status;
}
