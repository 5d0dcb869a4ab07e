/* SPDX-License-Identifier: GPL-3.0-or-later
 * Seed and number of cases of the property tests. A malformed setting fails the test that asks. */
#include "tests/support/property.h"

#include <errno.h>
#include <stdlib.h>

static unsigned long long setting(const char *name, unsigned long long otherwise)
{
    const char *text = getenv(name);
    if (text == NULL || text[0] == '\0')
        return otherwise;
    char *end = NULL;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    ck_assert_msg(errno == 0 && *end == '\0' && text[0] != '-', "%s=%s is not a whole number", name, text);
    return value;
}

uint64_t property_seed(void)
{
    return setting("PROP_SEED", 20260117);
}

unsigned property_cases(unsigned default_count)
{
    const char *quick = getenv("TEST_QUICK");
    if (quick != NULL && quick[0] != '\0')
        default_count = default_count >= 10 ? default_count / 10 : 1;
    return (unsigned)setting("PROP_CASES", default_count);
}
