/* SPDX-License-Identifier: GPL-3.0-or-later
 * CSV: what is read, which line every fault is blamed on, hostile input, and write -> read. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/text_buffer.h"
#include "tests/support/temp_dir.h"

Suite *suite_csv(void);

static enum status parse(const char *text, struct csv_table *table, struct error *error)
{
    memset(error, 0, sizeof *error);
    return csv_parse(text, strlen(text), "t.csv", table, error);
}

START_TEST(reads_quotes_comments_and_lines)
{
    struct csv_table table;
    struct error error;
    ck_assert_int_eq(parse("# a comment\n\n# another, with \"quotes\n"
                           "name,\"the, value\",c\n"
                           "a,\"say \"\"hi\"\"\n twice\",\n"
                           "\n"
                           "#b, x ,3.5\n",
                           &table, &error),
                     STATUS_OK);
    ck_assert_uint_eq(table.column_count, 3);
    ck_assert_uint_eq(table.row_count, 2);
    ck_assert_str_eq(table.names[1], "the, value");
    ck_assert_str_eq(csv_cell(&table, 0, 1), "say \"hi\"\n twice");
    ck_assert_str_eq(csv_cell(&table, 0, 2), "");
    ck_assert_str_eq(csv_cell(&table, 1, 0), "#b"); /* behind the header '#' is data */
    ck_assert_str_eq(csv_cell(&table, 1, 1), " x ");
    ck_assert_uint_eq(table.lines[0], 5);
    ck_assert_uint_eq(table.lines[1], 8);
    ck_assert_int_eq(csv_column(&table, "c"), 2);
    ck_assert_int_eq(csv_column(&table, "C"), -1);
    double value = 0.0;
    ck_assert_int_eq(csv_number(&table, 1, 2, &value, &error), STATUS_OK);
    ck_assert_double_eq(value, 3.5);
    csv_table_release(&table);
    ck_assert_ptr_null(table.cells);
}
END_TEST

START_TEST(reads_bom_crlf_and_no_final_newline)
{
    struct csv_table table;
    struct error error;
    ck_assert_int_eq(parse("\xef\xbb\xbf"
                           "a,b\r\n1,\"x\r\ny\"\r\n3,",
                           &table, &error),
                     STATUS_OK);
    ck_assert_str_eq(table.names[0], "a");
    ck_assert_uint_eq(table.row_count, 2);
    ck_assert_str_eq(csv_cell(&table, 0, 1), "x\r\ny");
    ck_assert_str_eq(csv_cell(&table, 1, 0), "3");
    ck_assert_str_eq(csv_cell(&table, 1, 1), "");
    ck_assert_uint_eq(table.lines[1], 4);
    csv_table_release(&table);
}
END_TEST

START_TEST(a_table_without_rows_is_fine)
{
    struct csv_table table;
    struct error error;
    ck_assert_int_eq(parse("a,b", &table, &error), STATUS_OK);
    ck_assert_uint_eq(table.column_count, 2);
    ck_assert_uint_eq(table.row_count, 0);
    csv_table_release(&table);
}
END_TEST

static const struct {
    const char *text;
    const char *message; /* as error_describe prints it */
} faults[] = {
    {"", "t.csv:1: a header line with column names is expected, the file has none"},
    {"# only\n\n", "t.csv:3: a header line with column names is expected, the file has none"},
    {"a,b\n1,2\n1\n", "t.csv:3: 1 fields where the header has 2 columns"},
    {"a,b\n1,2,3\n", "t.csv:2: 3 fields where the header has 2 columns"},
    {"a;b\n1;2\n", "t.csv:1: the columns are separated by semicolons; commas are expected, and points in numbers"},
    {"# x\na\tb\n", "t.csv:2: the columns are separated by tabs; commas are expected, and points in numbers"},
    {"a,b,a\n", "t.csv:1: the header names column 'a' twice"},
    {"# x\na,,b\n", "t.csv:2: a column of the header has no name"},
    {"a,b\n1,\"open\nmore\n", "t.csv:2:3: the quote that opens here is never closed"},
    {"a,b\n1,\"x\"y\n", "t.csv:2:6: a comma or the end of the line is expected after the closing quote"},
    {"a,b\n1,x\"y\n", "t.csv:2:4: a quote inside a field that does not begin with one"},
    {"a,b\n1\r,2\n", "t.csv:2:2: a carriage return that does not end a line"},
    {"a,b\n1,\xff\n", "t.csv:2:3: a byte that is no UTF-8; a CSV text file is expected"},
};

START_TEST(names_the_line_of_a_fault)
{
    struct csv_table table;
    struct error error;
    char out[1200];
    ck_assert_int_eq(parse(faults[_i].text, &table, &error), STATUS_BAD_DATA);
    ck_assert_str_eq(error_describe(&error, out, sizeof out), faults[_i].message);
    ck_assert_ptr_null(table.storage); /* nothing to release */
}
END_TEST

START_TEST(refuses_nul_bytes)
{
    static const char text[] = "a,b\n1,2\n3,\0\n";
    struct csv_table table;
    struct error error = {0};
    ck_assert_int_eq(csv_parse(text, sizeof text - 1, "t.csv", &table, &error), STATUS_BAD_DATA);
    ck_assert_uint_eq(error.line, 3);
    ck_assert_uint_eq(error.column, 3);
    ck_assert_str_eq(error.text, "a NUL byte; a CSV text file is expected");
}
END_TEST

/* A million columns must take neither a quadratic search for duplicates nor much memory. */
START_TEST(takes_a_million_columns)
{
    enum {
        COLUMNS = 1000000
    };
    struct text_buffer text = {0};
    char name[16];
    for (unsigned i = 0; i < COLUMNS; i++) {
        int length = snprintf(name, sizeof name, "%sc%u", i ? "," : "", i);
        text_buffer_append_bytes(&text, name, (size_t)length);
    }
    size_t header_length = text.length;
    text_buffer_append(&text, "\n");
    for (unsigned i = 1; i < COLUMNS; i++)
        text_buffer_append_bytes(&text, ",", 1);
    text_buffer_append(&text, "end\n");
    ck_assert(!text.failed);
    struct csv_table table;
    struct error error = {0};
    ck_assert_int_eq(csv_parse(text.text, text.length, "wide.csv", &table, &error), STATUS_OK);
    ck_assert_uint_eq(table.column_count, COLUMNS);
    ck_assert_uint_eq(table.row_count, 1);
    ck_assert_str_eq(table.names[COLUMNS - 1], "c999999");
    ck_assert_str_eq(csv_cell(&table, 0, COLUMNS - 1), "end");
    csv_table_release(&table);
    memcpy(text.text + header_length - 7, "c999998", 7); /* now the last two share a name */
    ck_assert_int_eq(csv_parse(text.text, text.length, "wide.csv", &table, &error), STATUS_BAD_DATA);
    ck_assert_str_eq(error.text, "the header names column 'c999998' twice");
    text_buffer_release(&text);
}
END_TEST

START_TEST(numbers_name_file_line_and_column)
{
    struct csv_table table;
    struct error error;
    char out[1200];
    double value = 42.0;
    ck_assert_int_eq(parse("a,b\n1,\n\"x,y\",nan\n", &table, &error), STATUS_OK);
    ck_assert_int_eq(csv_number(&table, 0, 1, &value, &error), STATUS_BAD_DATA);
    ck_assert_str_eq(error_describe(&error, out, sizeof out), "t.csv:2: column 'b' is empty, a number is expected");
    ck_assert_int_eq(csv_number(&table, 1, 0, &value, &error), STATUS_BAD_DATA);
    ck_assert_str_eq(error_describe(&error, out, sizeof out),
                     "t.csv:3: column 'a' holds 'x,y', a finite decimal number is expected");
    ck_assert_int_eq(csv_number(&table, 1, 1, &value, &error), STATUS_BAD_DATA);
    ck_assert_double_eq(value, 42.0);
    csv_table_release(&table);
}
END_TEST

START_TEST(reads_files_within_a_limit)
{
    struct temp_dir directory;
    char path[1024];
    struct csv_table table;
    struct error error = {0};
    temp_dir_create(&directory);
    temp_dir_write(&directory, "x.csv", "a\n1\n", 4, path, sizeof path);
    ck_assert_int_eq(csv_read(path, 4, &table, &error), STATUS_OK);
    ck_assert_str_eq(table.file, path);
    csv_table_release(&table);
    ck_assert_int_eq(csv_read(path, 3, &table, &error), STATUS_LIMIT);
    csv_table_release(&table); /* allowed after a failure too */
    temp_dir_remove(&directory);
    ck_assert_int_eq(csv_read(path, 4, &table, &error), STATUS_MISSING);
}
END_TEST

static const char *const hard_fields[] = {"plain",       "with,comma", "\"",    "a\"b\"\"c",
                                          "line\nbreak", "cr\r\n",     " lead", "trail ",
                                          "#comment?",   "\xc2\xb5s",  "",      "\xe2\x82\xac, \""};
enum {
    HARD_FIELD_COUNT = sizeof hard_fields / sizeof hard_fields[0]
};

START_TEST(what_is_written_is_read_back)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    ck_assert_ptr_nonnull(stream);
    csv_write_field(stream, "#first");
    fputs(",second\n", stream);
    for (size_t i = 0; i < HARD_FIELD_COUNT; i++) {
        csv_write_field(stream, hard_fields[i]);
        fputc(',', stream);
        csv_write_field(stream, hard_fields[HARD_FIELD_COUNT - 1 - i]);
        fputc('\n', stream);
    }
    ck_assert_int_eq(fclose(stream), 0);
    struct csv_table table;
    struct error error = {0};
    ck_assert_int_eq(csv_parse(text, length, "t.csv", &table, &error), STATUS_OK);
    ck_assert_str_eq(table.names[0], "#first");
    ck_assert_uint_eq(table.row_count, HARD_FIELD_COUNT);
    for (size_t i = 0; i < HARD_FIELD_COUNT; i++) {
        ck_assert_str_eq(csv_cell(&table, i, 0), hard_fields[i]);
        ck_assert_str_eq(csv_cell(&table, i, 1), hard_fields[HARD_FIELD_COUNT - 1 - i]);
    }
    csv_table_release(&table);
    free(text);
}
END_TEST

START_TEST(plain_fields_are_not_quoted)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    csv_write_field(stream, "3.5 GB/s");
    fputc(',', stream);
    csv_write_field(stream, "a,b");
    ck_assert_int_eq(fclose(stream), 0);
    ck_assert_str_eq(text, "3.5 GB/s,\"a,b\"");
    free(text);
}
END_TEST

Suite *suite_csv(void)
{
    Suite *suite = suite_create("csv");
    TCase *tests = tcase_create("csv");
    tcase_add_test(tests, reads_quotes_comments_and_lines);
    tcase_add_test(tests, reads_bom_crlf_and_no_final_newline);
    tcase_add_test(tests, a_table_without_rows_is_fine);
    tcase_add_loop_test(tests, names_the_line_of_a_fault, 0, sizeof faults / sizeof faults[0]);
    tcase_add_test(tests, refuses_nul_bytes);
    tcase_add_test(tests, takes_a_million_columns);
    tcase_add_test(tests, numbers_name_file_line_and_column);
    tcase_add_test(tests, reads_files_within_a_limit);
    tcase_add_test(tests, what_is_written_is_read_back);
    tcase_add_test(tests, plain_fields_are_not_quoted);
    suite_add_tcase(suite, tests);
    return suite;
}
