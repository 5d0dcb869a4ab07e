/* SPDX-License-Identifier: GPL-3.0-or-later
 * Status codes: one list gives the enum, the name, the text and the process exit class. Used by every room. */
#ifndef OCCAM_BASE_STATUS_H
#define OCCAM_BASE_STATUS_H

/* STATUS_LIST(X): X(NAME, exit_code, "text").
 * Exit codes (docs/DATA.md, man page): 0 fine, 1 a comparison or tolerance failed, 2 usage, 3 bad input data,
 * 4 something needed is missing (file, GPU, program, space), 70 a mistake of ours. */
#define STATUS_LIST(X)                                                                                                 \
    X(OK, 0, "success")                                                                                                \
    X(TOLERANCE_FAILED, 1, "a comparison or tolerance failed")                                                         \
    X(USAGE, 2, "the command line is wrong")                                                                           \
    X(BAD_DATA, 3, "the input data is wrong")                                                                          \
    X(NOT_FOUND, 3, "no entry of that name")                                                                           \
    X(DOMAIN, 3, "a value lies outside what the formula is defined for")                                               \
    X(LIMIT, 3, "an input is larger than the stated limit")                                                            \
    X(MISSING, 4, "something needed is missing")                                                                       \
    X(IO, 4, "reading or writing failed")                                                                              \
    X(NO_MEMORY, 4, "memory ran out")                                                                                  \
    X(INTERNAL, 70, "a mistake of occam's own")

#define STATUS_ENUM_ENTRY(name, exit_code, text) STATUS_##name,
enum status {
    STATUS_LIST(STATUS_ENUM_ENTRY) STATUS_COUNT
};
#undef STATUS_ENUM_ENTRY

/* The constant's name without its prefix, for example "BAD_DATA". Static storage. */
const char *status_name(enum status status);
/* One clause in English, for example "the input data is wrong". Static storage. */
const char *status_text(enum status status);
/* The process exit code of the table above. */
int status_exit_code(enum status status);

#if defined(__GNUC__)
#define MUST_CHECK                                __attribute__((warn_unused_result))
#define PRINTF_LIKE(format_index, first_argument) __attribute__((format(printf, format_index, first_argument)))
#else
#define MUST_CHECK
#define PRINTF_LIKE(format_index, first_argument)
#endif

/* What went wrong and where. The caller owns it and zero-initialises it; no heap inside. */
struct error {
    enum status status;
    char file[256];        /* "" where no file is to blame */
    unsigned line, column; /* from 1; 0 = unknown */
    char text[768];        /* one line, no full stop, says what was expected */
};

/* Fill *error (may be NULL) and return status, so that "return error_set(...)" reads well. The text is cut at its
 * capacity; newlines and control characters in it are replaced by spaces, because messages are one line. */
enum status error_set(struct error *error, enum status status, const char *format, ...) PRINTF_LIKE(3, 4);
/* The same with a place. file may be NULL. */
enum status error_set_at(struct error *error, enum status status, const char *file, unsigned line, unsigned column,
                         const char *format, ...) PRINTF_LIKE(6, 7);
/* Writes "file:line:column: text" (parts that are known) into out, always NUL-terminated. Returns out. */
const char *error_describe(const struct error *error, char *out, unsigned long out_size);

/* For our own mistakes: prints file:line and the text to stderr and exits with status 70. Never for bad input. */
#define BUG(...) bug_abort(__FILE__, __LINE__, __VA_ARGS__)
_Noreturn void bug_abort(const char *file, int line, const char *format, ...) PRINTF_LIKE(3, 4);

#endif
