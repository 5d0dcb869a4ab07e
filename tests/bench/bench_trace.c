/* SPDX-License-Identifier: GPL-3.0-or-later
 * bench_trace [FOLDER [MIB]]: writes profiler traces of MIB (default 2048) with made-up events in Kineto's layout,
 * reads them, and sets time and memory against a bare scan of the same bytes. Every reading is a process of its own;
 * times are those of the processor, the best of three rounds. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "base/random.h"
#include "evidence/byte_stream.h"
#include "evidence/profiles/profile_readers.h"

enum {
    BLOCK_BYTES = 256 << 10,
    ROUNDS = 3,
    KERNEL_NAMES = 300,
    KERNELS_PER_100 = 12 /* events; about what eager PyTorch gives with one CPU operator, launch and arrow a kernel */
};

/* --- writing -------------------------------------------------------------------------------------------------------
 */

struct writer {
    gzFile gz;
    FILE *plain;
    struct random_stream random;
    unsigned long long bytes, events, kernels;
    double clock_us;
};

static void put(struct writer *self, const char *text, int length)
{
    if (self->gz != NULL) {
        (void)gzwrite(self->gz, text, (unsigned)length);
    } else {
        (void)fwrite(text, 1, (size_t)length, self->plain);
    }
    self->bytes += (unsigned)length;
}

static void put_kernel(struct writer *self)
{
    char text[4096];
    unsigned which = random_below(&self->random, KERNEL_NAMES), warps = 1U << (which % 4);
    double blocks = 1U << (which % 13);
    int length = snprintf(
        text, sizeof text,
        "  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void at::native::vectorized_elementwise_kernel<%u, "
        "at::native::(anonymous namespace)::functor_%u<float>, std::array<char*, 2ul> >(int, "
        "at::native::(anonymous namespace)::functor_%u<float>, std::array<char*, 2ul>)\", \"pid\": 0, \"tid\": 7,\n"
        "    \"ts\": %.3f, \"dur\": %.3f,\n    \"args\": {\n"
        "      \"External id\": %llu,\"queued\": 0, \"device\": 0, \"context\": 1,\n"
        "      \"stream\": 7, \"correlation\": %llu,\n      \"registers per thread\": %u,\n"
        "      \"shared memory\": %u,\n      \"blocks per SM\": %f,\n      \"warps per SM\": %f,\n"
        "      \"grid\": [%.0f, 1, 1],\n      \"block\": [%u, 1, 1],\n      \"est. achieved occupancy %%\": %u\n    }\n"
        "  },\n",
        warps, which, which, self->clock_us, 2 + 100 * random_uniform(&self->random), self->events, self->events,
        16 + which % 200, which * 128, blocks / 132, blocks * warps / 132, blocks, 32 * warps, which % 100);
    put(self, text, length);
    self->kernels++;
}

static void put_other(struct writer *self, unsigned which)
{
    static const char *const categories[] = {"cpu_op", "python_function", "cuda_runtime", "user_annotation"};
    char text[1024];
    int length;
    if (which % 5 == 4) {
        length = snprintf(text, sizeof text,
                          "  {\n    \"ph\": \"s\", \"id\": %llu, \"pid\": 1637, \"tid\": 1637, \"ts\": %.3f,\n"
                          "    \"cat\": \"ac2g\", \"name\": \"ac2g\"\n  },\n",
                          self->events, self->clock_us);
    } else {
        length = snprintf(
            text, sizeof text,
            "  {\n    \"ph\": \"X\", \"cat\": \"%s\", \"name\": \"torch/nn/modules/module.py(%u): _call_impl\", "
            "\"pid\": 1637, \"tid\": 1637,\n    \"ts\": %.3f, \"dur\": %.3f,\n    \"args\": {\n"
            "      \"External id\": %llu,\"Record function id\": 0, \"Ev Idx\": %llu%s\n    }\n  },\n",
            categories[which % 5], which, self->clock_us, 10 * random_uniform(&self->random), self->events,
            self->events,
            which % 3 == 0 ? ", \"Input Dims\": [[4096, 4096], [4096, 128], []], \"Input type\": [\"float\", \"int\"]"
                           : "");
    }
    put(self, text, length);
}

/* One trace; gzip where the name ends in .gz. kernels_per_100 of its events are kernels. */
static struct writer write_trace(const char *path, unsigned long long bytes, unsigned kernels_per_100)
{
    struct writer self = {.clock_us = 5109025690494.072};
    size_t length = strlen(path);
    self.gz = strcmp(path + length - 3, ".gz") == 0 ? gzopen(path, "wb1") : NULL;
    self.plain = self.gz == NULL ? fopen(path, "wb") : NULL;
    if (self.gz == NULL && self.plain == NULL) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    random_init(&self.random, 7, 7);
    static const char head[] =
        "\n  {\n    \"schemaVersion\": 1,\n    \"deviceProperties\": [\n    {\n      \"id\": 0, \"name\": \"NVIDIA "
        "H200\","
        " \"computeMajor\": 9, \"computeMinor\": 0, \"maxThreadsPerMultiprocessor\": 2048, \"numSms\": 132\n    }\n"
        "    ],\n  \"traceEvents\": [\n";
    static const char tail[] = "  {\"ph\": \"i\", \"name\": \"end\"}\n  ],\n  \"traceName\": \"bench\"\n}\n";
    put(&self, head, sizeof head - 1);
    while (self.bytes < bytes) {
        self.events++;
        self.clock_us += 1.25;
        if (random_below(&self.random, 100) < kernels_per_100) {
            put_kernel(&self);
        } else {
            put_other(&self, random_below(&self.random, 1000));
        }
    }
    put(&self, tail, sizeof tail - 1);
    if ((self.gz != NULL ? gzclose(self.gz) != Z_OK : fclose(self.plain) != 0)) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    return self;
}

/* --- readings ------------------------------------------------------------------------------------------------------
 */

static volatile unsigned long long sink;

/* Plain read, and the line feeds counted by memchr. */
static void scan_lines(const char *path)
{
    static char block[BLOCK_BYTES];
    int file = open(path, O_RDONLY);
    unsigned long long lines = 0;
    for (ssize_t got; (got = read(file, block, sizeof block)) > 0;) {
        const char *end = block + got;
        for (const char *at = block; (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++) {
            lines++;
        }
    }
    close(file);
    sink = lines;
}

/* Plain read, and the sum of all bytes one by one. */
static void scan_sum(const char *path)
{
    static unsigned char block[BLOCK_BYTES];
    int file = open(path, O_RDONLY);
    unsigned long long sum = 0;
    for (ssize_t got; (got = read(file, block, sizeof block)) > 0;) {
        for (ssize_t i = 0; i < got; i++) {
            sum += block[i];
        }
    }
    close(file);
    sink = sum;
}

/* zlib alone. */
static void expand_only(const char *path)
{
    static char block[BLOCK_BYTES];
    gzFile file = gzopen(path, "rb");
    unsigned long long bytes = 0;
    (void)gzbuffer(file, BLOCK_BYTES);
    for (int got; (got = gzread(file, block, sizeof block)) > 0;) {
        bytes += (unsigned)got;
    }
    gzclose(file);
    sink = bytes;
}

static void read_trace(const char *path)
{
    struct kernel_claim_list list = {0};
    struct error error = {0};
    if (trace_read(path, &list, &error) != STATUS_OK || list.skipped != 0 || list.remark[0] != '\0') {
        fprintf(stderr, "%s %s %s\n", error.text, list.first_skipped, list.remark);
        exit(EXIT_FAILURE);
    }
    unsigned long long launches = 0;
    for (size_t i = 0; i < list.count; i++) {
        launches += list.items[i].time.count;
    }
    sink = launches;
    kernel_claim_list_release(&list);
}

struct cost {
    double cpu_s, wall_s;
    long peak_kib;
};

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static struct cost cost_of(void (*reading)(const char *), const char *path)
{
    struct cost best = {1e30, 1e30, 0};
    for (int round = 0; round < ROUNDS; round++) {
        struct rusage usage;
        int result = 0;
        double begin = seconds_now();
        pid_t child = fork();
        if (child == 0) {
            reading(path);
            _exit(EXIT_SUCCESS);
        }
        if (child < 0 || wait4(child, &result, 0, &usage) < 0 || result != 0) {
            fprintf(stderr, "a reading of %s failed\n", path);
            exit(EXIT_FAILURE);
        }
        double wall_s = seconds_now() - begin;
        best.wall_s = wall_s < best.wall_s ? wall_s : best.wall_s;
        double cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                       1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
        best.cpu_s = cpu_s < best.cpu_s ? cpu_s : best.cpu_s;
        best.peak_kib = usage.ru_maxrss > best.peak_kib ? usage.ru_maxrss : best.peak_kib;
    }
    return best;
}

/* --- comparisons ---------------------------------------------------------------------------------------------------
 */

static void compare_plain(const char *path, unsigned long long bytes, unsigned kernels_per_100)
{
    struct writer made = write_trace(path, bytes, kernels_per_100);
    struct cost lines = cost_of(scan_lines, path), sum = cost_of(scan_sum, path), trace = cost_of(read_trace, path);
    double gb = 1e-9 * (double)made.bytes;
    printf("trace of %.2f GB, %llu events, %llu kernels: %.2f GB/s, %.1f MB of memory (limit 200 MB)\n", gb,
           made.events, made.kernels, gb / trace.cpu_s, (double)trace.peak_kib * 1024 / 1e6);
    printf("  bare scans: line feeds by memchr %.2f GB/s, the reader is at %.2f of it (limit 0.25); "
           "sum of bytes %.2f GB/s, at %.2f of it\n",
           gb / lines.cpu_s, lines.cpu_s / trace.cpu_s, gb / sum.cpu_s, sum.cpu_s / trace.cpu_s);
    (void)unlink(path);
}

static void compare_gzip(const char *path, unsigned long long bytes)
{
    struct writer made = write_trace(path, bytes, KERNELS_PER_100);
    struct cost expand = cost_of(expand_only, path), trace = cost_of(read_trace, path);
    double gb = 1e-9 * (double)made.bytes;
    printf("the same as gzip, %.2f GB expanded: %.2f GB/s by the clock, at %.2f of zlib alone (%.2f GB/s); "
           "of the processor's time at %.2f; %.1f MB of memory\n",
           gb, gb / trace.wall_s, expand.wall_s / trace.wall_s, gb / expand.wall_s, expand.cpu_s / trace.cpu_s,
           (double)trace.peak_kib * 1024 / 1e6);
    (void)unlink(path);
}

int main(int count, char **arguments)
{
    const char *folder = count > 1 ? arguments[1] : "/tmp";
    unsigned long long bytes = (count > 2 ? strtoull(arguments[2], NULL, 10) : 2048) << 20;
    char path[512];
    (void)snprintf(path, sizeof path, "%s/occam-bench-%ld.json", folder, (long)getpid());
    setvbuf(stdout, NULL, _IOLBF, 0);
    compare_plain(path, bytes, KERNELS_PER_100);
    compare_plain(path, bytes / 8, 100);
    (void)snprintf(path, sizeof path, "%s/occam-bench-%ld.json.gz", folder, (long)getpid());
    compare_gzip(path, bytes / 4);
    return EXIT_SUCCESS;
}
