/* SPDX-License-Identifier: GPL-3.0-or-later
 * Texts of profiler traces for tests, and reading them. */
#ifndef OCCAM_TESTS_SUPPORT_TRACE_TEXTS_H
#define OCCAM_TESTS_SUPPORT_TRACE_TEXTS_H

#include <stdbool.h>
#include <stddef.h>

#include "evidence/profiles/kernel_claim.h"

#define RECORDED "tests/recorded/profilers/kineto-h200.json"

/* Made from documented fields. */
#define DEVICES                                                                                                        \
    "\"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA H200\", \"computeMajor\": 9, \"computeMinor\": 0, "         \
    "\"maxThreadsPerMultiprocessor\": 2048, \"numSms\": 132}]"
#define EVENT(name, duration, arguments)                                                                               \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"" name "\", \"pid\": 0, \"tid\": 7, \"ts\": 10.5, \"dur\": "     \
    "" duration ", \"args\": {" arguments "}}"
#define ARGUMENTS                                                                                                      \
    "\"device\": 0, \"registers per thread\": 64, \"shared memory\": 1024, \"blocks per SM\": 9.7, \"grid\": [1280, "  \
    "1, 1], "                                                                                                          \
    "\"block\": [256, 1, 1], \"est. achieved occupancy %\": 50"
#define CPU                                                                                                            \
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 1, \"tid\": 1, \"ts\": 9, \"dur\": 3, "     \
    "\"args\": {}}"
#define KERNEL EVENT("k", "2.5", ARGUMENTS)

/* Reads the bytes as a trace called t.json; what list and error held is released first. */
enum status trace_text_read(const char *text, size_t length, bool parses_all, struct kernel_claim_list *list,
                            struct error *error);

/* A fixture: what the last trace of a test held, and what was wrong with it. */
extern struct kernel_claim_list trace_list;
extern struct error trace_error;
void trace_list_setup(void);
void trace_list_teardown(void);
/* trace_text_read into both. */
enum status trace_list_read(const char *text, size_t length, bool parses_all);
/* The same, whole; anything but STATUS_OK ends the test. */
void trace_list_must_read(const char *text);

#endif
