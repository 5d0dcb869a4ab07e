/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam inspect --as scenario`: the inputs of the operator that launched a kernel, as workload. What a product's sides
 * are follows from the operator's definition; turns of a loop are never concluded from them. */
#include <stdio.h>
#include <string.h>

#include "cli/inspect.h"
#include "cli/inspect_evidence.h"

enum {
    SIDES_SHOWN_MAX = 12 /* a scenario holds 24 workload variables; the comment has all */
};

/* Which input and side is m, n and k of a matrix product, as PyTorch defines its operators; k stands twice. */
struct product {
    const char *name;
    unsigned rank, first, second; /* left and right factor */
};

static const struct product *product_of(const struct claim_operator *operator)
{
    static const struct product products[] = {
        {"aten::mm", 2, 0, 1}, {"aten::addmm", 2, 1, 2}, {"aten::bmm", 3, 0, 1}, {"aten::baddbmm", 3, 1, 2}};
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++) {
        const struct product *product = &products[i];
        if (strcmp(operator->name, product->name) != 0 || operator->input_count <= product->second) {
            continue;
        }
        const struct claim_input *left = &operator->inputs[product->first], *right = &operator->inputs[product->second];
        const unsigned rank = product->rank;
        const bool fits = left->rank == rank && right->rank == rank && left->sides[rank - 1] == right->sides[rank - 2];
        return fits && (rank == 2 || left->sides[0] == right->sides[0]) ? product : NULL;
    }
    return NULL;
}

static void print_side(FILE *stream, const char *name, uint64_t value, const char *meaning)
{
    (void)fprintf(stream, "  %s: %llu   # %s\n", name, (unsigned long long)value, meaning);
}

static void print_product(const struct claim_operator *operator, FILE * stream)
{
    const struct product *product = product_of(operator);
    if (product == NULL) {
        return;
    }
    const unsigned rank = product->rank;
    const struct claim_input *left = &operator->inputs[product->first], *right = &operator->inputs[product->second];
    if (rank == 3) {
        print_side(stream, "product_batch", left->sides[0], "products of the operator");
    }
    print_side(stream, "product_m", left->sides[rank - 2], "rows of the left factor");
    print_side(stream, "product_n", right->sides[rank - 1], "columns of the right factor");
    print_side(stream, "product_k", left->sides[rank - 1], "columns of the left factor, summed over");
}

void inspect_print_operator(const struct kernel_claim *launch, FILE *stream)
{
    const struct claim_operator *operator= launch->operator;
    if (operator== NULL) {
        return;
    }
    (void)fputs("  # Inputs of ", stream);
    inspect_print_quoted(stream, operator->name);
    (void)fprintf(stream, ", which launched the kernel (%s); no formula here uses them yet.\n",
                  claim_source_name(launch->source));
    if (operator->input_types[0] != '\0') {
        inspect_print_comment(stream, "  # Types: ", operator->input_types);
    }
    if (operator->concrete_inputs[0] != '\0') {
        inspect_print_comment(stream, "  # Values: ", operator->concrete_inputs);
    }
    inspect_print_comment(stream, "  # Sides: ", operator->input_dims);
    unsigned shown = 0;
    for (size_t i = 0; i < operator->input_count; i++) {
        for (unsigned side = 0; side < operator->inputs[i].rank && shown<SIDES_SHOWN_MAX; side++, shown++) {
            (void)fprintf(stream, "  input%zu_dim%u: %llu\n", i, side,
                          (unsigned long long)operator->inputs[i].sides[side]);
        }
    }
    print_product(operator, stream);
}
