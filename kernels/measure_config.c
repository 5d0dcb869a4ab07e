/* SPDX-License-Identifier: GPL-3.0-or-later
 * The list of kernels and the text form of a configuration. Called by measure.c, campaigns and tests. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernel_plan.h"

#define OUTCOME_WORD(constant, word, meaning) word,
static const char *const outcome_words[] = {MEASURE_OUTCOME_LIST(OUTCOME_WORD)};
#undef OUTCOME_WORD

const char *measure_outcome_word(enum measure_outcome outcome)
{
    if ((unsigned)outcome >= (unsigned)MEASURE_OUTCOME_COUNT)
        BUG("outcome %d is not in MEASURE_OUTCOME_LIST", (int)outcome);
    return outcome_words[outcome];
}

bool measure_outcome_is_fatal(enum measure_outcome outcome)
{
    return outcome == MEASURE_OUTCOME_LAUNCH_FAILED || outcome == MEASURE_OUTCOME_CRASHED ||
           outcome == MEASURE_OUTCOME_TIMED_OUT;
}

size_t measure_kernel_count(void)
{
    size_t count = 0;
    while (kernel_case_definitions[count])
        count++;
    return count;
}

const struct measure_kernel *measure_kernel_get(size_t index)
{
    return &kernel_case_definitions[index]->kernel;
}

const struct measure_kernel *measure_kernel_find(const char *name)
{
    for (size_t i = 0; kernel_case_definitions[i]; i++)
        if (strcmp(kernel_case_definitions[i]->kernel.name, name) == 0)
            return &kernel_case_definitions[i]->kernel;
    return NULL;
}

static long find_setting(const struct measure_kernel *kernel, const char *name, size_t length)
{
    for (size_t i = 0; i < kernel->setting_count; i++)
        if (strlen(kernel->settings[i].name) == length && memcmp(kernel->settings[i].name, name, length) == 0)
            return (long)i;
    return -1;
}

static enum status parse_setting(const char *word, size_t length, struct measure_config *config, bool *seen,
                                 struct error *error)
{
    int shown = length > 60 ? 60 : (int)length;
    const char *equals = memchr(word, '=', length);
    if (!equals)
        return error_set(error, STATUS_BAD_DATA, "'%.*s' is not name=value", shown, word);
    long index = find_setting(config->kernel, word, (size_t)(equals - word));
    if (index < 0)
        return error_set(error, STATUS_NOT_FOUND, "%s has no setting '%.*s'", config->kernel->name,
                         equals - word > 40 ? 40 : (int)(equals - word), word);
    const struct measure_setting *setting = &config->kernel->settings[index];
    if (seen[index])
        return error_set(error, STATUS_BAD_DATA, "%s is given twice", setting->name);
    seen[index] = true;
    char digits[24], *end;
    size_t digit_count = length - (size_t)(equals + 1 - word);
    if (digit_count == 0 || digit_count >= sizeof digits)
        return error_set(error, STATUS_BAD_DATA, "'%.*s': expected a whole number", shown, word);
    memcpy(digits, equals + 1, digit_count);
    digits[digit_count] = '\0';
    errno = 0;
    long long value = strtoll(digits, &end, 10);
    if (*end || errno || digits[0] == '+' || digits[0] == ' ')
        return error_set(error, STATUS_BAD_DATA, "'%.*s': expected a whole number", shown, word);
    if (value < setting->minimum || value > setting->maximum)
        return error_set(error, STATUS_DOMAIN, "%s of %s must be %lld to %lld, not %lld", setting->name,
                         config->kernel->name, (long long)setting->minimum, (long long)setting->maximum, value);
    config->values[index] = value;
    return STATUS_OK;
}

enum status measure_config_parse(const char *text, struct measure_config *config, struct error *error)
{
    char name[MEASURE_NAME_SIZE];
    bool seen[MEASURE_SETTINGS_MAX] = {false};
    size_t length = strcspn(text, " ");
    snprintf(name, sizeof name, "%.*s", length > 31 ? 31 : (int)length, text);
    memset(config, 0, sizeof *config);
    config->kernel = length < sizeof name ? measure_kernel_find(name) : NULL;
    if (!config->kernel)
        return error_set(error, STATUS_NOT_FOUND, "there is no kernel '%s'", name);
    if (config->kernel->setting_count > MEASURE_SETTINGS_MAX)
        BUG("%s has more settings than fit", name);
    for (size_t i = 0; i < config->kernel->setting_count; i++)
        config->values[i] = config->kernel->settings[i].fallback;
    for (const char *word = text + length; *word;) {
        word += strspn(word, " ");
        length = strcspn(word, " ");
        if (length == 0)
            break;
        enum status status = parse_setting(word, length, config, seen, error);
        if (status != STATUS_OK)
            return status;
        word += length;
    }
    return STATUS_OK;
}

const char *measure_config_format(const struct measure_config *config, char *out, size_t out_size)
{
    size_t used = (size_t)snprintf(out, out_size, "%s", config->kernel->name);
    for (size_t i = 0; i < config->kernel->setting_count && used < out_size; i++)
        used += (size_t)snprintf(out + used, out_size - used, " %s=%lld", config->kernel->settings[i].name,
                                 (long long)config->values[i]);
    if (used >= out_size)
        BUG("%zu bytes do not hold a configuration of %s", out_size, config->kernel->name);
    return out;
}

int64_t measure_config_value(const struct measure_config *config, const char *name)
{
    long index = find_setting(config->kernel, name, strlen(name));
    if (index < 0)
        BUG("%s has no setting %s", config->kernel->name, name);
    return config->values[index];
}
