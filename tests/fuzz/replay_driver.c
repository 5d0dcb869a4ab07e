/* SPDX-License-Identifier: GPL-3.0-or-later
 * replay_driver FILE|FOLDER...: calls a fuzz target once for each file. Linked with one fuzz_NAME.c where libFuzzer is
 * not at hand, so that every input ever found is tried again by any compiler. */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz_target.h"

enum {
    INPUT_BYTES_MAX = 16 << 20
};

/* A block of exactly the file's size, so that a sanitizer sees the first byte read behind it. */
static bool replay_file(const char *path)
{
    FILE *stream = fopen(path, "rb");
    uint8_t *bytes = NULL;
    bool good = false;
    long length = -1;
    if (stream != NULL && fseek(stream, 0, SEEK_END) == 0) {
        length = ftell(stream);
    }
    if (length >= 0 && length <= INPUT_BYTES_MAX && fseek(stream, 0, SEEK_SET) == 0) {
        bytes = length > 0 ? malloc((size_t)length) : NULL;
        good = length == 0 || (bytes != NULL && fread(bytes, 1, (size_t)length, stream) == (size_t)length);
    }
    if (good) {
        LLVMFuzzerTestOneInput(bytes, (size_t)length);
    } else {
        fprintf(stderr, "replay: cannot read %s\n", path);
    }
    free(bytes);
    if (stream != NULL) {
        fclose(stream);
    }
    return good;
}

/* Files of a folder in the order of their names, so that a run can be repeated. */
static bool replay_folder(const char *path, struct dirent **entries, int entry_count, size_t *file_count)
{
    bool good = true;
    for (int i = 0; i < entry_count; i++) {
        char file[4096];
        int length = snprintf(file, sizeof file, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.') {
            good = length > 0 && (size_t)length < sizeof file && replay_file(file) && good;
            ++*file_count;
        }
        free(entries[i]);
    }
    free(entries);
    return good;
}

int main(int argument_count, char **arguments)
{
    size_t file_count = 0;
    bool good = true;
    for (int i = 1; i < argument_count; i++) {
        struct dirent **entries = NULL;
        int entry_count = scandir(arguments[i], &entries, NULL, alphasort);
        if (entry_count >= 0) {
            good = replay_folder(arguments[i], entries, entry_count, &file_count) && good;
        } else {
            good = replay_file(arguments[i]) && good;
            file_count++;
        }
    }
    printf("%zu inputs\n", file_count);
    return good && file_count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
