/* SPDX-License-Identifier: GPL-3.0-or-later
 * Bare identifiers out of C++ names, as far as comparing kernels needs: no full demangler. */
#include "evidence/claims/claim_names.h"

#include <ctype.h>
#include <string.h>

#include "evidence/code/compiled_kernel.h"

static bool is_word(char c)
{
    return isalnum((unsigned char)c) != 0 || c == '_';
}

enum claim_name_form claim_name_form_of(const char *name)
{
    if (strncmp(name, "_Z", 2) == 0) {
        return CLAIM_NAME_MANGLED;
    }
    for (const char *at = name; *at != '\0'; at++) {
        if (!is_word(*at) && *at != '$' && *at != '.') {
            return CLAIM_NAME_DEMANGLED;
        }
    }
    return CLAIM_NAME_PLAIN;
}

static const char *copy(const char *text, size_t length, char out[CLAIM_BASE_NAME_SIZE])
{
    length = length < CLAIM_BASE_NAME_SIZE - 1 ? length : CLAIM_BASE_NAME_SIZE - 1;
    memmove(out, text, length);
    out[length] = '\0';
    return out;
}

/* Itanium ABI: <length><identifier>, several within N...E; the last before template arguments or parameters is it. */
static const char *mangled_base(const char *name, char out[CLAIM_BASE_NAME_SIZE])
{
    const char *at = name + 2, *word = NULL;
    size_t length = 0;
    const bool is_nested = *at == 'N';
    at += is_nested;
    at += strspn(at, "KVrL"); /* qualifiers, internal linkage */
    while (isdigit((unsigned char)*at) != 0) {
        size_t count = 0;
        while (isdigit((unsigned char)*at) != 0 && count < 100000) {
            count = 10 * count + (size_t)(*at++ - '0');
        }
        if (count == 0 || count > strlen(at)) {
            break;
        }
        word = at;
        length = count;
        at += count;
        if (!is_nested) {
            break;
        }
    }
    return word != NULL ? copy(word, length, out) : copy(name, strlen(name), out);
}

/* The last identifier outside of <...> before the parameters. */
static const char *demangled_base(const char *name, char out[CLAIM_BASE_NAME_SIZE])
{
    static const char anonymous[] = "(anonymous namespace)";
    const char *word = NULL;
    size_t length = 0;
    int depth = 0;
    for (const char *at = name; *at != '\0'; at++) {
        if (strncmp(at, anonymous, sizeof anonymous - 1) == 0) {
            at += sizeof anonymous - 2;
            continue;
        }
        if (*at == '(' && depth == 0) {
            break;
        }
        depth += (*at == '<') - (*at == '>');
        if (depth == 0 && is_word(*at) && (at == name || !is_word(at[-1]))) {
            word = at;
            length = 0;
        }
        length += depth == 0 && is_word(*at) && word != NULL && at == word + length;
    }
    return word != NULL ? copy(word, length, out) : copy(name, strlen(name), out);
}

const char *claim_base_name(const char *name, char out[CLAIM_BASE_NAME_SIZE])
{
    switch (claim_name_form_of(name)) {
    case CLAIM_NAME_MANGLED:
        return mangled_base(name, out);
    case CLAIM_NAME_DEMANGLED:
        return demangled_base(name, out);
    case CLAIM_NAME_PLAIN:
    default:
        return copy(name, compiled_plain_name_length(name), out);
    }
}

bool claim_names_equal(const char *left, const char *right)
{
    return compiled_names_match(left, right);
}

bool claim_names_compatible(const char *left, const char *right)
{
    char a[CLAIM_BASE_NAME_SIZE], b[CLAIM_BASE_NAME_SIZE];
    return claim_name_form_of(left) != claim_name_form_of(right) &&
           strcmp(claim_base_name(left, a), claim_base_name(right, b)) == 0;
}
