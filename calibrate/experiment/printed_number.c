/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/experiment/printed_number.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/text_buffer.h"

enum {
    WORD_BYTES_MAX = 64,
    GROUP_DIGITS = 3 /* between two separators of thousands */
};

struct word {
    const char *at;
    size_t length;
};

static const struct {
    const char *name;
    double us;
} times[] = {{"ns", 1e-3},          {"nsec", 1e-3},   {"nanosecond", 1e-3}, {"nanoseconds", 1e-3}, {"us", 1},
             {"\xc2\xb5s", 1},      {"\xce\xbcs", 1}, {"usec", 1},          {"usecs", 1},          {"microsecond", 1},
             {"microseconds", 1},   {"ms", 1e3},      {"msec", 1e3},        {"msecs", 1e3},        {"millisecond", 1e3},
             {"milliseconds", 1e3}, {"s", 1e6},       {"sec", 1e6},         {"secs", 1e6},         {"second", 1e6},
             {"seconds", 1e6},      {"min", 60e6},    {"mins", 60e6},       {"minute", 60e6},      {"minutes", 60e6},
             {"h", 3600e6},         {"hr", 3600e6},   {"hrs", 3600e6},      {"hour", 3600e6},      {"hours", 3600e6}};
/* Of one of which a time is: ns/op. */
static const char *const turns[] = {"step", "op", "iter", "iteration", "launch", "call", "token",
                                    "tok",  "it", "run",  "loop",      "kernel", "rep"};
/* In small letters: the case does not count. */
static const struct {
    const char *name;
    double tokens_per_s;
} tokens[] = {{"tok/s", 1},     {"toks/s", 1},      {"token/s", 1},    {"tokens/s", 1},
              {"tps", 1},       {"tok/sec", 1},     {"tokens/sec", 1}, {"ktok/s", 1e3},
              {"ktoks/s", 1e3}, {"ktokens/s", 1e3}, {"mtok/s", 1e6},   {"tokens/second", 1}};
/* Before _s or _per_s in a name. */
static const char *const token_names[] = {"tok", "toks", "token", "tokens"};
static const char *const other_names[] = {"b",      "kb",  "mb",    "gb",    "tb",    "kib",   "mib",
                                          "gib",    "tib", "bytes", "flop",  "gflop", "tflop", "gflops",
                                          "tflops", "it",  "iter",  "iters", "req",   "reqs",  "requests"};
static const char *const other_rates[] = {"kbps",   "mbps",   "gbps", "tbps", "flops", "mflops", "gflops",
                                          "tflops", "pflops", "tops", "fps",  "qps",   "rps"};

/* What words are separated by: blanks, and punctuation that no number holds. */
static bool separates(char character)
{
    return isspace((unsigned char)character) || iscntrl((unsigned char)character) ||
           strchr("=:,;()[]{}<>\"'`|~", character) != NULL;
}

static bool is_word(const struct word *word, const char *name)
{
    return strlen(name) == word->length && memcmp(name, word->at, word->length) == 0;
}

static bool is_word_of(const struct word *word, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(names[i]) == word->length && strncasecmp(names[i], word->at, word->length) == 0) {
            return true;
        }
    }
    return false;
}
#define IS_WORD_OF(word, names) is_word_of(word, names, sizeof(names) / sizeof(names)[0])

static bool is_rate(const struct word *word)
{
    size_t letters = 0;
    while (letters < word->length && isalpha((unsigned char)word->at[letters])) {
        letters++;
    }
    const struct word rest = {word->at + letters, word->length - letters};
    return (letters > 0 && (is_word(&rest, "/s") || is_word(&rest, "/sec") || is_word(&rest, "/second"))) ||
           IS_WORD_OF(word, other_rates);
}

/* Of ms/step the part before the stroke; another word as it is. */
static struct word without_turn(const struct word *word)
{
    const char *stroke = memchr(word->at, '/', word->length);
    if (stroke != NULL) {
        const size_t length = (size_t)(stroke - word->at);
        const struct word turn = {stroke + 1, word->length - length - 1};
        if (IS_WORD_OF(&turn, turns)) {
            return (struct word){word->at, length};
        }
    }
    return *word;
}

static void set_unit(struct printed_number *number, enum printed_unit unit, double size, const struct word *word)
{
    const size_t length = word->length < sizeof number->unit_name ? word->length : sizeof number->unit_name - 1;
    number->unit = unit;
    number->unit_size = size;
    memcpy(number->unit_name, word->at, length);
    number->unit_name[length] = '\0';
}

/* False: no unit that is known; *number is left alone. */
static bool take_unit(const struct word *word, struct printed_number *number)
{
    enum printed_unit unit = is_rate(word) ? PRINTED_UNIT_OTHER : PRINTED_UNIT_NONE;
    double size = (double)NAN;
    const struct word time = without_turn(word);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        if (is_word(&time, times[i].name)) {
            unit = PRINTED_UNIT_TIME;
            size = times[i].us;
        }
    }
    for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++) {
        if (is_word_of(word, &tokens[i].name, 1)) {
            unit = PRINTED_UNIT_TOKENS;
            size = tokens[i].tokens_per_s;
        }
    }
    if (is_word(word, "t/s")) { /* T/s may be tera */
        unit = PRINTED_UNIT_TOKENS;
        size = 1;
    }
    if (unit != PRINTED_UNIT_NONE) {
        set_unit(number, unit, size, word);
    }
    return unit != PRINTED_UNIT_NONE;
}

/* --- units in names --------------------------------------------------------------------------------------------------
 */

/* Of a_b the part behind the last of `marks`, *head the part before it; false: no such part. */
static bool split_last(const struct word *word, const char *marks, struct word *head, struct word *ending)
{
    for (size_t at = word->length; at-- > 1;) {
        if (strchr(marks, word->at[at]) != NULL) {
            *head = (struct word){word->at, at};
            *ending = (struct word){word->at + at + 1, word->length - at - 1};
            return ending->length > 0 && isalnum((unsigned char)word->at[at - 1]);
        }
    }
    return false;
}

/* time_min is the least one, and h= may be anything. */
static bool names_a_unit(const struct word *word, bool may_be_letter)
{
    return !is_word(word, "min") && !is_word(word, "mins") && (may_be_letter || word->length > 1);
}

/* tokens_per_s, tok_s, gb_s: *ending is of seconds, head is what stands before it. */
static bool take_rate_name(struct word head, const struct word *word, struct printed_number *number)
{
    struct word before = head, last = head;
    bool is_per = is_word(&head, "per");
    if (split_last(&head, "_-.", &before, &last) && is_word(&last, "per")) {
        is_per = true;
        head = before;
        last = head;
        (void)split_last(&head, "_-.", &before, &last);
    }
    if (IS_WORD_OF(&last, token_names)) {
        set_unit(number, PRINTED_UNIT_TOKENS, 1, word);
    } else if (is_per || IS_WORD_OF(&last, other_names)) {
        set_unit(number, PRINTED_UNIT_OTHER, (double)NAN, word);
    } else {
        return false;
    }
    return true;
}

/* The unit that the name before a number says: latency_ms, [ms], TFLOPS. */
static void take_name(const struct word *word, bool in_brackets, struct printed_number *number)
{
    struct word head, ending;
    if (word->length == 0 || (names_a_unit(word, in_brackets) && take_unit(word, number)) || in_brackets) {
        return;
    }
    if (split_last(word, "_-.", &head, &ending)) {
        const bool is_second = is_word(&ending, "s") || is_word(&ending, "sec") || is_word(&ending, "second");
        if ((is_second && take_rate_name(head, word, number)) ||
            (names_a_unit(&ending, is_word(&ending, "s")) && take_unit(&ending, number))) {
            return;
        }
    }
    if (split_last(word, "/", &head, &ending) && names_a_unit(&ending, is_word(&ending, "s"))) {
        (void)take_unit(&ending, number);
    }
}

/* --- numbers ---------------------------------------------------------------------------------------------------------
 */

static size_t skip_digits(const struct word *word, size_t at)
{
    while (at < word->length && isdigit((unsigned char)word->at[at])) {
        at++;
    }
    return at;
}

/* Length of the decimal number that a word begins with; 0: none. */
static size_t number_length(const struct word *word)
{
    size_t end = word->length > 0 && (word->at[0] == '-' || word->at[0] == '+');
    const size_t first = end;
    end = skip_digits(word, end);
    size_t digits = end - first;
    if (end < word->length && word->at[end] == '.') {
        const size_t fraction = skip_digits(word, end + 1);
        digits += fraction - end - 1;
        end = fraction;
    }
    if (digits == 0) {
        return 0;
    }
    if (end < word->length && (word->at[end] == 'e' || word->at[end] == 'E')) {
        const size_t sign = end + 1 < word->length && (word->at[end + 1] == '-' || word->at[end + 1] == '+');
        const size_t exponent = skip_digits(word, end + 1 + sign);
        end = exponent > end + 1 + sign ? exponent : end;
    }
    return end;
}

/* 0m3.200s, as shells print it. */
static bool take_shell_time(const struct word *word, struct printed_number *number)
{
    const size_t minutes = skip_digits(word, 0);
    if (minutes == 0 || minutes > 6 || minutes + 2 >= word->length || word->at[minutes] != 'm' ||
        !isdigit((unsigned char)word->at[minutes + 1])) {
        return false;
    }
    struct printed_number left, right;
    const struct word rest = {word->at + minutes + 1, word->length - minutes - 1};
    const size_t length = number_length(&rest);
    const struct word unit = {rest.at + length, rest.length - length};
    char text[WORD_BYTES_MAX];
    if (!is_word(&unit, "s") || word->length >= sizeof text) {
        return false;
    }
    memcpy(text, word->at, word->length);
    text[minutes] = text[word->length - 1] = '\0';
    if (number_parse(text, &left.value) != STATUS_OK || number_parse(text + minutes + 1, &right.value) != STATUS_OK) {
        return false;
    }
    *number = (struct printed_number){.value = 60 * left.value + right.value};
    set_unit(number, PRINTED_UNIT_TIME, 1e6, &unit);
    return true;
}

static bool take_plain(const struct word *word, struct printed_number *number)
{
    struct printed_number found = {.unit_size = (double)NAN};
    char text[WORD_BYTES_MAX];
    const size_t length = number_length(word);
    const struct word rest = {word->at + length, word->length - length};
    if (length == 0 || length >= sizeof text || (rest.length > 0 && !take_unit(&rest, &found))) {
        return false;
    }
    const size_t plus = word->at[0] == '+'; /* number_parse knows none */
    memcpy(text, word->at + plus, length - plus);
    text[length - plus] = '\0';
    if (number_parse(text, &found.value) != STATUS_OK) {
        return false;
    }
    *number = found;
    return true;
}

/* What the commas (or ') between the digits of a word are. */
enum commas {
    COMMAS_THOUSANDS, /* 1,234.5 */
    COMMAS_DECIMAL,   /* 12,5 or 0,125 or 1.234,5 */
    COMMAS_LIST       /* 4,96,845 or 4,12.5 */
};

static enum commas commas_of(const struct word *word)
{
    const size_t sign = word->length > 0 && (word->at[0] == '-' || word->at[0] == '+');
    size_t at = skip_digits(word, sign), groups = 1;
    bool even = at > sign && at - sign <= GROUP_DIGITS && word->at[sign] != '0';
    if (at < word->length && word->at[at] == '.') { /* 1.234,5 */
        at = skip_digits(word, at + 1);
        even = false;
    }
    bool plain = at > sign;
    while (at < word->length && (word->at[at] == ',' || word->at[at] == '\'')) {
        const size_t begin = at + 1;
        at = skip_digits(word, begin);
        even = even && at - begin == GROUP_DIGITS;
        groups++;
    }
    const bool is_all =
        groups > 1 && !memchr(word->at + at, ',', word->length - at) && !memchr(word->at + at, '\'', word->length - at);
    even = even && is_all;
    plain = plain && is_all && groups == 2 && (at == word->length || word->at[at] != '.');
    return even ? COMMAS_THOUSANDS : plain ? COMMAS_DECIMAL : COMMAS_LIST;
}

/* A word with commas between digits. */
static bool take_grouped(const struct word *word, struct printed_number *number)
{
    char joined[WORD_BYTES_MAX];
    size_t length = 0;
    const enum commas commas = commas_of(word);
    for (size_t i = 0; i < word->length && length < sizeof joined; i++) {
        if (commas == COMMAS_LIST && (word->at[i] == ',' || word->at[i] == '\'')) {
            length = 0; /* the last of the list */
        } else if (word->at[i] != ',' && word->at[i] != '\'') {
            joined[length++] = word->at[i];
        }
    }
    const struct word plain = {joined, length};
    if (length == sizeof joined || !take_plain(&plain, number)) {
        return false;
    }
    number->doubt = commas == COMMAS_DECIMAL     ? PRINTED_DOUBT_DECIMAL_COMMA
                    : commas == COMMAS_THOUSANDS ? PRINTED_DOUBT_THOUSANDS
                                                 : PRINTED_DOUBT_NONE;
    return true;
}

static bool take_word(const struct word *word, struct printed_number *number)
{
    if (memchr(word->at, ':', word->length) != NULL) { /* a time of day or a ratio */
        return false;
    }
    const bool grouped = memchr(word->at, ',', word->length) || memchr(word->at, '\'', word->length);
    return grouped ? take_grouped(word, number) : take_shell_time(word, number) || take_plain(word, number);
}

/* --- a text ----------------------------------------------------------------------------------------------------------
 */

/* The number that was read last, until it is known whether a unit follows. */
struct candidate {
    struct printed_number number;
    bool is_there, may_have_unit;
    bool in_deviation; /* a unit that follows stands behind ± as well */
    bool is_dropped;   /* the deviation itself, or time that is not all of it */
    bool is_processor; /* user: 9 */
    bool is_named;     /* its unit is from the name before it */
    bool is_spaced;    /* directly behind a number: 1 234 */
    bool goes_on;      /* directly behind the time chosen: 5 min 30 s */
};

struct scan {
    const char *text;
    size_t length;
    enum printed_unit wanted;
    struct candidate last;
    struct word name, plain; /* plain: the bare digits that were read last */
    struct printed_number best[3];
    bool found[3];     /* of the kind asked for, bare, other */
    bool line_is_told; /* a number with a unit was on this line */
    bool rate_is_told; /* a number with a known unit of another kind was anywhere */
    bool is_deviation; /* ± was read */
    bool may_go_on;    /* nothing but blanks was read since the time chosen */
};

enum {
    BEST_WANTED,
    BEST_BARE,
    BEST_OTHER
};

/* The word behind a number that ends its line, or what a bracket or comma ends, and is all letters. */
static bool looks_like_unit(const struct word *word, const char *end)
{
    const char *at = word->at + word->length;
    for (size_t i = 0; i < word->length; i++) {
        if (!isalpha((unsigned char)word->at[i])) {
            return false;
        }
    }
    while (at < end && (*at == '.' || *at == ' ' || *at == '\t')) {
        at++;
    }
    return at == end || strchr("\r\n)],;", *at) != NULL;
}

/* h of "n=8 h=12", [ms] of "run 3 [ms]: 12.5". */
static bool is_name_of_next(const struct word *word, const char *end)
{
    const char *at = word->at + word->length;
    while (at < end && strchr(" \t)]\"", *at) != NULL) {
        at++;
    }
    if (at == end || (*at != '=' && *at != ':')) {
        return false;
    }
    do {
        at++;
    } while (at < end && (*at == ' ' || *at == '\t'));
    return at < end && (isdigit((unsigned char)*at) || *at == '.');
}

/* Times of a processor beside the time that passed. */
static bool is_processor_time(const struct word *name)
{
    static const char *const names[] = {"user", "sys", "system"};
    return IS_WORD_OF(name, names);
}

/* How far results lie apart, beside one of them. */
static bool is_spread(const struct word *name)
{
    static const char *const names[] = {"std", "stdev", "stddev", "std_dev", "sd", "sigma"};
    return IS_WORD_OF(name, names);
}

static void choose(struct scan *scan)
{
    struct candidate *last = &scan->last;
    struct printed_number *number = &last->number;
    if (last->is_there && !last->is_dropped) {
        const bool bare = number->unit == PRINTED_UNIT_NONE;
        const bool is_known = !bare && number->unit != PRINTED_UNIT_UNKNOWN;
        const int kind = number->unit == scan->wanted ? BEST_WANTED : bare ? BEST_BARE : BEST_OTHER;
        const struct printed_number *before = &scan->best[kind];
        if (is_known && last->is_spaced) {
            number->doubt = PRINTED_DOUBT_SPACE;
        } else if (is_known && number->doubt == PRINTED_DOUBT_THOUSANDS) {
            number->doubt = PRINTED_DOUBT_NONE;
        }
        if (number->unit == PRINTED_UNIT_TIME && last->goes_on && before->unit_size >= 60e6 &&
            number->unit_size < before->unit_size) {
            number->value += before->value * (before->unit_size / number->unit_size);
        }
        if (!bare ||
            !(scan->line_is_told || scan->rate_is_told)) { /* 12.5 us (best of 10), GB/s above PASSED (1 of 1) */
            scan->best[kind] = *number;
            scan->found[kind] = true;
        }
        scan->line_is_told = scan->line_is_told || (is_known && !last->is_named);
        scan->rate_is_told = scan->rate_is_told || (is_known && kind == BEST_OTHER);
        scan->may_go_on = number->unit == PRINTED_UNIT_TIME;
    }
    *last = (struct candidate){0};
}

static void take_separator(struct scan *scan, char separator)
{
    struct candidate *last = &scan->last;
    last->may_have_unit =
        last->may_have_unit && (strchr(" \t([", separator) != NULL || (last->in_deviation && strchr(")]", separator)));
    if (separator != ' ' && separator != '\t') {
        scan->may_go_on = false;
        scan->plain.length = 0;
    }
    if (strchr("\r\n,;", separator) != NULL) {
        scan->name.length = 0;
    }
    if (separator == '\r' || separator == '\n') {
        choose(scan);
        scan->line_is_told = scan->is_deviation = false;
    }
}

/* The number behind ±: its unit is that of the number before, where that has none. */
static void take_deviation(struct scan *scan, const struct printed_number *next)
{
    struct candidate *last = &scan->last;
    if (!last->is_there) {
        *last = (struct candidate){.is_there = true, .is_dropped = true};
    }
    last->in_deviation = true;
    last->may_have_unit = next->unit == PRINTED_UNIT_NONE;
    if (!last->may_have_unit) {
        const double value = last->number.value;
        const enum printed_doubt doubt = last->number.doubt;
        last->number = *next;
        last->number.value = value;
        last->number.doubt = doubt;
        choose(scan);
    }
}

static bool is_spaced(const struct scan *scan, const struct word *word)
{
    const struct word *plain = &scan->plain;
    const size_t digits = skip_digits(word, 0);
    return plain->length > 0 && plain->length <= GROUP_DIGITS && plain->at[0] != '0' && digits == GROUP_DIGITS &&
           plain->at + plain->length + 1 == word->at;
}

static void take_number(struct scan *scan, const struct word *word, const struct printed_number *next)
{
    const struct word *name = &scan->name;
    const char *before = name->length > 0 && name->at > scan->text ? name->at - 1 : " ";
    const bool in_brackets = name->length > 0 && (*before == '(' || *before == '[');
    const bool goes_on = scan->may_go_on && !scan->last.is_there;
    const bool spaced = is_spaced(scan, word);
    choose(scan);
    scan->may_go_on = false;
    scan->last = (struct candidate){.number = *next,
                                    .is_there = true,
                                    .may_have_unit = next->unit == PRINTED_UNIT_NONE,
                                    .is_dropped = next->unit == PRINTED_UNIT_TIME && is_processor_time(name),
                                    .is_processor = is_processor_time(name),
                                    .is_spaced = spaced,
                                    .goes_on = goes_on};
    scan->plain = skip_digits(word, 0) == word->length ? *word : (struct word){word->at, 0};
    if (next->unit == PRINTED_UNIT_NONE) {
        take_name(name, in_brackets, &scan->last.number);
        scan->last.is_named = scan->last.number.unit != PRINTED_UNIT_NONE;
    } else {
        choose(scan);
    }
}

static void take(struct scan *scan, struct word word)
{
    struct candidate *last = &scan->last;
    struct printed_number next;
    const bool is_deviation = scan->is_deviation || is_spread(&scan->name);
    scan->is_deviation = false;
    last->may_have_unit = last->may_have_unit && !is_name_of_next(&word, scan->text + scan->length);
    while (word.length > 1 && strchr(".!?", word.at[word.length - 1]) != NULL) { /* the end of a sentence */
        word.length--;
    }
    if (last->may_have_unit && take_unit(&word, &last->number)) {
        last->is_named = false;
        last->is_dropped = last->is_dropped || (last->number.unit == PRINTED_UNIT_TIME && last->is_processor);
        choose(scan);
        scan->name.length = 0;
    } else if (last->may_have_unit && !last->is_named && looks_like_unit(&word, scan->text + scan->length)) {
        set_unit(&last->number, PRINTED_UNIT_UNKNOWN, (double)NAN, &word);
        choose(scan);
        scan->name.length = 0;
    } else if (take_word(&word, &next)) {
        if (is_deviation) {
            take_deviation(scan, &next);
        } else {
            take_number(scan, &word, &next);
        }
        scan->name.length = 0;
    } else {
        choose(scan);
        scan->may_go_on = false;
        scan->plain.length = 0;
        scan->name = word;
    }
}

/* Between the words of a unit. */
static size_t skip_joints(const struct scan *scan, size_t at)
{
    while (at < scan->length && strchr(" \t-_", scan->text[at]) != NULL && scan->text[at] != '\0') {
        at++;
    }
    return at;
}

static struct word letters_at(const struct scan *scan, size_t at)
{
    size_t end = at;
    while (end < scan->length && isalpha((unsigned char)scan->text[end])) {
        end++;
    }
    return (struct word){scan->text + at, end - at};
}

/* "tokens per second", "GB / s", "tokens-per-sec" from here on as "tokens/s" in *number; 0: none, else where it ends.
 */
static size_t find_long_unit(const struct scan *scan, size_t at, struct printed_number *number)
{
    static const char *const seconds[] = {"s", "sec", "second"};
    const struct word what = letters_at(scan, at);
    char joined[WORD_BYTES_MAX];
    at = skip_joints(scan, at + what.length);
    const struct word per = letters_at(scan, at);
    const bool is_stroke = at < scan->length && scan->text[at] == '/';
    if (what.length == 0 || what.length + 3 > sizeof joined || !(is_stroke || is_word(&per, "per"))) {
        return 0;
    }
    at = skip_joints(scan, at + (is_stroke ? 1 : per.length));
    const struct word unit = letters_at(scan, at);
    memcpy(joined, what.at, what.length);
    memcpy(joined + what.length, "/s", 2);
    return IS_WORD_OF(&unit, seconds) && take_unit(&(struct word){joined, what.length + 2}, number) ? at + unit.length
                                                                                                    : 0;
}

/* A unit of more than one word directly behind a number, also "output tok/s". Returns where it ends; 0: none. */
static size_t take_long_unit(struct scan *scan, size_t at)
{
    static const char *const kinds[] = {"output", "total", "input", "prompt", "generated", "decode", "prefill"};
    struct candidate *last = &scan->last;
    struct printed_number found = last->number;
    const struct word kind = letters_at(scan, at);
    size_t end = 0;
    if (IS_WORD_OF(&kind, kinds)) {
        const size_t begin = skip_joints(scan, at + kind.length);
        end = begin;
        while (end < scan->length && !separates(scan->text[end])) {
            end++;
        }
        const struct word word = {scan->text + begin, end - begin};
        end = take_unit(&word, &found) && found.unit == PRINTED_UNIT_TOKENS ? end : find_long_unit(scan, begin, &found);
    } else {
        end = find_long_unit(scan, at, &found);
    }
    if (end > 0) {
        last->number = found;
        last->is_named = false;
        choose(scan);
        scan->name.length = 0;
    }
    return end;
}

/* Bytes of a plus-minus sign that stands here; 0: none. */
static size_t deviation_sign(const char *at, size_t left)
{
    const bool is_short = left >= 2 && (memcmp(at, "\xc2\xb1", 2) == 0 || memcmp(at, "+-", 2) == 0);
    return is_short ? 2 : left >= 3 && memcmp(at, "+/-", 3) == 0 ? 3 : 0;
}

/* 1,234 and 12:30 are one word. */
static bool joins(const struct scan *scan, size_t at)
{
    return at > 0 && at + 1 < scan->length && strchr(",:'", scan->text[at]) != NULL &&
           isdigit((unsigned char)scan->text[at - 1]) && isdigit((unsigned char)scan->text[at + 1]);
}

bool printed_number_find(const char *text, size_t length, enum printed_unit wanted, struct printed_number *number)
{
    struct scan scan = {.text = text, .length = length, .wanted = wanted};
    for (size_t at = 0; at < length;) {
        const size_t sign = deviation_sign(text + at, length - at);
        if (sign > 0) {
            scan.is_deviation = true;
            scan.may_go_on = false;
            at += sign;
            continue;
        }
        if (separates(text[at])) {
            take_separator(&scan, text[at++]);
            continue;
        }
        const size_t begin = at;
        while (at < length && (!separates(text[at]) || joins(&scan, at)) && !deviation_sign(text + at, length - at)) {
            at++;
        }
        const struct word word = {text + begin, at - begin};
        struct printed_number short_unit;
        const bool is_long = scan.last.may_have_unit && !take_unit(&word, &short_unit);
        const size_t end = is_long ? take_long_unit(&scan, begin) : 0;
        if (end > 0) {
            at = end;
        } else {
            take(&scan, word);
        }
    }
    choose(&scan);
    for (int kind = 0; kind < 3; kind++) {
        if (scan.found[kind]) {
            *number = scan.best[kind];
            return true;
        }
    }
    return false;
}
