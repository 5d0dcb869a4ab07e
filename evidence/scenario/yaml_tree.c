/* SPDX-License-Identifier: GPL-3.0-or-later
 * Builds the tree from libfyaml's events with a stack of our own, so that depth and size are known before anything is
 * kept. libfyaml's document builder is not used: its duplicate-key check is quadratic and it would expand aliases. */
#include "evidence/scenario/yaml_tree.h"

#include <stdlib.h>
#include <string.h>

#include <libfyaml.h>

#include "base/hash.h"
#include "base/text_buffer.h"

enum {
    BRACKETS_MAX = 8 * YAML_DEPTH_MAX,
    QUOTES_MAX = 1 /* doubled ones in a text of several lines: libfyaml 0.7.12 may lose memory from three on */
};

struct open_node {
    struct yaml_node *node, *last_child;
    const char *key; /* map: a key that waits for its value */
    unsigned key_line, key_column;
};

struct tree_builder {
    const char *name, *text;
    struct arena *arena;
    struct error *error;
    struct open_node stack[YAML_DEPTH_MAX];
    unsigned depth, documents;
    unsigned last_line, last_column; /* of the last event */
    uint32_t node_count;
    uint64_t hash_seed;
    struct yaml_node *root;
};

static enum status fail(const struct tree_builder *builder, unsigned line, unsigned column, const char *what)
{
    return error_set_at(builder->error, STATUS_BAD_DATA, builder->name, line, column, "%s", what);
}

static enum status no_memory(const struct tree_builder *builder)
{
    return error_set_at(builder->error, STATUS_NO_MEMORY, builder->name, 0, 0, "no memory for the document");
}

/* --- duplicate keys ----------------------------------------------------------------------------------------------- */

static uint64_t hash_key(const char *key, uint64_t seed)
{
    uint64_t hash = hash_bytes(seed ^ HASH_START, key, strlen(key));
    hash ^= hash >> 32;
    hash *= 0xd6e8feb86659fd93u;
    return hash ^ hash >> 32;
}

static enum status check_duplicates(const struct tree_builder *builder, const struct yaml_node *map)
{
    size_t size = 8;
    while (size < 2 * (size_t)map->count) {
        size *= 2;
    }
    const struct yaml_node **slots = calloc(size, sizeof(const struct yaml_node *));
    if (slots == NULL) {
        return no_memory(builder);
    }
    enum status status = STATUS_OK;
    for (const struct yaml_node *child = map->first; child != NULL && status == STATUS_OK; child = child->next) {
        size_t slot = hash_key(child->key, builder->hash_seed) & (size - 1);
        while (slots[slot] != NULL && strcmp(slots[slot]->key, child->key) != 0) {
            slot = (slot + 1) & (size - 1);
        }
        if (slots[slot] != NULL) {
            status =
                error_set_at(builder->error, STATUS_BAD_DATA, builder->name, child->key_line, child->key_column,
                             "the key '%.64s' is given twice; first in line %u", child->key, slots[slot]->key_line);
        }
        slots[slot] = child;
    }
    free(slots);
    return status;
}

/* --- events ------------------------------------------------------------------------------------------------------- */

static enum status attach(struct tree_builder *builder, struct yaml_node *node)
{
    if (++builder->node_count > YAML_NODES_MAX) {
        return error_set_at(builder->error, STATUS_LIMIT, builder->name, node->line, node->column,
                            "more than %d values in one file", YAML_NODES_MAX);
    }
    if (builder->depth == 0) {
        builder->root = node;
        return STATUS_OK;
    }
    struct open_node *parent = &builder->stack[builder->depth - 1];
    if (parent->node->kind == YAML_MAP) {
        node->key = parent->key;
        node->key_line = parent->key_line;
        node->key_column = parent->key_column;
        parent->key = NULL;
    }
    if (parent->last_child != NULL) {
        parent->last_child->next = node;
    } else {
        parent->node->first = node;
    }
    parent->last_child = node;
    parent->node->count++;
    return STATUS_OK;
}

/* Place of an event; an empty value has none of its own, so it takes its key's. */
static void place_of(const struct tree_builder *builder, struct fy_event *event, unsigned *line, unsigned *column)
{
    const struct fy_mark *mark = fy_event_start_mark(event);
    *line = 1;
    *column = 1;
    if (mark != NULL && mark->line >= 0 && mark->column >= 0) {
        *line = (unsigned)mark->line + 1;
        *column = (unsigned)mark->column + 1;
    } else if (builder->depth > 0) {
        const struct open_node *parent = &builder->stack[builder->depth - 1];
        *line = parent->key != NULL ? parent->key_line : parent->node->line;
        *column = parent->key != NULL ? parent->key_column : parent->node->column;
    }
}

static enum status refuse_decorations(const struct tree_builder *builder, const struct fy_token *anchor,
                                      const struct fy_token *tag, unsigned line, unsigned column)
{
    if (anchor != NULL) {
        return fail(builder, line, column, "anchors ('&') and aliases ('*') are not allowed");
    }
    return tag != NULL ? fail(builder, line, column, "tags ('!') are not allowed; quote a text that starts with '!'")
                       : STATUS_OK;
}

/* A text between single quotes: its source, without them. */
struct quoted_text {
    const char *source;
    size_t length;
    unsigned doubled; /* '' in it, which stand for one quote each */
    bool is_one_line;
};

static struct quoted_text quoted_text(const struct tree_builder *builder, struct fy_token *token)
{
    const size_t start = fy_token_start_mark(token)->input_pos, end = fy_token_end_mark(token)->input_pos;
    struct quoted_text quoted = {.source = builder->text + start, .length = end - start, .is_one_line = true};
    for (size_t i = 0; i < quoted.length; i++) {
        quoted.is_one_line = quoted.is_one_line && quoted.source[i] != '\n' && quoted.source[i] != '\r';
        if (i + 1 < quoted.length && quoted.source[i] == '\'' && quoted.source[i + 1] == '\'') {
            quoted.doubled++;
            i++;
        }
    }
    return quoted;
}

/* Of one line. NULL without memory. */
static char *undouble_quotes(const struct quoted_text *quoted, struct arena *arena)
{
    char *text = arena_allocate(arena, quoted->length + 1, 1), *to = text;
    for (size_t i = 0; i < quoted->length && text != NULL; i++) {
        *to++ = quoted->source[i];
        i += quoted->source[i] == '\'';
    }
    return text;
}

/* The text that a scalar stands for, in the arena. */
static enum status scalar_text(struct tree_builder *builder, struct fy_token *token, unsigned line, unsigned column,
                               char **copy)
{
    if (token != NULL && fy_token_scalar_style(token) == FYSS_SINGLE_QUOTED) {
        const struct quoted_text quoted = quoted_text(builder, token);
        if (quoted.doubled > QUOTES_MAX && !quoted.is_one_line) {
            return error_set_at(builder->error, STATUS_LIMIT, builder->name, line, column,
                                "doubled quotes in a text of several lines; put it in double quotes");
        }
        if (quoted.doubled > 0 && quoted.is_one_line) {
            *copy = undouble_quotes(&quoted, builder->arena);
            if (memchr(quoted.source, '\0', quoted.length) != NULL) {
                return fail(builder, line, column, "a text that contains a NUL character");
            }
            return *copy != NULL ? STATUS_OK : no_memory(builder);
        }
    }
    size_t length = 0;
    const char *text = token != NULL ? fy_token_get_text(token, &length) : NULL;
    if (text != NULL && memchr(text, '\0', length) != NULL) {
        return fail(builder, line, column, "a text that contains a NUL character");
    }
    *copy = arena_copy_text(builder->arena, text != NULL ? text : "", text != NULL ? length : 0);
    return *copy != NULL ? STATUS_OK : no_memory(builder);
}

static enum status add_scalar(struct tree_builder *builder, struct fy_event *event, unsigned line, unsigned column)
{
    enum status status = refuse_decorations(builder, event->scalar.anchor, event->scalar.tag, line, column);
    if (status != STATUS_OK) {
        return status;
    }
    enum fy_scalar_style style = event->scalar.value != NULL ? fy_token_scalar_style(event->scalar.value) : FYSS_PLAIN;
    if (style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED) {
        column--; /* libfyaml's mark is behind the quote */
    }
    char *copy = NULL;
    status = scalar_text(builder, event->scalar.value, line, column, &copy);
    if (status != STATUS_OK) {
        return status;
    }
    struct open_node *parent = builder->depth > 0 ? &builder->stack[builder->depth - 1] : NULL;
    if (parent != NULL && parent->node->kind == YAML_MAP && parent->key == NULL) {
        if (copy[0] == '\0') {
            return fail(builder, line, column, "an empty key");
        }
        parent->key = copy;
        parent->key_line = line;
        parent->key_column = column;
        return STATUS_OK;
    }
    struct yaml_node *node = arena_allocate(builder->arena, 1, sizeof *node);
    if (node == NULL) {
        return no_memory(builder);
    }
    node->kind = YAML_SCALAR;
    node->text = copy;
    node->line = line;
    node->column = column;
    node->quoted = style != FYSS_PLAIN;
    bool is_block = style == FYSS_LITERAL || style == FYSS_FOLDED;
    node->text_column = is_block ? 0 : column;
    return attach(builder, node);
}

static enum status open_collection(struct tree_builder *builder, struct fy_event *event, unsigned line, unsigned column)
{
    bool is_map = event->type == FYET_MAPPING_START;
    enum status status =
        is_map ? refuse_decorations(builder, event->mapping_start.anchor, event->mapping_start.tag, line, column)
               : refuse_decorations(builder, event->sequence_start.anchor, event->sequence_start.tag, line, column);
    if (status != STATUS_OK) {
        return status;
    }
    struct open_node *parent = builder->depth > 0 ? &builder->stack[builder->depth - 1] : NULL;
    if (parent != NULL && parent->node->kind == YAML_MAP && parent->key == NULL) {
        return fail(builder, line, column, "a key must be a plain text");
    }
    if (builder->depth == YAML_DEPTH_MAX) {
        return error_set_at(builder->error, STATUS_LIMIT, builder->name, line, column, "nested deeper than %d levels",
                            YAML_DEPTH_MAX);
    }
    struct yaml_node *node = arena_allocate(builder->arena, 1, sizeof *node);
    if (node == NULL) {
        return no_memory(builder);
    }
    node->kind = is_map ? YAML_MAP : YAML_LIST;
    node->text = "";
    node->line = line;
    node->column = column;
    status = attach(builder, node);
    builder->stack[builder->depth++] = (struct open_node){.node = node};
    return status;
}

static enum status take_event(struct tree_builder *builder, struct fy_event *event)
{
    unsigned line, column;
    place_of(builder, event, &line, &column);
    builder->last_line = line;
    builder->last_column = column;
    switch (event->type) {
    case FYET_DOCUMENT_START:
        return ++builder->documents > 1 ? fail(builder, line, column, "a second document; a file holds one")
                                        : STATUS_OK;
    case FYET_ALIAS:
        return fail(builder, line, column, "anchors ('&') and aliases ('*') are not allowed");
    case FYET_SCALAR:
        return add_scalar(builder, event, line, column);
    case FYET_SEQUENCE_START:
    case FYET_MAPPING_START:
        return open_collection(builder, event, line, column);
    case FYET_SEQUENCE_END:
        builder->depth--;
        return STATUS_OK;
    case FYET_MAPPING_END:
        builder->depth--;
        return check_duplicates(builder, builder->stack[builder->depth].node);
    case FYET_NONE:
    case FYET_STREAM_START:
    case FYET_STREAM_END:
    case FYET_DOCUMENT_END:
    default:
        return STATUS_OK;
    }
}

static enum status syntax_error(const struct tree_builder *builder, struct fy_diag *diag)
{
    void *iterator = NULL;
    struct fy_diag_error *found = fy_diag_errors_iterate(diag, &iterator);
    if (found == NULL || found->msg == NULL) {
        return fail(builder, builder->last_line, builder->last_column,
                    "YAML: the document cannot be parsed after this");
    }
    return error_set_at(builder->error, STATUS_BAD_DATA, builder->name, found->line >= 0 ? (unsigned)found->line : 0,
                        found->column >= 0 ? (unsigned)found->column : 0, "YAML: %s", found->msg);
}

/* The library would otherwise print to stderr by itself. */
static void print_nothing(struct fy_diag *diag, void *user, const char *text, size_t length)
{
    (void)diag;
    (void)user;
    (void)text;
    (void)length;
}

static struct fy_diag *create_silent_diag(void)
{
    struct fy_diag_cfg config;
    fy_diag_cfg_default(&config);
    config.fp = NULL;
    config.output_fn = print_nothing;
    struct fy_diag *diag = fy_diag_create(&config);
    if (diag != NULL) {
        fy_diag_set_collect_errors(diag, true);
    }
    return diag;
}

static enum status take_all_events(struct tree_builder *builder, struct fy_parser *parser, struct fy_diag *diag)
{
    struct fy_event *event;
    while ((event = fy_parser_parse(parser)) != NULL) {
        enum status status = take_event(builder, event);
        fy_parser_event_free(parser, event);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return fy_parser_get_stream_error(parser) ? syntax_error(builder, diag) : STATUS_OK;
}

static enum status check_encoding(const char *text, size_t length, const char *name, struct error *error)
{
    size_t bad_offset;
    if (utf8_check(text, length, &bad_offset) == STATUS_OK) {
        return STATUS_OK;
    }
    unsigned line = 1, column = 1;
    for (size_t i = 0; i < bad_offset; i++) {
        column = text[i] == '\n' ? 1 : column + (((unsigned char)text[i] & 0xc0) != 0x80);
        line += text[i] == '\n';
    }
    return error_set_at(error, STATUS_BAD_DATA, name, line, column,
                        "the byte 0x%02x is not valid UTF-8 text; is this a binary file?",
                        (unsigned)(unsigned char)text[bad_offset]);
}

/* What would cost libfyaml much time or memory before its first event: directives, brackets left open by the thousand
 * (its scanner keeps all of them). Quotes are not understood here, so the bound is generous. */
static enum status check_shape(const char *text, size_t length, const char *name, struct error *error)
{
    unsigned line = 1, column = 1;
    long open = 0;
    for (size_t i = 0; i < length; i++, column++) {
        char c = text[i];
        if (c == '%' && column == 1) {
            return error_set_at(error, STATUS_BAD_DATA, name, line, column, "directives ('%%') are not allowed");
        }
        if (c == '#' && (i == 0 || text[i - 1] == ' ' || text[i - 1] == '\t' || text[i - 1] == '\n')) {
            while (i + 1 < length && text[i + 1] != '\n') {
                i++;
            }
        } else if (c == '\n') {
            line++;
            column = 0;
        } else if (c == '[' || c == '{') {
            open++;
        } else if ((c == ']' || c == '}') && open > 0) {
            open--;
        }
        if (open > BRACKETS_MAX) {
            return error_set_at(error, STATUS_LIMIT, name, line, column, "more than %d brackets are open",
                                BRACKETS_MAX);
        }
    }
    return STATUS_OK;
}

enum status yaml_tree_parse(const char *text, size_t length, const char *name, uint64_t hash_seed, struct arena *arena,
                            struct yaml_node **root, struct error *error)
{
    *root = NULL;
    enum status status = check_encoding(text, length, name, error);
    if (status == STATUS_OK) {
        status = check_shape(text, length, name, error);
    }
    if (status != STATUS_OK) {
        return status;
    }
    struct tree_builder builder = {
        .name = name, .text = text, .arena = arena, .error = error, .hash_seed = hash_seed, .last_line = 1};
    struct fy_diag *diag = create_silent_diag();
    struct fy_parse_cfg config = {
        .flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_DEFAULT_VERSION_1_2 | FYPCF_JSON_NONE, .diag = diag};
    struct fy_parser *parser = diag != NULL ? fy_parser_create(&config) : NULL;
    if (parser == NULL || fy_parser_set_string(parser, text, length) != 0) {
        status = no_memory(&builder);
    } else {
        status = take_all_events(&builder, parser, diag);
    }
    fy_parser_destroy(parser);
    fy_diag_destroy(diag);
    if (status == STATUS_OK && builder.root == NULL) {
        status = fail(&builder, 1, 1, "the file is empty; a scenario is a map with 'name', 'knobs', 'kernels', ...");
    }
    *root = status == STATUS_OK ? builder.root : NULL;
    return status;
}

struct yaml_node *yaml_find(const struct yaml_node *map, const char *key)
{
    struct yaml_node *first = map->kind == YAML_MAP ? map->first : NULL; /* items of a list have no key */
    for (struct yaml_node *child = first; child != NULL; child = child->next) {
        if (strcmp(child->key, key) == 0) {
            return child;
        }
    }
    return NULL;
}
