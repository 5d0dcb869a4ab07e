/* SPDX-License-Identifier: GPL-3.0-or-later
 * Names of results, known ones and any other. */
#include "calibrate/experiment/judged_metric.h"

#include <string.h>
#include <strings.h>

/* Results by name. Times are inverted, so that more is better everywhere. */
static const struct metric {
    const char *name;
    bool is_time;
} metrics[] = {{"throughput_tokens_per_s", false},
               {"output_tokens_per_s", false},
               {"tokens_per_s", false},
               {"tok_s", false},
               {"output_throughput", false},
               {"throughput", false},
               {"step_time_ms", true},
               {"kernel_time_us", true},
               {"time_ns", true},
               {"time_us", true},
               {"time_ms", true},
               {"time_s", true}};

const char *judged_metric_name(size_t index)
{
    return index < sizeof metrics / sizeof metrics[0] ? metrics[index].name : NULL;
}

static bool ends_with(const char *text, const char *ending)
{
    const size_t length = strlen(text), tail = strlen(ending);
    return length >= tail && strcmp(text + length - tail, ending) == 0;
}

/* "gb_s", "images_s": what is counted per second, behind which _s is no time. Abbreviations; words in the plural count
 * without being listed. */
static bool counts_per_second(const char *name)
{
    static const char *const counted[] = {"tok",   "req",   "it",    "iter",  "op",    "b",      "kb",   "mb",
                                          "gb",    "tb",    "kib",   "mib",   "gib",   "tib",    "flop", "kflop",
                                          "mflop", "gflop", "tflop", "pflop", "token", "request"};
    const char *end = name + strlen(name) - 2, *word = end; /* "_s" */
    while (word > name && word[-1] != '_') {
        word--;
    }
    const size_t length = (size_t)(end - word);
    for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++) {
        if (strlen(counted[i]) == length && strncasecmp(counted[i], word, length) == 0) {
            return true;
        }
    }
    return length > 2 && word[length - 1] == 's' && word[length - 2] != 's';
}

bool judged_metric_is_time(const char *name)
{
    static const char *const rates[] = {"_per_s", "_per_sec", "_per_second", "tps", "qps"}, *const units[] = {
                                                                                                "_ns", "_us", "_ms",
                                                                                                "_sec", "_seconds"};
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++) {
        if (strcmp(metrics[i].name, name) == 0) {
            return metrics[i].is_time;
        }
    }
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        if (ends_with(name, rates[i])) {
            return false;
        }
    }
    bool is_time = strstr(name, "latency") != NULL || strstr(name, "time") != NULL ||
                   (ends_with(name, "_s") && !counts_per_second(name));
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        is_time = is_time || ends_with(name, units[i]);
    }
    return is_time;
}

static bool says_any(const char *name, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (const char *at = name; *at != '\0'; at++) {
            if (strncasecmp(at, words[i], strlen(words[i])) == 0) {
                return true;
            }
        }
    }
    return false;
}
#define SAYS_ANY(name, words) says_any(name, words, sizeof(words) / sizeof(words)[0])

/* "tflops", "gb_s": work per second. Of a kernel the work is fixed, so this is its speed. */
static bool is_work_per_second(const char *name)
{
    static const char *const work[] = {"kflop", "mflop", "gflop", "tflop", "pflop"},
                             *const bytes[] = {"mb_s",     "gb_s",      "tb_s",       "mib_s",
                                               "gib_s",    "tib_s",     "mb_per_s",   "gb_per_s",
                                               "tb_per_s", "mib_per_s", "gib_per_s",  "tib_per_s",
                                               "flop_s",   "flops_s",   "flop_per_s", "flops_per_s"};
    const size_t length = strlen(name);
    return SAYS_ANY(name, bytes) || (SAYS_ANY(name, work) && length > 0 && (name[length - 1] | 0x20) == 's');
}

bool judged_metric_measures(const char *name, enum judged_quantity quantity)
{
    static const char *const of_server[] = {"tok", "throughput", "goodput", "tput", "tps",  "qps", "rps",
                                            "req", "step",       "itl",     "tpot", "ttft", "e2e"},
                             *const of_else[] = {"first", "ttft", "e2e", /* the prompt's time is in them */
                                                 "goodput"},             /* counts what met a goal only */
                                 *const decode[] = {"decode"}, *const kernel[] = {"kernel"};
    const bool is_of_server = SAYS_ANY(name, of_server), is_time = judged_metric_is_time(name),
               is_of_decode = is_time && SAYS_ANY(name, decode) && !SAYS_ANY(name, kernel);
    return quantity == JUDGED_THROUGHPUT     ? (is_of_server || is_of_decode) && !SAYS_ANY(name, of_else)
           : quantity == JUDGED_KERNEL_SPEED ? (is_time || is_work_per_second(name)) && !is_of_server
                                             : true;
}
