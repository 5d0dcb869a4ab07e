/* SPDX-License-Identifier: GPL-3.0-or-later
 * A sentence as words of a few kinds; each word of direction must find the quantity that it moves. */
#include "calibrate/experiment/statement_claim.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text_buffer.h"

enum word_kind {
    WORD_UNKNOWN,
    WORD_FILLER,     /* may stand between a word of direction and its quantity */
    WORD_LINK,       /* "is", "at", "by": the same, but only behind the quantity */
    WORD_BREAK,      /* a comma, "and": another part of the sentence */
    WORD_NUMBER,     /* "5", "5 %" */
    WORD_ASSIGNMENT, /* "num_warps=8" */
    WORD_THAN,
    WORD_BASE,  /* what the change is compared with */
    WORD_RATE,  /* more is faster */
    WORD_TIME,  /* more is slower */
    WORD_SPAN,  /* "s", "ms": a time behind a number, or a part of a rate */
    WORD_COUNT, /* "tokens": a rate with "per second" */
    WORD_PER,
    WORD_THING, /* "occupancy", "warps": more of it says nothing of the speed */
    WORD_UP,    /* of a quantity */
    WORD_DOWN,
    WORD_GOOD, /* of the speed, whatever quantity is named */
    WORD_BAD,
    WORD_WIN, /* "gains": of the speed, and of a rate; of a time it could be either */
    WORD_LOSE,
    WORD_DENIAL
};

enum {
    WORDS_MAX = 256,
    LEXEME_SIZE = 48
};

struct word {
    enum word_kind kind;
    char text[LEXEME_SIZE]; /* in small letters; an assignment as written */
};
struct sentence {
    size_t count;
    struct word words[WORDS_MAX];
};

/* ---- words ----------------------------------------------------------------------------------------------------------
 * A star stands for any ending. The first list that has a word decides. */
static const struct lexicon {
    enum word_kind kind;
    const char *words;
} lexicon[] = {
    {WORD_DENIAL, " not no never neither nor none nothing nowhere cannot without hardly barely scarcely rarely seldom "
                  "unlikely fail fails failed failing prevent* avoid* stop stops stopped unless instead false wrong "
                  "untrue denie* deny* opposite inverse contrary unchanged same equal* identical constant keep keeps "
                  "kept unaffected neutral flat too as enough dont doesnt isnt arent wasnt wont didnt cant couldnt "
                  "shouldnt wouldnt revert* undo* disabl* remov* despite trade* trading sacrific* lack* little "
                  "detriment expense nearly "
                  "almost rather "},
    {WORD_THAN, " than versus vs over against from "},
    {WORD_PER, " per "},
    {WORD_BREAK, " and but while whereas although though because so since which that where when then however yet "
                 "hence or "},
    {WORD_BASE, " base baseline default original old current previous before today now "},
    {WORD_RATE, " throughput throughputs speed performance perf goodput rate tps qps rps "},
    {WORD_TIME, " time times latency latencies itl tpot ttft tbt duration durations runtime walltime makespan delay "
                "delays cycles millisecond milliseconds microsecond microseconds nanosecond nanoseconds minutes "
                "steptime turnaround "},
    {WORD_SPAN, " s sec secs second seconds ms us ns usec msec \xc2\xb5s \xce\xbcs "},
    {WORD_COUNT, " tokens tok request requests req reqs steps iteration iterations it queries "},
    {WORD_THING,
     " warp warps occupancy register registers smem memory concurrency batch batches context contexts load loads stage "
     "stages tile tiles split splits cta ctas thread threads block blocks sm sms residency spills spill traffic bytes "
     "sequence sequences prompt prompts head heads pipelining buffers buffer parallelism values value waves wave "},
    {WORD_FILLER,
     " the a an its our my this all each every of in decode prefill kernel step mean median average "
     "avg p tail overall total layer layers attention gemm server serving service gpu model inter first end to e "
     "whole single sparse dense peak measured observed inference output input token number count amount generation "
     "generated user wall steady execution elapsed running "},
    {WORD_LINK, " is are be been was were will would should shall can could may might must gets get getting becomes "
                "become goes go going comes come makes make takes take taking took needs need it they at by for on "
                "bring brings brought bringing drive drives drove driven driving pull pulls pulled perform performs "
                "performed performing "
                "under with much slightly "
                "significantly clearly noticeably far bit about roughly even still also percent fold x if only most "
                "there everywhere here again through via across within between during after due thanks "},
    {WORD_UP, " rais* increas* boost* lift lifts lifted grow grows grew grown growing rise rises rose risen rising add "
              "adds added adding double doubles doubled doubling triple triples tripled higher high more greater "
              "larger bigger up upward upwards climb* soar* jump jumps jumped surg* spike spikes spiked balloon* "
              "swell* maximi* push pushes "},
    {WORD_DOWN,
     " lower lowers lowered lowering reduc* decreas* cut cuts cutting drop drops dropped dropping fall falls "
     "fell fallen falling shrink* shrank shrunk less fewer smaller low down downward downwards halv* "
     "minimi* trim* diminish* declin* sink sinks sank hide hides hidden hiding shav* plummet* collaps* "
     "tank tanks tanked crash* dip dips dipped slip slips slipped sag sags plung* "},
    {WORD_GOOD, " faster fast fastest quick quicker quickly improv* better speedup speedups speeds sped speeding "
                "accelerat* sav* shorten* shorter short beat beats outperform* benefit* help helps helped "},
    {WORD_BAD, " slow slower slows slowed slowing slowdown slowdowns slowest slowly wors* hurt* degrad* regress* harm* "
               "lengthen* longer long cost costs deteriorat* suffer* penal* bad lag lags prolong* "},
    {WORD_WIN, " gain gains gained gaining win wins won "},
    {WORD_LOSE, " lose loses losing loss losses lost "},
};

static bool list_has(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list + 1; *at != '\0';) {
        const size_t entry = strcspn(at, " ");
        if (at[entry - 1] == '*' ? strncmp(at, word, entry - 1) == 0
                                 : entry == length && strncmp(at, word, entry) == 0) {
            return true;
        }
        at += entry + 1;
    }
    return false;
}

static enum word_kind kind_of(const char *word)
{
    const size_t length = strlen(word);
    if (length > 3 && strcmp(word + length - 3, "n't") == 0) {
        return WORD_DENIAL;
    }
    for (size_t i = 0; i < sizeof lexicon / sizeof lexicon[0]; i++) {
        if (list_has(lexicon[i].words, word)) {
            return lexicon[i].kind;
        }
    }
    /* How something rises or falls. */
    return length > 4 && strcmp(word + length - 2, "ly") == 0 ? WORD_LINK : WORD_UNKNOWN;
}

/* ---- a sentence into words ------------------------------------------------------------------------------------------
 */

static void append(struct sentence *sentence, enum word_kind kind, const char *text, size_t length)
{
    if (sentence->count == WORDS_MAX) {
        return;
    }
    struct word *word = &sentence->words[sentence->count++];
    word->kind = kind;
    (void)snprintf(word->text, sizeof word->text, "%.*s", (int)(length < LEXEME_SIZE ? length : LEXEME_SIZE - 1), text);
}

static bool is_letter(char byte)
{
    return isalpha((unsigned char)byte) || (unsigned char)byte >= 0x80;
}

static void append_letters(struct sentence *sentence, const char *text, size_t length)
{
    char word[LEXEME_SIZE];
    size_t kept = 0;
    for (size_t i = 0; i < length && kept + 1 < sizeof word; i++) {
        const bool is_curly = strncmp(text + i, "\xe2\x80\x99", 3) == 0; /* typographic apostrophe */
        word[kept++] = is_curly ? '\'' : (char)tolower((unsigned char)text[i]);
        i += is_curly ? 2 : 0;
    }
    word[kept] = '\0';
    if (kept > 2 && strcmp(word + kept - 2, "'s") == 0) {
        word[kept -= 2] = '\0';
    }
    append(sentence, kind_of(word), word, kept);
}

/* "num_warps=8": no spaces, and something on both sides. */
static size_t assignment_length(const char *at)
{
    const size_t length = strcspn(at, " \t,;:!?()\"");
    const char *equals = memchr(at, '=', length);
    return equals != NULL && equals > at && (size_t)(equals - at) + 1 < length ? length : 0;
}

/* One word at `at`, which is no space; returns its length. */
static size_t take_word(struct sentence *sentence, const char *text, const char *at)
{
    const bool begins = at == text || strchr(" \t(\"", at[-1]) != NULL;
    size_t length = begins ? assignment_length(at) : 0;
    if (length > 0) {
        length -= at[length - 1] == '.';
        append(sentence, WORD_ASSIGNMENT, at, length);
        return length;
    }
    if (strncmp(at, "\xe2\x88\x92", 3) == 0 || (*at == '-' && begins && isdigit((unsigned char)at[1]))) {
        append(sentence, WORD_DENIAL, "-", 1); /* "by -5 %" turns the sentence round */
        return *at == '-' ? 1 : 3;
    }
    if (*at == '+' && begins && isdigit((unsigned char)at[1 + strspn(at + 1, " ")])) {
        append(sentence, WORD_UP, "+", 1);
        return 1;
    }
    if (isdigit((unsigned char)*at)) {
        length = strspn(at, "0123456789.,");
        length -= strchr(".,", at[length - 1]) != NULL;
        append(sentence, WORD_NUMBER, at, length);
        return length;
    }
    if (is_letter(*at)) {
        while (is_letter(at[length]) || (at[length] == '\'' && is_letter(at[length + 1]))) {
            length++;
        }
        append_letters(sentence, at, length);
        return length;
    }
    if (*at == '?') {
        append(sentence, WORD_DENIAL, "?", 1);
    } else if (*at == '/') {
        append(sentence, WORD_PER, "/", 1);
    } else if (strchr(",;:.!()", *at) != NULL) {
        append(sentence, WORD_BREAK, at, 1);
    }
    return 1;
}

static enum word_kind at_index(const struct sentence *sentence, size_t i)
{
    return i < sentence->count ? sentence->words[i].kind : WORD_BREAK;
}

static bool is_direction(enum word_kind kind)
{
    return kind >= WORD_UP && kind <= WORD_LOSE;
}

static bool is_quantity(enum word_kind kind)
{
    return kind == WORD_RATE || kind == WORD_TIME;
}

/* "tokens per second" is one rate, "3 ms" a time, "2 times" a number; an "s" alone is nothing. */
static void join_units(struct sentence *sentence)
{
    struct word *words = sentence->words;
    for (size_t i = 0; i < sentence->count; i++) {
        const enum word_kind next = at_index(sentence, i + 1), after = at_index(sentence, i + 2);
        const bool is_after_number = i > 0 && words[i - 1].kind == WORD_NUMBER;
        const bool is_counted = words[i].kind == WORD_COUNT || strcmp(words[i].text, "token") == 0 ||
                                strcmp(words[i].text, "step") == 0 || strcmp(words[i].text, "request") == 0;
        if (is_counted && ((next == WORD_PER && after == WORD_SPAN) || next == WORD_SPAN)) {
            words[i].kind = WORD_RATE;
            words[i + 1].kind = WORD_FILLER;
            if (next == WORD_PER) {
                words[i + 2].kind = WORD_FILLER;
            }
        } else if (words[i].kind == WORD_COUNT || words[i].kind == WORD_PER) {
            words[i].kind = WORD_FILLER;
        } else if (words[i].kind == WORD_SPAN) {
            words[i].kind = is_after_number || strlen(words[i].text) > 1 ? WORD_TIME : WORD_FILLER;
        } else if (strcmp(words[i].text, "times") == 0 && is_after_number) {
            words[i].kind = WORD_NUMBER;
        }
    }
}

/* "slows the kernel down", "pushes throughput up": the up or down of the verb at i; count: it has none. */
static size_t particle_of(const struct sentence *sentence, size_t i, bool over_quantity)
{
    for (size_t k = i + 1; k < sentence->count; k++) {
        const struct word *word = &sentence->words[k];
        if (strcmp(word->text, "up") == 0 || strcmp(word->text, "down") == 0) {
            const bool is_up_to = k + 1 < sentence->count && strcmp(word[1].text, "to") == 0 && word->text[0] == 'u';
            return is_up_to ? sentence->count : k;
        }
        if (word->kind != WORD_FILLER && strcmp(word->text, "it") != 0 && strcmp(word->text, "them") != 0 &&
            !(over_quantity && is_quantity(word->kind))) {
            break;
        }
    }
    return sentence->count;
}

/* "speeds it up", "slows down", "pushes latency down", "throughput +5 %". */
static void join_particles(struct sentence *sentence)
{
    struct word *words = sentence->words;
    for (size_t i = 0; i < sentence->count; i++) {
        const bool is_speed = strncmp(words[i].text, "speed", 5) == 0 || strcmp(words[i].text, "sped") == 0,
                   is_slow = strncmp(words[i].text, "slow", 4) == 0, is_push = strncmp(words[i].text, "push", 4) == 0;
        const size_t particle = is_speed || is_slow || is_push ? particle_of(sentence, i, is_push) : sentence->count;
        if (strcmp(words[i].text, "+") == 0 && !is_quantity(i > 0 ? words[i - 1].kind : WORD_BREAK) &&
            !is_quantity(at_index(sentence, i + 2))) {
            words[i].kind = WORD_FILLER; /* "is faster by +5 %" */
        }
        if (particle == sentence->count) {
            continue;
        }
        if (is_push) {
            words[i].kind = WORD_LINK;
        } else if (is_speed == (words[particle].text[0] == 'u')) {
            words[i].kind = is_speed ? WORD_GOOD : words[i].kind;
            words[particle].kind = WORD_FILLER;
        }
    }
}

/* "up to", "more than 5 %", "compared to", "wall clock". */
static void join_phrases(struct sentence *sentence)
{
    struct word *words = sentence->words;
    for (size_t i = 0; i + 1 < sentence->count; i++) {
        const char *word = words[i].text, *next = words[i + 1].text;
        const bool is_to = strcmp(next, "to") == 0;
        if (((strcmp(word, "compared") == 0 || strcmp(word, "comparison") == 0) && (is_to || !strcmp(next, "with"))) ||
            (strcmp(word, "relative") == 0 && is_to)) {
            words[i].kind = WORD_THAN;
            words[i + 1] = (struct word){WORD_FILLER, "with"};
        } else if (strcmp(word, "wall") == 0 && strcmp(next, "clock") == 0) {
            words[i + 1].kind = WORD_FILLER;
        } else if (strcmp(word, "up") == 0 && strcmp(next, "to") == 0) {
            words[i].kind = WORD_LINK;
        } else if ((strcmp(word, "more") == 0 || strcmp(word, "less") == 0) && strcmp(next, "than") == 0 &&
                   at_index(sentence, i + 2) == WORD_NUMBER) {
            words[i].kind = words[i + 1].kind = WORD_LINK;
        } else if (strcmp(word, "instead") == 0 && strcmp(next, "of") == 0) {
            words[i].kind = WORD_THAN;
        }
    }
}

static void split(const char *statement, struct sentence *sentence)
{
    sentence->count = 0;
    for (const char *at = statement; *at != '\0';) {
        at += isspace((unsigned char)*at) ? 1 : take_word(sentence, statement, at);
    }
    join_units(sentence);
    join_particles(sentence);
    join_phrases(sentence);
}

/* ---- directions -----------------------------------------------------------------------------------------------------
 */

/* What stands behind the word at i, *at: a quantity, a thing, an unknown word, or what ends its part of the sentence.
 */
static enum word_kind object_of(const struct sentence *sentence, size_t i, size_t *at)
{
    *at = i + 1;
    while (at_index(sentence, *at) == WORD_FILLER || at_index(sentence, *at) == WORD_NUMBER) {
        ++*at;
    }
    return at_index(sentence, *at);
}

/* The quantity at `at` is only a part of a name: "queue time", "the share of the time". */
static bool is_of_something_else(const struct sentence *sentence, size_t at)
{
    static const char articles[] = " the a an its our my this all each every ";
    while (at-- > 0) {
        const struct word *word = &sentence->words[at];
        const bool is_of_it = at > 0 && strcmp(sentence->words[at - 1].text, "of") == 0;
        if (word->kind != WORD_FILLER) {
            return word->kind == WORD_UNKNOWN || word->kind == WORD_THING;
        }
        if (list_has(articles, word->text) && !is_of_it) {
            return false;
        }
    }
    return false;
}

/* The quantity or thing that the word at i moves: behind it ("lowers the step time"), else before it ("latency is
 * lower"). WORD_UNKNOWN: none, another one, or two of different kinds. */
static enum word_kind moved_by(const struct sentence *sentence, size_t i)
{
    size_t k;
    const enum word_kind ahead = object_of(sentence, i, &k), beyond = at_index(sentence, k + 1);
    if (is_quantity(ahead)) { /* not "latency budget", "throughput loss" */
        const bool is_name = beyond == WORD_UNKNOWN || is_direction(beyond) || (is_quantity(beyond) && beyond != ahead);
        return is_name ? WORD_UNKNOWN : ahead;
    }
    if (ahead == WORD_THING) {
        return is_quantity(beyond) ? WORD_UNKNOWN : WORD_THING; /* "more memory latency" */
    }
    if (ahead == WORD_UNKNOWN) {
        return WORD_UNKNOWN;
    }
    for (k = i; k-- > 0;) {
        const enum word_kind before = sentence->words[k].kind;
        if (is_quantity(before)) {
            return is_of_something_else(sentence, k) ? WORD_UNKNOWN : before;
        }
        if (before != WORD_FILLER && before != WORD_LINK && before != WORD_NUMBER && before != WORD_ASSIGNMENT) {
            break;
        }
    }
    return WORD_UNKNOWN;
}

/* "occupancy improves": what stands before the word at i, where it is no quantity. */
static enum word_kind subject_of(const struct sentence *sentence, size_t i)
{
    while (i-- > 0) {
        const enum word_kind kind = sentence->words[i].kind;
        if (is_quantity(kind)) {
            return is_of_something_else(sentence, i) ? WORD_UNKNOWN : kind;
        }
        if (kind != WORD_FILLER && kind != WORD_LINK && kind != WORD_NUMBER) {
            return kind;
        }
    }
    return WORD_BREAK;
}

/* Is the word at i said of the speed? THING: of something that is known, UNKNOWN: of something that is not. */
static enum word_kind valued_by(const struct sentence *sentence, size_t i)
{
    static const char of_speed[] = " faster fast fastest quick* speed* sped accelerat* outperform* beat* slow* lag* ";
    size_t at;
    const enum word_kind object = object_of(sentence, i, &at), beyond = at_index(sentence, at + 1);
    if (object == WORD_THING || object == WORD_UNKNOWN) {
        return object; /* "improves occupancy" */
    }
    if (is_quantity(object)) {
        return beyond == WORD_UNKNOWN || is_direction(beyond) ? WORD_UNKNOWN : object;
    }
    return list_has(of_speed, sentence->words[i].text) ? WORD_RATE : subject_of(sentence, i);
}

/* 1: the speed rises; -1: it falls; 0: nothing is said of it. False: unclear. */
static bool direction_of(const struct sentence *sentence, size_t i, int *direction)
{
    const enum word_kind kind = sentence->words[i].kind, next = at_index(sentence, i + 1);
    *direction = kind == WORD_UP || kind == WORD_GOOD || kind == WORD_WIN ? 1 : -1;
    if (kind == WORD_UP || kind == WORD_DOWN) {
        const enum word_kind moved = moved_by(sentence, i);
        *direction = moved == WORD_TIME ? -*direction : moved == WORD_RATE ? *direction : 0;
        return moved != WORD_UNKNOWN && next != WORD_GOOD && next != WORD_BAD; /* "less slow" */
    }
    const enum word_kind valued = valued_by(sentence, i);
    *direction = valued == WORD_THING ? 0 : *direction;
    return valued != WORD_UNKNOWN && !(valued == WORD_TIME && (kind == WORD_WIN || kind == WORD_LOSE));
}

static bool is_denied(const struct sentence *sentence, size_t i)
{
    while (i-- > 0 && sentence->words[i].kind != WORD_BREAK) {
        if (sentence->words[i].kind == WORD_DENIAL) {
            return true;
        }
    }
    return false;
}

/* ---- whose speed ----------------------------------------------------------------------------------------------------
 */

static bool values_equal(const char *left, const char *right)
{
    double a, b;
    return strcmp(left, right) == 0 ||
           (number_parse(left, &a) == STATUS_OK && number_parse(right, &b) == STATUS_OK && a == b);
}

/* The change that sets the knob of an assignment; NULL: none does. */
static const char *value_of_change(const char *assignment, const char *const *changes, size_t count)
{
    const size_t name = strcspn(assignment, "=");
    for (size_t i = 0; i < count; i++) {
        if (strncmp(changes[i], assignment, name) == 0 && changes[i][name] == '=') {
            return changes[i] + name + 1;
        }
    }
    return NULL;
}

static bool is_changed_number(const char *number, const char *const *changes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *equals = strchr(changes[i], '=');
        if (equals != NULL && values_equal(number, equals + 1)) {
            return true;
        }
    }
    return false;
}

/* "than" and what it compares with, up to the end of that part. */
static bool is_compared_with(const struct sentence *sentence, size_t i)
{
    while (i-- > 0) {
        const enum word_kind kind = sentence->words[i].kind;
        if (kind == WORD_THAN) {
            return true;
        }
        if (strcmp(sentence->words[i].text, "to") == 0) { /* "from 4 to 8" */
            return false;
        }
        if (kind != WORD_FILLER && kind != WORD_NUMBER && kind != WORD_LINK) {
            return false;
        }
    }
    return false;
}

/* Of "8", "eight". */
static bool number_of(const char *text, double *number)
{
    static const struct {
        const char *word;
        double value;
    } words[] = {{"zero", 0}, {"one", 1},     {"two", 2},     {"three", 3},    {"four", 4},
                 {"five", 5}, {"six", 6},     {"seven", 7},   {"eight", 8},    {"nine", 9},
                 {"ten", 10}, {"eleven", 11}, {"twelve", 12}, {"sixteen", 16}, {"twenty", 20}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i].word, text) == 0) {
            *number = words[i].value;
            return true;
        }
    }
    return isdigit((unsigned char)text[0]) && number_parse(text, number) == STATUS_OK;
}

/* "warp" and "warps" are of num_warps. */
static bool names_knob(const char *word, const char *change)
{
    static const char no_noun[] = " num max min size count per target ";
    const size_t name = strcspn(change, "="), length = strlen(word),
                 stem = length - (word[length - (length > 0)] == 's');
    for (size_t at = 0; at < name && stem > 2; at++) {
        size_t part = strcspn(change + at, "_=");
        const bool is_it = part >= stem && part <= stem + 1 && strncasecmp(change + at, word, stem) == 0 &&
                           (part == stem || tolower((unsigned char)change[at + stem]) == 's');
        if (is_it) {
            return !list_has(no_noun, word);
        }
        at += part;
    }
    return false;
}

enum value_named {
    VALUE_NONE,
    VALUE_CHANGED,
    VALUE_OTHER
};

/* "num_warps 4", "splits: 4": the whole name of the knob in front of the number at i. */
static bool follows_name(const struct sentence *sentence, size_t i, const char *change)
{
    const struct word *words = sentence->words;
    const size_t name = strcspn(change, "="), first = strcspn(change, "_=");
    i -= i > 0 && strcmp(words[i - 1].text, ":") == 0;
    return i > 0 && names_knob(words[i - 1].text, change) &&
           (first == name ||
            (i > 1 && strlen(words[i - 2].text) == first && strncasecmp(words[i - 2].text, change, first) == 0));
}

/* "four warps", "num_warps of 4", "warps=4": the value of a changed knob at i. */
static enum value_named value_at(const struct sentence *sentence, size_t i, const char *const *changes, size_t count)
{
    const struct word *words = sentence->words;
    const char *noun = i + 1 < sentence->count ? words[i + 1].text : "", *before = "", *text = words[i].text;
    char assigned[LEXEME_SIZE];
    double number, value;
    enum value_named named = VALUE_NONE;
    if (words[i].kind == WORD_ASSIGNMENT) {
        (void)snprintf(assigned, sizeof assigned, "%.*s", (int)strcspn(text, "="), text);
        noun = "";
        before = assigned;
        text += strcspn(text, "=");
        text += *text == '=';
    } else if (i > 1 && (strcmp(words[i - 1].text, "of") == 0 || strcmp(words[i - 1].text, "to") == 0)) {
        before = words[i - 2].text;
    }
    for (size_t k = 0; k < count && number_of(text, &number); k++) {
        const char *equals = strchr(changes[k], '=');
        if (equals != NULL && number_parse(equals + 1, &value) == STATUS_OK &&
            (names_knob(noun, changes[k]) || names_knob(before, changes[k]) || follows_name(sentence, i, changes[k]))) {
            named = value == number || named == VALUE_CHANGED ? VALUE_CHANGED : VALUE_OTHER;
        }
    }
    return named;
}

/* "than num_warps=4" */
static enum value_named value_at_assignment(const struct sentence *sentence, size_t i, const char *const *changes,
                                            size_t count)
{
    const char *equals = at_index(sentence, i) == WORD_ASSIGNMENT ? strchr(sentence->words[i].text, '=') : NULL,
               *value = equals != NULL ? value_of_change(sentence->words[i].text, changes, count) : NULL;
    return value == NULL ? VALUE_NONE : values_equal(equals + 1, value) ? VALUE_CHANGED : VALUE_OTHER;
}

/* The word that speaks of another configuration than the changed one as the one that is faster or slower; count: none.
 */
static size_t other_subject(const struct sentence *sentence, const char *const *changes, size_t change_count)
{
    const struct word *words = sentence->words;
    bool has_variant = false;
    for (size_t i = 0; i < sentence->count; i++) {
        const char *equals = strchr(words[i].text, '=');
        if (words[i].kind == WORD_ASSIGNMENT && !is_compared_with(sentence, i) && equals != NULL) {
            const char *value = value_of_change(words[i].text, changes, change_count);
            if (value != NULL && !values_equal(equals + 1, value)) {
                return i;
            }
            has_variant = has_variant || value != NULL;
        }
        const bool is_compared = is_compared_with(sentence, i);
        const enum value_named named = value_at(sentence, i, changes, change_count);
        if (named == (is_compared ? VALUE_CHANGED : VALUE_OTHER)) { /* "compared to num_warps=8" */
            return i;
        }
        has_variant = has_variant || named == VALUE_CHANGED;
        if (is_compared && value_at_assignment(sentence, i, changes, change_count) == VALUE_CHANGED) {
            return i;
        }
        has_variant =
            has_variant || (words[i].kind == WORD_NUMBER && is_changed_number(words[i].text, changes, change_count));
        if (words[i].kind == WORD_BASE && !is_compared_with(sentence, i)) {
            for (size_t k = i + 1; k < sentence->count && words[k].kind != WORD_BREAK; k++) {
                if (is_direction(words[k].kind)) {
                    return i;
                }
            }
        }
        size_t k = i + 1;
        while (at_index(sentence, k) == WORD_FILLER) {
            k++;
        }
        if (strcmp(words[i].text, "than") == 0 && words[i].kind == WORD_THAN && !has_variant &&
            at_index(sentence, k) != WORD_BASE &&
            value_at_assignment(sentence, k, changes, change_count) != VALUE_OTHER) {
            return i;
        }
    }
    return sentence->count;
}

/* ---- the answer -----------------------------------------------------------------------------------------------------
 */

/* "changes throughput": in either direction. */
static bool claims_change(const struct sentence *sentence)
{
    static const char verbs[] = " change changes changed changing alter alters affect affects influence influences ";
    for (size_t i = 0; i < sentence->count; i++) {
        size_t at;
        if (list_has(verbs, sentence->words[i].text) && is_quantity(object_of(sentence, i, &at))) {
            const enum word_kind beyond = at_index(sentence, at + 1);
            return beyond != WORD_UNKNOWN && beyond != WORD_THING && !is_quantity(beyond);
        }
    }
    return false;
}

static void conclude(const struct sentence *sentence, size_t ups, size_t downs, size_t denied, size_t denial,
                     size_t unclear, struct statement_reading *reading)
{
    const size_t shown = denial < sentence->count ? denial : unclear;
    if (shown < sentence->count) {
        (void)snprintf(reading->word, sizeof reading->word, "%s", sentence->words[shown].text);
    }
    const enum effect_claim claim = ups > 0 ? EFFECT_RAISES : EFFECT_LOWERS;
    if (denial < sentence->count) {
        reading->meaning = STATEMENT_NEGATED;
        reading->denied = denied > 0 && denied == ups + downs && (ups == 0 || downs == 0) && unclear == sentence->count
                              ? claim
                              : EFFECT_CHANGES;
    } else if (unclear < sentence->count) {
        reading->meaning = STATEMENT_UNCLEAR;
    } else if (ups + downs == 0) {
        reading->meaning = claims_change(sentence) ? STATEMENT_CLEAR : STATEMENT_SILENT;
    } else if (ups > 0 && downs > 0) {
        reading->meaning = STATEMENT_TWO_WAYS;
    } else {
        *reading = (struct statement_reading){STATEMENT_CLEAR, claim, EFFECT_CHANGES, ""};
    }
}

void statement_claim_read(const char *statement, const char *const *changes, size_t change_count,
                          struct statement_reading *reading)
{
    struct sentence sentence;
    size_t ups = 0, downs = 0, denied = 0;
    split(statement, &sentence);
    size_t denial = sentence.count, unclear = other_subject(&sentence, changes, change_count);
    *reading = (struct statement_reading){STATEMENT_UNCLEAR, EFFECT_CHANGES, EFFECT_CHANGES, ""};
    for (size_t i = sentence.count; i-- > 0;) {
        int direction = 0;
        denial = sentence.words[i].kind == WORD_DENIAL ? i : denial;
        if (!is_direction(sentence.words[i].kind)) {
            continue;
        }
        if (!direction_of(&sentence, i, &direction)) {
            unclear = i;
        }
        ups += direction > 0;
        downs += direction < 0;
        denied += direction != 0 && is_denied(&sentence, i);
    }
    conclude(&sentence, ups, downs, denied, denial, sentence.count == WORDS_MAX ? 0 : unclear, reading);
}

bool statement_claim_contradicts(const struct statement_reading *reading, enum effect_claim claim)
{
    return (reading->meaning == STATEMENT_CLEAR && reading->claim != claim && reading->claim != EFFECT_CHANGES) ||
           (reading->meaning == STATEMENT_NEGATED && reading->denied == claim && claim != EFFECT_CHANGES);
}
