/* SPDX-License-Identifier: GPL-3.0-or-later
 * OutOfResources messages. */
#include "evidence/profiles/out_of_resources.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char *const resources[] = {"shared memory", "tensor memory", "registers", "threads", "grid size"};

/* Digits at *at behind colons and spaces; false when there are none or too many. */
static bool take_number(const char **at, uint64_t *number)
{
    *at += strspn(*at, ": ");
    size_t digits = strspn(*at, "0123456789");
    *number = 0;
    for (size_t i = 0; i < digits && digits <= 18; i++) {
        *number = *number * 10 + (uint64_t)((*at)[i] - '0');
    }
    *at += digits;
    return digits > 0 && digits <= 18;
}

/* The name between "out of resource:" and the numbers: of a resource, or of a kernel. */
static void take_name(const char *from, const char *end, struct out_of_resources *out)
{
    from += strspn(from, ": ");
    while (end > from && strchr(" ,.", end[-1]) != NULL) {
        end--;
    }
    size_t length = end > from ? (size_t)(end - from) : 0;
    for (size_t i = 0; i < sizeof resources / sizeof resources[0]; i++) {
        if (length == strlen(resources[i]) && strncmp(from, resources[i], length) == 0) {
            (void)snprintf(out->resource, sizeof out->resource, "%s", resources[i]);
            return;
        }
    }
    if (length > 0 && length < sizeof out->kernel) {
        (void)snprintf(out->kernel, sizeof out->kernel, "%.*s", (int)length, from);
    }
}

/* Required: N, Hardware limit: M; the separators are missing in some versions. */
static bool parse_sentence(const char *text, struct out_of_resources *out)
{
    static const char required[] = "Required", limit[] = "Hardware limit";
    enum {
        GAP_MAX = 12
    };
    for (const char *at = strstr(text, required); at != NULL; at = strstr(at + 1, required)) {
        const char *here = at + sizeof required - 1;
        if (!take_number(&here, &out->required)) {
            continue;
        }
        const char *next = strstr(here, limit);
        if (next == NULL || next - here > GAP_MAX) {
            continue;
        }
        next += sizeof limit - 1;
        next += strncmp(next, "ation", 5) == 0 ? 5 : 0;
        if (!take_number(&next, &out->limit)) {
            continue;
        }
        const char *name = strstr(text, "out of resource");
        if (name != NULL && name < at) {
            take_name(name + strlen("out of resource"), at, out);
        }
        return true;
    }
    return false;
}

/* OutOfResources(98304, 49152, 'shared memory') */
static bool parse_constructor(const char *text, struct out_of_resources *out)
{
    static const char call[] = "OutOfResources(";
    for (const char *at = strstr(text, call); at != NULL; at = strstr(at + 1, call)) {
        const char *here = at + sizeof call - 1;
        if (!take_number(&here, &out->required) || *here != ',') {
            continue;
        }
        here++;
        if (!take_number(&here, &out->limit)) {
            continue;
        }
        here += strspn(here, ", ");
        if (*here == '\'' || *here == '"') {
            const char *end = strchr(here + 1, *here);
            take_name(here + 1, end != NULL ? end : here + 1, out);
        }
        return true;
    }
    return false;
}

bool out_of_resources_parse(const char *text, struct out_of_resources *out)
{
    *out = (struct out_of_resources){0};
    return parse_sentence(text, out) || parse_constructor(text, out);
}

bool out_of_resources_begins(const char *text, char kernel[160])
{
    const char *name = strstr(text, "out of resource:");
    struct out_of_resources out = {0};
    if (name == NULL || strstr(text, "Required") != NULL) {
        return false;
    }
    take_name(name + strlen("out of resource:"), text + strlen(text), &out);
    (void)snprintf(kernel, sizeof out.kernel, "%s", out.kernel);
    return true;
}

bool out_of_resources_is_smem(const struct out_of_resources *message)
{
    static const uint64_t others[] = {512, 1024, 65535, 65536};
    if (message->resource[0] != '\0') {
        return strcmp(message->resource, resources[0]) == 0;
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (message->limit == others[i]) {
            return false;
        }
    }
    return true;
}
