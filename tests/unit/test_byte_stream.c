/* SPDX-License-Identifier: GPL-3.0-or-later
 * Plain and gzip bytes: members, cuts, lies, bombs. */
#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/text_buffer.h"
#include "evidence/byte_stream.h"
#include "tests/support/temp_dir.h"

/* One gzip member at the end of *out. */
static void deflate_into(struct text_buffer *out, const void *bytes, size_t length)
{
    z_stream stream = {0};
    size_t room = length + length / 100 + 1024;
    char *packed = malloc(room);
    ck_assert_int_eq(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (Bytef *)(uintptr_t)bytes;
    stream.avail_in = (uInt)length;
    stream.next_out = (Bytef *)packed;
    stream.avail_out = (uInt)room;
    ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    text_buffer_append_bytes(out, packed, stream.total_out);
    ck_assert_int_eq(deflateEnd(&stream), Z_OK);
    free(packed);
}

static bool reads_ahead;

static void with_a_thread(void)
{
    reads_ahead = true;
}

/* All of it in blocks of block_bytes. */
static struct text_buffer drained(const void *bytes, size_t length, size_t block_bytes, char damage[160])
{
    struct byte_stream *stream = NULL;
    struct error error = {0};
    struct text_buffer text = {0};
    char *block = malloc(block_bytes);
    size_t got = block_bytes;
    ck_assert_int_eq(byte_stream_open_memory(bytes, length, "memory", &stream, &error), STATUS_OK);
    if (reads_ahead) {
        byte_stream_read_ahead(stream);
    }
    while (got == block_bytes) {
        ck_assert_int_eq(byte_stream_read(stream, block, block_bytes, &got, &error), STATUS_OK);
        text_buffer_append_bytes(&text, block, got);
    }
    (void)snprintf(damage, 160, "%s", byte_stream_damage(stream));
    byte_stream_free(stream);
    free(block);
    return text;
}

static char *numbers(size_t count, size_t *length)
{
    struct text_buffer text = {0};
    for (size_t i = 0; i < count; i++) {
        text_buffer_append_format(&text, "%zu\n", i * 7919 % 10007);
    }
    *length = text.length;
    return text.text;
}

START_TEST(plain_and_gzip_are_the_same_text)
{
    size_t length;
    char *text = numbers(_i == 0 || getenv("TEST_QUICK") != NULL ? 5000 : 100000, &length), damage[160];
    struct text_buffer packed = {0};
    deflate_into(&packed, text, length);
    static const size_t blocks[] = {1, 1000, 1 << 20};
    for (size_t i = _i == 0 ? 0 : 1; i < sizeof blocks / sizeof blocks[0]; i++) {
        struct text_buffer plain = drained(text, length, blocks[i], damage);
        ck_assert_uint_eq(plain.length, length);
        ck_assert_int_eq(memcmp(plain.text, text, length), 0);
        struct text_buffer expanded = drained(packed.text, packed.length, blocks[i], damage);
        ck_assert_str_eq(damage, "");
        ck_assert_uint_eq(expanded.length, length);
        ck_assert_int_eq(memcmp(expanded.text, text, length), 0);
        text_buffer_release(&plain);
        text_buffer_release(&expanded);
    }
    text_buffer_release(&packed);
    free(text);
}
END_TEST

START_TEST(members_follow_each_other)
{
    struct text_buffer packed = {0};
    char damage[160];
    for (int i = 0; i < 1000; i++) {
        deflate_into(&packed, "ab", i % 2 == 0 ? 2 : 0);
    }
    text_buffer_append_bytes(&packed, "\0\0\0", 3); /* padding */
    struct text_buffer text = drained(packed.text, packed.length, 64, damage);
    ck_assert_uint_eq(text.length, 1000);
    ck_assert_str_eq(damage, "");
    text_buffer_release(&text);
    text_buffer_append(&packed, "rubbish");
    text = drained(packed.text, packed.length, 64, damage);
    ck_assert_uint_eq(text.length, 1000);
    ck_assert_ptr_nonnull(strstr(damage, "something else"));
    text_buffer_release(&text);
    text_buffer_release(&packed);
}
END_TEST

/* Whatever the cut: the bytes before it are delivered, a prefix of the text, and the end is said to be early. */
START_TEST(cut_gzip)
{
    size_t length;
    char *text = numbers(800, &length), damage[160];
    struct text_buffer packed = {0};
    deflate_into(&packed, text, length);
    size_t last = 0;
    for (size_t cut = 2; cut < packed.length; cut++) {
        struct text_buffer part = drained(packed.text, cut, 4096, damage);
        if (strstr(damage, "early") == NULL || part.length > length || part.length < last ||
            (part.length > 0 && memcmp(part.text, text, part.length) != 0)) {
            ck_abort_msg("cut at %zu: %zu bytes, %s", cut, part.length, damage);
        }
        last = part.length;
        text_buffer_release(&part);
    }
    ck_assert_uint_gt(last, length / 2);
    text_buffer_release(&packed);
    free(text);
}
END_TEST

START_TEST(damaged_gzip)
{
    size_t length;
    char *text = numbers(5000, &length), damage[160];
    struct text_buffer packed = {0};
    deflate_into(&packed, text, length);
    packed.text[packed.length - 5] ^= 1; /* its checksum */
    struct text_buffer all = drained(packed.text, packed.length, 4096, damage);
    ck_assert_uint_eq(all.length, length);
    ck_assert_ptr_nonnull(strstr(damage, "damaged"));
    text_buffer_release(&all);
    packed.text[packed.length - 5] ^= 1;
    packed.text[packed.length - 1] ^= 0x40; /* the length it claims */
    all = drained(packed.text, packed.length, 4096, damage);
    ck_assert_uint_eq(all.length, length);
    ck_assert_ptr_nonnull(strstr(damage, "damaged"));
    text_buffer_release(&all);
    text_buffer_release(&packed);
    free(text);
    all = drained("\x1f\x8b no gzip at all", 18, 64, damage);
    ck_assert_uint_eq(all.length, 0);
    ck_assert_ptr_nonnull(strstr(damage, "damaged"));
    text_buffer_release(&all);
}
END_TEST

START_TEST(whole_files)
{
    struct temp_dir folder;
    temp_dir_create(&folder);
    size_t length, count = 0;
    char *text = numbers(1000, &length), *read = NULL;
    struct text_buffer packed = {0};
    struct error error = {0};
    deflate_into(&packed, text, length);
    char path[600];
    temp_dir_write(&folder, "numbers.gz", packed.text, packed.length, path, sizeof path);
    ck_assert_int_eq(byte_stream_read_all(path, length, &read, &count, &error), STATUS_OK);
    ck_assert_uint_eq(count, length);
    ck_assert_str_eq(read, text);
    free(read);
    ck_assert_int_eq(byte_stream_read_all(path, length - 1, &read, &count, &error), STATUS_LIMIT);
    ck_assert_ptr_nonnull(strstr(error.text, "expanded"));
    temp_dir_write(&folder, "cut.gz", packed.text, packed.length - 9, path, sizeof path);
    ck_assert_int_eq(byte_stream_read_all(path, length, &read, &count, &error), STATUS_BAD_DATA);
    ck_assert_ptr_nonnull(strstr(error.text, "early"));
    temp_dir_write(&folder, "empty", "", 0, path, sizeof path);
    ck_assert_int_eq(byte_stream_read_all(path, 0, &read, &count, &error), STATUS_OK);
    ck_assert_str_eq(read, "");
    free(read);
    ck_assert_int_eq(byte_stream_read_all(folder.path, 10, &read, &count, &error), STATUS_BAD_DATA);
    ck_assert_int_eq(byte_stream_read_all("/nonexistent/file", 10, &read, &count, &error), STATUS_MISSING);
    text_buffer_release(&packed);
    free(text);
    temp_dir_remove(&folder);
}
END_TEST

/* 4 MiB of zeros in 4 KiB: refused as soon as the limit is passed. */
START_TEST(bombs_are_bounded)
{
    struct temp_dir folder;
    temp_dir_create(&folder);
    size_t length = 4 << 20, count = 0;
    char *zeros = calloc(length, 1), *read = NULL;
    struct text_buffer packed = {0};
    struct error error = {0};
    deflate_into(&packed, zeros, length);
    ck_assert_uint_lt(packed.length, 5000);
    char path[600];
    temp_dir_write(&folder, "bomb.gz", packed.text, packed.length, path, sizeof path);
    ck_assert_int_eq(byte_stream_read_all(path, 1 << 20, &read, &count, &error), STATUS_LIMIT);
    free(zeros);
    text_buffer_release(&packed);
    temp_dir_remove(&folder);
}
END_TEST

/* Readers may stop in the middle, or before they begin. */
START_TEST(stopping_a_thread)
{
    size_t length, got = 0;
    char *text = numbers(100000, &length), block[1000];
    struct text_buffer packed = {0};
    struct error error = {0};
    deflate_into(&packed, text, length);
    for (size_t blocks = 0; blocks < 300; blocks += 60) {
        struct byte_stream *stream = NULL;
        ck_assert_int_eq(byte_stream_open_memory(packed.text, packed.length, "memory", &stream, &error), STATUS_OK);
        byte_stream_read_ahead(stream);
        for (size_t i = 0; i < blocks; i++) {
            ck_assert_int_eq(byte_stream_read(stream, block, sizeof block, &got, &error), STATUS_OK);
            ck_assert_mem_eq(block, text + i * sizeof block, sizeof block);
        }
        byte_stream_free(stream);
    }
    text_buffer_release(&packed);
    free(text);
}
END_TEST

static void add_tests(TCase *tests)
{
    tcase_add_loop_test(tests, plain_and_gzip_are_the_same_text, 0, 2);
    tcase_add_test(tests, members_follow_each_other);
    tcase_add_test(tests, cut_gzip);
    tcase_add_test(tests, damaged_gzip);
}

Suite *suite_byte_stream(void)
{
    Suite *suite = suite_create("byte_stream");
    TCase *tests = tcase_create("all"), *ahead = tcase_create("with a thread");
    add_tests(tests);
    tcase_add_test(tests, whole_files);
    tcase_add_test(tests, bombs_are_bounded);
    suite_add_tcase(suite, tests);
    tcase_add_checked_fixture(ahead, with_a_thread, NULL);
    add_tests(ahead);
    tcase_add_test(ahead, stopping_a_thread);
    suite_add_tcase(suite, ahead);
    return suite;
}
