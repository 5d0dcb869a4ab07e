/* SPDX-License-Identifier: GPL-3.0-or-later
 * What a file is by its content, every recorded file read, and hostile folders. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "evidence/claims/evidence_kind.h"
#include "evidence/claims/evidence_read.h"
#include "evidence/claims/evidence_walk.h"
#include "tests/support/temp_dir.h"

Suite *suite_evidence_read(void);

#define CACHE     "tests/recorded/triton-3.6-cache"
#define PROFILERS "tests/recorded/profilers/"

static const char *kind_of(const char *path, const char *bytes, size_t length)
{
    const struct evidence_kind *second;
    return evidence_recognise_bytes(path, bytes, length, &second)->name;
}

START_TEST(recorded_files_are_recognised)
{
    static const struct {
        const char *path, *kind;
    } rows[] = {{PROFILERS "kineto-h200.json", "profiler trace"},
                {PROFILERS "ncu-raw-h200.csv", "Nsight Compute table"},
                {PROFILERS "ncu-details-h200.csv", "Nsight Compute table"},
                {PROFILERS "triton-print-autotuning.txt", "autotuning output"},
                {PROFILERS "ptxas-v.txt", "compiler's report"},
                {PROFILERS "cuobjdump-resource-usage.txt", "compiler's report"},
                {CACHE "/ERQUX52T3WZ36PZHGNKPKQOZWO3GR7LCL2WC6PXPKHCR6GVC3GDQ/matmul_kernel.autotune.json",
                 "Triton autotune file"},
                {CACHE "/S5SMIEUX7XAWR5AMUEUQCW4FF5J4KQCPWYVN3Q2JVSXLAQH2LD5A/gqa_kernel.json", "Triton cache entry"},
                {CACHE "/S5SMIEUX7XAWR5AMUEUQCW4FF5J4KQCPWYVN3Q2JVSXLAQH2LD5A/__grp__gqa_kernel.json",
                 "list of a Triton cache's files"},
                {CACHE "/S5SMIEUX7XAWR5AMUEUQCW4FF5J4KQCPWYVN3Q2JVSXLAQH2LD5A/gqa_kernel.cubin", "cubin"},
                {CACHE "/S5SMIEUX7XAWR5AMUEUQCW4FF5J4KQCPWYVN3Q2JVSXLAQH2LD5A/gqa_kernel.ptx", "PTX or SASS listing"},
                {"tests/recorded/sass/S5SM_gqa_kernel.sass", "PTX or SASS listing"},
                {"tests/recorded/nvcc-13.0/nvrtc-sm_90.log", "compiler's report"},
                {"data/measurements/nvidia-h200/gqa_decode.csv", "measurement table"},
                {"README.md", "nothing known here"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct evidence_kind *kind, *second;
        struct error error = {0};
        ck_assert_msg(evidence_recognise(rows[i].path, &kind, &second, &error) == STATUS_OK, "%s", error.text);
        ck_assert_msg(strcmp(kind->name, rows[i].kind) == 0, "%s is taken for %s", rows[i].path, kind->name);
    }
}
END_TEST

/* Documented forms without a real file here. */
START_TEST(documented_forms_are_recognised)
{
    static const struct {
        const char *text, *kind;
    } rows[] = {
        {"[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1,\"dur\":2,\"args\":{}}", "profiler trace"},
        {"\xef\xbb\xbf {\"schemaVersion\": 1, \"deviceProperties\": [", "profiler trace"},
        {"{\"16\": {\"BLOCK_SIZE_M\": 16, \"num_warps\": 4}, \"32\": {\"BLOCK_SIZE_M\": 32}}",
         "MoE kernel configuration"},
        {"{\"triton_version\": \"3.4\", \"1\": {\"BLOCK_SIZE_M\": 16}}", "MoE kernel configuration"},
        {"{\"device_name\":\"A100\",\"kernel_name\":\"k\",\"tune_params_keys\":[\"x\"],\"cache\":{}}",
         "tuner's results"},
        {"{\"schema_version\":\"1.0.0\",\"results\":[{\"configuration\":{},\"invalidity\":\"correct\"}]}",
         "tuner's results"},
        {"{\"Metadata\":{},\"Results\":[{\"KernelName\":\"k\"}]}", "tuner's results"},
        {"\n ** CUDA GPU Trace (cuda_gpu_trace):\n\nStart (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,"
         "Reg/Trd,StcSMem (MB),DymSMem (MB),Name\n",
         "Nsight Systems table"},
        {"Time (%),Total Time (ns),Instances,Avg (ns),Name\n", "Nsight Systems table"},
        {"==PROF== Connected\n\"ID\",\"Process ID\",\"Process Name\",\"Kernel Name\"\n", "Nsight Compute table"},
        {"  k(int) (4, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 8.0\n    Section: Occupancy\n",
         "Nsight Compute text"},
        {"{\"XBLOCK\": 1, \"num_warps\": 8, \"configs_hash\": \"8a\"}", "Inductor configuration"},
        {"x\nAUTOTUNE mm(8x2048, 2048x3072)\n  mm 0.0160 ms 81.6%\n", "autotuning output"},
        {"triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 147456, Hardware limit: "
         "101376.",
         "autotuning output"},
        {"{\"key\":[1],\"configs_timings\":[[{},[Infinity, Infinity, Infinity]]]}", "Triton autotune file"},
        {"{\"max_concurrency\": 8, \"output_throughput\": 281.0}", "serving results"},
        {"{\"child_paths\": {\"k.json\": \"/elsewhere/X/k.json\"}}", "list of a Triton cache's files"},
        {"NVR", "nothing known here"},
        {"", "nothing known here"},
        {"{", "nothing known here"},
        {"{\"a\": \"\\", "nothing known here"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *kind = kind_of("x", rows[i].text, strlen(rows[i].text));
        ck_assert_msg(strcmp(kind, rows[i].kind) == 0, "row %zu is taken for %s", i, kind);
    }
    ck_assert_str_eq(kind_of("x", "SQLite format 3", 16), "Nsight Systems export");
}
END_TEST

START_TEST(what_has_to_be_exported_is_refused_with_the_way)
{
    static const struct {
        const char *path, *bytes;
        size_t length;
        const char *advice;
    } rows[] = {{"fat", "\xb1\x43\x62\x46 0123456789", 15, "cuobjdump -xelf all"},
                {"fat", "\x50\xed\x55\xba 0123456789", 15, "cuobjdump -xelf all"},
                {"lib.so",
                 "\x7f"
                 "ELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0",
                 20, "cuobjdump -xelf all"},
                {"r.ncu-rep", "NVR\0 0123456789", 15, "--csv --page raw"},
                {"r.nsys-rep", "whatever it is", 14, "nsys export --type sqlite"},
                {"t.zip", "PK\x03\x04 0123456789", 15, "unpack"},
                {"t.zst", "\x28\xb5\x2f\xfd 0123456789", 15, "unpack"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct evidence_kind *second;
        const struct evidence_kind *kind =
            evidence_recognise_bytes(rows[i].path, rows[i].bytes, rows[i].length, &second);
        ck_assert_msg(kind->room == EVIDENCE_REFUSED, "row %zu is taken for %s", i, kind->name);
        ck_assert_msg(strstr(kind->advice, rows[i].advice) != NULL, "row %zu: %s", i, kind->advice);
    }
}
END_TEST

/* A log may hold a compiler's report and a tuner's output. */
START_TEST(a_log_is_two_things)
{
    static const char text[] = "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
                               "ptxas info    : Used 74 registers, used 1 barriers\n"
                               "Autotuning kernel k with config BM: 64, num_warps: 4\n";
    const struct evidence_kind *second;
    const struct evidence_kind *first = evidence_recognise_bytes("x", text, sizeof text - 1, &second);
    ck_assert_str_eq(first->name, "compiler's report");
    ck_assert_ptr_nonnull(second);
    ck_assert_str_eq(second->name, "autotuning output");
}
END_TEST

START_TEST(whole_recorded_folder)
{
    static const char *const paths[] = {"tests/recorded/profilers", CACHE};
    struct evidence evidence = {0};
    struct error error = {0};
    ck_assert_msg(evidence_read(paths, 2, CODE_LISTING_AUTO, &evidence, &error) == STATUS_OK, "%s", error.text);
    ck_assert_uint_ge(evidence.code.count, 11); /* those of the cache, and of two joined reports */
    ck_assert_uint_eq(evidence.code.problem_count + evidence.problem_count, 0);
    ck_assert_uint_eq(evidence.unknown_files, 0);
    ck_assert_uint_eq(evidence.file_count, 5); /* a trace, two tables, a tuner's output and its file */
    for (size_t i = 0; i < evidence.file_count; i++) {
        ck_assert_msg(evidence.files[i].count > 0, "%s says nothing", evidence.files[i].path);
        ck_assert_uint_eq(evidence.files[i].skipped, 0);
    }
    evidence_release(&evidence);
}
END_TEST

START_TEST(hostile_folder)
{
    static const char group[] =
        "{\"child_paths\": {\"k.json\": \"../../../../etc/passwd\", \"k.cubin\": \"/etc/hostname\"}}";
    static const char entry[] = "{\"name\":\"k\",\"shared\":4096,\"num_warps\":4,\"target\":{\"arch\":90}}";
    static const char trace[] = "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1,\"dur\":5,"
                                "\"args\":{\"grid\":[8,1,1],\"block\":[128,1,1],\"registers per thread\":32,"
                                "\"shared memory\":4096}}]}";
    struct temp_dir directory;
    char path[600];
    temp_dir_create(&directory);
    (void)temp_dir_write(&directory, "__grp__k.json", group, sizeof group - 1, path, sizeof path);
    (void)temp_dir_write(&directory, "k.json", entry, sizeof entry - 1, path, sizeof path);
    (void)temp_dir_write(&directory, "trace.json", trace, sizeof trace - 1, path, sizeof path);
    (void)temp_dir_write(&directory, "empty", "", 0, path, sizeof path);
    (void)temp_dir_write(&directory, "zeros", "\0\0\0\0\0\0\0\0", 8, path, sizeof path);
    (void)temp_dir_write(&directory, "cut.gz", "\x1f\x8b\x08\0\0", 5, path, sizeof path);
    ck_assert_int_eq(symlink(directory.path, temp_dir_path(&directory, "circle", path, sizeof path)), 0);
    ck_assert_int_eq(symlink("/etc/hostname", temp_dir_path(&directory, "elsewhere.json", path, sizeof path)), 0);
    ck_assert_int_eq(symlink("gone", temp_dir_path(&directory, "gone.json", path, sizeof path)), 0);
    ck_assert_int_eq(mkfifo(temp_dir_path(&directory, "pipe.json", path, sizeof path), 0600), 0);
    ck_assert_int_eq(mkdir(temp_dir_path(&directory, "tmp.pid_7_x", path, sizeof path), 0700), 0);
    (void)temp_dir_write(&directory, "tmp.pid_7_x/half.json", entry, 20, path, sizeof path);
    struct evidence evidence = {0};
    struct error error = {0};
    const char *const paths[] = {directory.path};
    ck_assert_msg(evidence_read(paths, 1, CODE_LISTING_AUTO, &evidence, &error) == STATUS_OK, "%s", error.text);
    ck_assert_uint_eq(evidence.code.count, 1);
    ck_assert_uint_eq(evidence.claims.count, 1);
    ck_assert_uint_eq(evidence.problem_count + evidence.code.problem_count, 0);
    ck_assert_uint_eq(evidence.unknown_files, 3);
    ck_assert_uint_eq(evidence.skipped_links, 3);
    evidence_release(&evidence);
    temp_dir_remove(&directory);
}
END_TEST

START_TEST(named_by_hand_wrong_files_are_errors)
{
    struct temp_dir directory;
    char pipe_path[600], empty[600], gone[600], torn[600];
    temp_dir_create(&directory);
    ck_assert_int_eq(mkfifo(temp_dir_path(&directory, "pipe", pipe_path, sizeof pipe_path), 0600), 0);
    (void)temp_dir_write(&directory, "empty", "", 0, empty, sizeof empty);
    (void)temp_dir_path(&directory, "gone", gone, sizeof gone);
    (void)temp_dir_write(&directory, "torn.json", "{\"traceEvents\": [{\"ph\": ", 24, torn, sizeof torn);
    const struct {
        const char *path;
        enum status status;
    } rows[] = {{pipe_path, STATUS_BAD_DATA}, {empty, STATUS_BAD_DATA}, {gone, STATUS_MISSING}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct evidence evidence = {0};
        struct error error = {0};
        ck_assert_int_eq(evidence_read(&rows[i].path, 1, CODE_LISTING_AUTO, &evidence, &error), rows[i].status);
        ck_assert_str_eq(error.file, rows[i].path);
        evidence_release(&evidence);
    }
    temp_dir_remove(&directory);
}
END_TEST

START_TEST(unreadable_file_of_a_folder_is_a_problem)
{
    struct temp_dir directory;
    char path[600];
    temp_dir_create(&directory);
    (void)temp_dir_write(&directory, "k.json", "{\"name\":\"k\",\"shared\":1,\"num_warps\":1}", 37, path, sizeof path);
    (void)temp_dir_write(&directory, "t.csv", "x", 1, path, sizeof path);
    ck_assert_int_eq(chmod(path, 0), 0);
    struct evidence evidence = {0};
    struct error error = {0};
    const char *const paths[] = {directory.path};
    ck_assert_msg(evidence_read(paths, 1, CODE_LISTING_AUTO, &evidence, &error) == STATUS_OK, "%s", error.text);
    /* The superuser reads everything. */
    ck_assert_uint_eq(evidence.problem_count, geteuid() == 0 ? 0 : 1);
    ck_assert_uint_eq(evidence.code.count, 1);
    evidence_release(&evidence);
    temp_dir_remove(&directory);
}
END_TEST

START_TEST(folders_of_many_files_have_a_limit)
{
    struct temp_dir directory;
    char path[600], name[32];
    temp_dir_create(&directory);
    for (int i = 0; i < 300; i++) {
        (void)snprintf(name, sizeof name, "%d.txt", i);
        (void)temp_dir_write(&directory, name, "x", 1, path, sizeof path);
    }
    struct evidence_paths paths = {0};
    struct error error = {0};
    ck_assert_int_eq(evidence_walk(directory.path, 6, 300, &paths, &error), STATUS_OK);
    ck_assert_uint_eq(paths.count, 300);
    evidence_paths_release(&paths);
    ck_assert_int_eq(evidence_walk(directory.path, 6, 299, &paths, &error), STATUS_LIMIT);
    ck_assert_ptr_nonnull(strstr(error.text, "299"));
    evidence_paths_release(&paths);
    temp_dir_remove(&directory);
}
END_TEST

Suite *suite_evidence_read(void)
{
    Suite *suite = suite_create("evidence_read");
    TCase *tcase = tcase_create("evidence");
    tcase_add_test(tcase, recorded_files_are_recognised);
    tcase_add_test(tcase, documented_forms_are_recognised);
    tcase_add_test(tcase, what_has_to_be_exported_is_refused_with_the_way);
    tcase_add_test(tcase, a_log_is_two_things);
    tcase_add_test(tcase, whole_recorded_folder);
    tcase_add_test(tcase, hostile_folder);
    tcase_add_test(tcase, named_by_hand_wrong_files_are_errors);
    tcase_add_test(tcase, unreadable_file_of_a_folder_is_a_problem);
    tcase_add_test(tcase, folders_of_many_files_have_a_limit);
    suite_add_tcase(suite, tcase);
    return suite;
}
