/* SPDX-License-Identifier: GPL-3.0-or-later
 * Reading claims in tests. */
#include "tests/support/claims.h"

#include <check.h>
#include <string.h>

#include "tests/support/temp_dir.h"

void claims_must_read(claims_reader read, const char *path, struct kernel_claim_list *list)
{
    struct error error = {0};
    char text[1200];
    *list = (struct kernel_claim_list){0};
    if (read(path, list, &error) != STATUS_OK) {
        ck_abort_msg("%s", error_describe(&error, text, sizeof text));
    }
}

void claims_must_read_text(claims_reader read, const char *name, const char *bytes, size_t length,
                           struct kernel_claim_list *list)
{
    struct temp_dir directory;
    char path[600];
    temp_dir_create(&directory);
    claims_must_read(read, temp_dir_write(&directory, name, bytes, length, path, sizeof path), list);
    temp_dir_remove(&directory);
}

enum status claims_read_status(claims_reader read, const char *name, const char *bytes, size_t length,
                               struct error *error)
{
    struct kernel_claim_list list = {0};
    struct temp_dir directory;
    char path[600];
    *error = (struct error){0};
    temp_dir_create(&directory);
    enum status status = read(temp_dir_write(&directory, name, bytes, length, path, sizeof path), &list, error);
    temp_dir_remove(&directory);
    kernel_claim_list_release(&list);
    return status;
}

void assert_interval(const struct kernel_claim *claim, enum claim_figure figure, double low, double high)
{
    const struct claim_value *value = &claim->figures[figure];
    ck_assert_msg(value->is_known && value->low == low && value->high == high,
                  "%s of '%s' is %s[%.17g, %.17g], expected [%.17g, %.17g]", claim_figure_name(figure), claim->name,
                  value->is_known ? "" : "unknown ", value->low, value->high, low, high);
}

void assert_figure(const struct kernel_claim *claim, enum claim_figure figure, double value)
{
    assert_interval(claim, figure, value, value);
}

void assert_unknown(const struct kernel_claim *claim, enum claim_figure figure)
{
    ck_assert_msg(!claim->figures[figure].is_known, "%s of '%s' is [%g, %g], expected to be unknown",
                  claim_figure_name(figure), claim->name, claim->figures[figure].low, claim->figures[figure].high);
}

const char *claim_knob(const struct kernel_claim *claim, const char *name)
{
    for (size_t i = 0; i < claim->parameter_count; i++) {
        if (strcmp(claim->parameters[i].name, name) == 0) {
            return claim->parameters[i].text;
        }
    }
    return NULL;
}
