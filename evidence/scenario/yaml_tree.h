/* SPDX-License-Identifier: GPL-3.0-or-later
 * A YAML document as a plain tree with the place of every node; refuses what a scenario must not contain (libfyaml's
 * event parser behind a small interface). Used by the scenario reader. */
#ifndef OCCAM_EVIDENCE_SCENARIO_YAML_TREE_H
#define OCCAM_EVIDENCE_SCENARIO_YAML_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "evidence/arena.h"

enum {
    YAML_DEPTH_MAX = 32,
    YAML_NODES_MAX = 1 << 18
};

enum yaml_kind {
    YAML_SCALAR,
    YAML_LIST,
    YAML_MAP
};

struct yaml_node {
    enum yaml_kind kind;
    bool quoted;           /* scalars: 'text' or "text", so never a number */
    unsigned line, column; /* from 1 */
    unsigned text_column;  /* scalars: column of the text itself, after an opening quote; 0 for block scalars */
    const char *text;      /* scalars, "" for an empty value */
    const char *key;       /* in a map: the key in front of this value */
    unsigned key_line, key_column;
    uint32_t count; /* children */
    struct yaml_node *first, *next;
};

/* Parses text[0..length) into nodes owned by the arena. name is used in messages. One clear error with its place for:
 * invalid UTF-8, an empty file, syntax errors, more than one document, aliases, anchors, tags, keys that are not
 * scalars, duplicate keys, nesting below YAML_DEPTH_MAX, more than YAML_NODES_MAX nodes. hash_seed makes collisions of
 * keys hard to construct. */
MUST_CHECK enum status yaml_tree_parse(const char *text, size_t length, const char *name, uint64_t hash_seed,
                                       struct arena *arena, struct yaml_node **root, struct error *error);
/* Child of a map by key, or NULL; a list or a text has none. */
struct yaml_node *yaml_find(const struct yaml_node *map, const char *key);

#endif
