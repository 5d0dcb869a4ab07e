/* SPDX-License-Identifier: GPL-3.0-or-later
 * Fuzz target: JSON as Python writes it, plain or gzip; a tree, or a message with its place. What is read is the same
 * when it is written as JSON and read again. */
#include <stdlib.h>
#include <string.h>

#include "evidence/byte_stream.h"
#include "evidence/json_tolerant.h"
#include "tests/fuzz/fuzz_target.h"

enum {
    EXPANDED_BYTES_MAX = 1 << 20
};

static void parse(const char *text, size_t length)
{
    json_t *root = NULL, *again = NULL;
    struct error error = {0};
    struct json_tolerated seen = {0};
    if (json_tolerant_parse(text, length, "input.json", JSON_DUPLICATES_LAST, &root, &seen, &error) != STATUS_OK) {
        FUZZ_REQUIRE(root == NULL && error.text[0] != '\0' && error.line > 0 && error.column > 0);
        return;
    }
    char *plain = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(17));
    FUZZ_REQUIRE(plain != NULL);
    FUZZ_REQUIRE(json_tolerant_parse(plain, strlen(plain), "again", JSON_DUPLICATES_REFUSED, &again, &seen, &error) ==
                 STATUS_OK);
    FUZZ_REQUIRE(json_equal(root, again) && seen.nonfinite_count + seen.big_integer_count == 0);
    free(plain);
    json_decref(root);
    json_decref(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct byte_stream *stream = NULL;
    struct error error = {0};
    size_t length = 0;
    if (byte_stream_open_memory(data, size, "input", &stream, &error) != STATUS_OK) {
        return 0;
    }
    char *text = malloc(EXPANDED_BYTES_MAX);
    if (text != NULL && byte_stream_read(stream, text, EXPANDED_BYTES_MAX, &length, &error) == STATUS_OK) {
        FUZZ_REQUIRE(byte_stream_is_gzip(stream) || length == size || length == EXPANDED_BYTES_MAX);
        parse(text, length);
    }
    free(text);
    byte_stream_free(stream);
    return 0;
}
