/* SPDX-License-Identifier: GPL-3.0-or-later
 * The table of evidence, and how each kind is told from the others. */
#include "evidence/claims/evidence_kind.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/claims/evidence_head.h"
#include "evidence/claims/measurement_table.h"
#include "evidence/code/compiler_log.h"
#include "evidence/code/cubin_file.h"
#include "evidence/code/resource_usage_text.h"
#include "evidence/profiles/profile_readers.h"

/* --- binary files --------------------------------------------------------------------------------------------------
 */

static bool begins_with(const struct evidence_head *head, const char *bytes, size_t length)
{
    return head->length >= length && memcmp(head->bytes, bytes, length) == 0;
}

static uint32_t little_endian(const struct evidence_head *head, size_t offset, size_t bytes)
{
    uint32_t value = 0;
    for (size_t i = 0; i < bytes && offset + i < head->length; i++) {
        value |= (uint32_t)(unsigned char)head->bytes[offset + i] << (8 * i);
    }
    return value;
}

static bool is_elf_of(const struct evidence_head *head, bool is_cuda)
{
    return cubin_is_elf(head->bytes, head->length) && head->length >= 20 &&
           (little_endian(head, 18, 2) == 190) == is_cuda; /* EM_CUDA */
}

static bool is_cubin(const struct evidence_head *head)
{
    return is_elf_of(head, true);
}

static bool is_other_elf(const struct evidence_head *head)
{
    return is_elf_of(head, false);
}

static bool is_fatbin(const struct evidence_head *head)
{
    const uint32_t magic = little_endian(head, 0, 4);
    return head->length >= 4 && (magic == 0x466243b1u || magic == 0xba55ed50u);
}

static bool is_sqlite(const struct evidence_head *head)
{
    return begins_with(head, "SQLite format 3", 16);
}

static bool has_ending(const struct evidence_head *head, const char *ending)
{
    const size_t length = strlen(head->path), tail = strlen(ending);
    return length > tail && strcmp(head->path + length - tail, ending) == 0;
}

/* The container's first bytes are not documented: seen, and the name besides. */
static bool is_ncu_report(const struct evidence_head *head)
{
    return begins_with(head, "NVR\0", 4) || (has_ending(head, ".ncu-rep") && !head->is_json);
}

static bool is_nsys_report(const struct evidence_head *head)
{
    return has_ending(head, ".nsys-rep") || has_ending(head, ".qdrep");
}

static bool is_archive(const struct evidence_head *head)
{
    return begins_with(head, "PK\x03\x04", 4) || begins_with(head, "\x28\xb5\x2f\xfd", 4) ||
           begins_with(head, "BZh", 3) ||
           begins_with(head,
                       "\xfd"
                       "7zXZ",
                       5) ||
           (head->length > 262 && memcmp(head->bytes + 257, "ustar", 5) == 0);
}

/* --- JSON ----------------------------------------------------------------------------------------------------------
 */

static bool has(const struct evidence_head *head, const char *text)
{
    return evidence_has_key(head, 1, text);
}

static bool is_triton_kernel(const struct evidence_head *head)
{
    return head->is_json && !head->is_packed && has(head, "shared") && has(head, "num_warps");
}

static bool is_triton_group(const struct evidence_head *head)
{
    return head->is_json && has(head, "child_paths");
}

static bool is_autotune_file(const struct evidence_head *head)
{
    return head->is_json && has(head, "configs_timings");
}

static bool is_trace(const struct evidence_head *head)
{
    const bool has_events = has(head, "ph") && has(head, "name") && (has(head, "ts") || has(head, "pid"));
    return head->is_json && (has(head, "traceEvents") || has(head, "deviceProperties") || has_events);
}

static bool is_tuner_result(const struct evidence_head *head)
{
    const bool is_kernel_tuner = has(head, "tune_params_keys") || (has(head, "kernel_name") && has(head, "cache"));
    const bool is_t4 =
        has(head, "results") && (has(head, "schema_version") || evidence_has_key(head, 2, "invalidity") ||
                                 evidence_has_key(head, 2, "configuration"));
    const bool is_ktt = has(head, "Results") && (has(head, "Metadata") || evidence_has_key(head, 2, "KernelName"));
    return head->is_json && (is_kernel_tuner || is_t4 || is_ktt);
}

static bool is_inductor_config(const struct evidence_head *head)
{
    return head->is_json && has(head, "num_warps") &&
           (has(head, "configs_hash") || has(head, "found_by_coordesc") || has(head, "triton_cache_hash"));
}

static bool is_moe_config(const struct evidence_head *head)
{
    return head->is_json && evidence_keys_are_numbers(head, 1) && evidence_has_key(head, 2, "BLOCK_SIZE_M");
}

/* --- tables and logs -----------------------------------------------------------------------------------------------
 */

static bool line_has(const char *line, size_t length, const char *word)
{
    const size_t wanted = strlen(word);
    for (size_t i = 0; i + wanted <= length; i++) {
        if (memcmp(line + i, word, wanted) == 0) {
            return true;
        }
    }
    return false;
}

/* A line that holds all of the words (up to four, NULL ends them). */
static bool has_any_line(const struct evidence_head *head, const char *const words[4])
{
    const char *text = head->bytes, *end = head->bytes + head->length, *line;
    size_t length;
    while (evidence_next_line(&text, end, &line, &length)) {
        size_t found = 0;
        while (found < 4 && words[found] != NULL && line_has(line, length, words[found])) {
            found++;
        }
        if (found == 4 || words[found] == NULL) {
            return true;
        }
    }
    return false;
}

static bool has_line(const struct evidence_head *head, const char *const words[4])
{
    return !head->is_json && has_any_line(head, words);
}

static bool is_ncu_table(const struct evidence_head *head)
{
    return has_line(head, (const char *const[4]){"\"ID\",", "\"Kernel Name\"", NULL, NULL});
}

/* A launch and a section: either alone stands in other texts too. "[9] app@127.0.0.1" may begin it, like JSON. */
static bool is_ncu_text(const struct evidence_head *head)
{
    return has_any_line(head, (const char *const[4]){", Context ", ", Stream ", NULL, NULL}) &&
           has_any_line(head, (const char *const[4]){"Section: ", NULL, NULL, NULL});
}

static bool is_nsys_table(const struct evidence_head *head)
{
    return has_line(head, (const char *const[4]){"GrdX", "BlkX", "Name", NULL}) ||
           has_line(head, (const char *const[4]){"Total Time (", "Instances", "Name", NULL}) ||
           has_line(head, (const char *const[4]){"registersPerThread", "gridX", "blockX", NULL});
}

static bool is_autotune_log(const struct evidence_head *head)
{
    return has_line(head, (const char *const[4]){"Triton autotuning for function", NULL, NULL, NULL}) ||
           has_line(head, (const char *const[4]){"Autotuning kernel ", " with config", NULL, NULL}) ||
           has_line(head, (const char *const[4]){"Required", "Hardware limit", NULL, NULL}) ||
           has_line(head, (const char *const[4]){"OutOfResources", NULL, NULL, NULL}) ||
           has_line(head, (const char *const[4]){"AUTOTUNE ", "(", NULL, NULL});
}

static bool is_compiler_text(const struct evidence_head *head)
{
    return !head->is_json && !head->is_packed &&
           (resource_usage_text_is_one(head->bytes, head->length) || compiler_log_is_one(head->bytes, head->length));
}

static bool is_listing(const struct evidence_head *head)
{
    const char *text = head->bytes;
    const bool is_ptx = strstr(text, ".version") != NULL && strstr(text, ".target") != NULL;
    const bool is_sass = strstr(text, "/*0000*/") != NULL || strstr(text, "Function : ") != NULL;
    return !head->is_json && !head->is_packed && (is_ptx || is_sass);
}

/* Where the keys do not tell, the reader does: it names what it knows. */
static bool is_serving(const struct evidence_head *head)
{
    static const char *const json_keys[] = {
        "output_throughput",       "max_concurrency", "request_throughput",    "benchmarks", "input_config",
        "output_token_throughput", "tput_per_gpu",    "median_decode_latency", "avg_ts",     "n_gen",
        "request_goodput:",        "prefill_latency", "output_tput_per_gpu"};
    for (size_t i = 0; head->is_json && i < sizeof json_keys / sizeof json_keys[0]; i++) {
        if (has(head, json_keys[i])) {
            return true;
        }
    }
    return has_line(head, (const char *const[4]){"avg_ts", "n_gen", NULL, NULL}) ||
           has_line(head, (const char *const[4]){"S_TG t/s", NULL, NULL, NULL}) ||
           has_line(head, (const char *const[4]){"Output Token Throughput", NULL, NULL, NULL}) ||
           has_line(head, (const char *const[4]){"Inter Token Latency", NULL, NULL, NULL});
}

/* The header, behind comment lines, has a column of times. */
static bool is_measurement_table(const struct evidence_head *head)
{
    static const char *const names[] = {"time_us", "time_ms", "time_ns", "time_s"};
    const char *text = head->bytes, *end = head->bytes + head->length, *line;
    size_t length;
    while (!head->is_json && !head->is_packed && evidence_next_line(&text, end, &line, &length)) {
        if (length == 0 || *line == '#') {
            continue;
        }
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            const size_t wanted = strlen(names[i]);
            for (size_t at = 0; at + wanted <= length; at++) {
                const bool begins = at == 0 || line[at - 1] == ',';
                const bool ends = at + wanted == length || line[at + wanted] == ',';
                if (begins && ends && memcmp(line + at, names[i], wanted) == 0) {
                    return memchr(line, ',', length) != NULL;
                }
            }
        }
        return false;
    }
    return false;
}

/* --- the table -----------------------------------------------------------------------------------------------------
 * The first that fits is taken. */

static const struct evidence_kind kinds[] = {
    {"cubin", EVIDENCE_CODE, is_cubin, NULL, NULL},
    {"container of several cubins", EVIDENCE_REFUSED, is_fatbin, NULL, "take it apart first: cuobjdump -xelf all FILE"},
    {"program or library", EVIDENCE_REFUSED, is_other_elf, NULL, "take its cubins out first: cuobjdump -xelf all FILE"},
    {"Nsight Compute report", EVIDENCE_REFUSED, is_ncu_report, NULL,
     "export it first: ncu --import FILE --csv --page raw --print-units base > FILE.csv"},
    {"Nsight Systems report", EVIDENCE_REFUSED, is_nsys_report, NULL,
     "export it first: nsys export --type sqlite FILE"},
    {"archive", EVIDENCE_REFUSED, is_archive, NULL, "unpack it first; only gzip of a single file is read packed"},
    {"list of a Triton cache's files", EVIDENCE_IGNORED, is_triton_group, NULL, NULL},
    {"Triton cache entry", EVIDENCE_CODE, is_triton_kernel, NULL, NULL},
    {"compiler's report", EVIDENCE_CODE, is_compiler_text, NULL, NULL},
    {"PTX or SASS listing", EVIDENCE_CODE, is_listing, NULL, NULL},
    {"Nsight Systems export", EVIDENCE_CLAIMS, is_sqlite, nsys_sqlite_read, NULL},
    {"Triton autotune file", EVIDENCE_CLAIMS, is_autotune_file, triton_autotune_file_read, NULL},
    {"profiler trace", EVIDENCE_CLAIMS, is_trace, trace_read, NULL},
    {"tuner's results", EVIDENCE_CLAIMS, is_tuner_result, tuner_results_read, NULL},
    {"MoE kernel configuration", EVIDENCE_CLAIMS, is_moe_config, moe_config_read, NULL},
    {"Nsight Compute table", EVIDENCE_CLAIMS, is_ncu_table, ncu_csv_read, NULL},
    {"Nsight Compute text", EVIDENCE_CLAIMS, is_ncu_text, ncu_text_read, NULL},
    {"Nsight Systems table", EVIDENCE_CLAIMS, is_nsys_table, nsys_csv_read, NULL},
    {"Inductor configuration", EVIDENCE_CLAIMS, is_inductor_config, inductor_config_read, NULL},
    {"autotuning output", EVIDENCE_CLAIMS, is_autotune_log, triton_autotune_log_read, NULL},
    {"measurement table", EVIDENCE_CLAIMS, is_measurement_table, measurement_table_read, NULL},
    {"serving results", EVIDENCE_SERVING, is_serving, NULL, NULL},
};

size_t evidence_kind_count(void)
{
    return sizeof kinds / sizeof kinds[0];
}

const struct evidence_kind *evidence_kind_get(size_t index)
{
    return &kinds[index];
}

static const struct evidence_kind unknown_kind = {"nothing known here", EVIDENCE_UNKNOWN, NULL, NULL, NULL};

static const struct evidence_kind *choose(const struct evidence_head *head, const struct evidence_kind **second)
{
    const struct evidence_kind *first = NULL;
    *second = NULL;
    for (size_t i = 0; i < evidence_kind_count(); i++) {
        if (kinds[i].is_one(head)) {
            /* Only logs are two things at once. */
            if (first != NULL) {
                *second = first->is_one == is_compiler_text && kinds[i].is_one == is_autotune_log ? &kinds[i] : NULL;
                return first;
            }
            first = &kinds[i];
        }
    }
    return first != NULL ? first : &unknown_kind;
}

const struct evidence_kind *evidence_recognise_bytes(const char *path, const char *bytes, size_t length,
                                                     const struct evidence_kind **second)
{
    struct evidence_head head = {.path = path, .bytes = bytes, .length = length, .is_whole = true};
    evidence_head_scan(&head);
    return choose(&head, second);
}

/* A log may say for long what was built before it says what came out. */
static bool may_be_long_log(const struct evidence_head *head, const struct evidence_kind *kind)
{
    return kind->room == EVIDENCE_UNKNOWN && !head->is_whole && !head->is_json &&
           memchr(head->bytes, '\0', head->length) == NULL;
}

static enum status look(const char *path, size_t capacity, bool *is_cut_log, const struct evidence_kind **kind,
                        const struct evidence_kind **second, struct error *error)
{
    struct evidence_head head;
    char *buffer = malloc(capacity + 1);
    if (buffer == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory to look at %s", path);
    }
    enum status status = evidence_head_read(path, buffer, capacity, &head, error);
    if (status == STATUS_OK) {
        *kind = choose(&head, second);
        *is_cut_log = may_be_long_log(&head, *kind);
    }
    free(buffer);
    return status;
}

enum status evidence_recognise(const char *path, const struct evidence_kind **kind, const struct evidence_kind **second,
                               struct error *error)
{
    bool is_cut_log = false;
    *kind = &unknown_kind;
    *second = NULL;
    enum status status = look(path, EVIDENCE_HEAD_BYTES, &is_cut_log, kind, second, error);
    if (status == STATUS_OK && is_cut_log) {
        status = look(path, EVIDENCE_LOG_BYTES, &is_cut_log, kind, second, error);
    }
    return status;
}
