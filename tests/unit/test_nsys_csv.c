/* SPDX-License-Identifier: GPL-3.0-or-later
 * Nsight Systems as CSV. No real export is at hand: the tables here are made from the documented columns, with values
 * of published samples where one is named. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text_buffer.h"
#include "evidence/profiles/launch_groups.h"
#include "evidence/profiles/profile_readers.h"
#include "tests/support/assert_close.h"
#include "tests/support/claims.h"

#define TRACE_HEADER                                                                                                   \
    "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),"      \
    "Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name\n"

static struct kernel_claim_list list;

static void read_text(const char *text)
{
    claims_must_read_text(nsys_csv_read, "trace.csv", text, strlen(text), &list);
}

static void release(void)
{
    kernel_claim_list_release(&list);
}

/* The public case: DymSMem 0.214 on a B200, grid 148, 256 threads, 36 registers. */
START_TEST(shared_memory_is_an_interval)
{
    read_text(TRACE_HEADER "43769847,75200,1312,148,1,1,256,1,1,36,0.000,0.214,,,,,NVIDIA B200 (0),1,,7,sparse_mqa\n");
    ck_assert_uint_eq(list.count, 1);
    const struct kernel_claim *claim = &list.items[0];
    assert_interval(claim, CLAIM_DYNAMIC_SMEM, 213500, 224920);
    assert_interval(claim, CLAIM_STATIC_SMEM, 0, 525);
    assert_interval(claim, CLAIM_LAUNCH_SMEM, 213500, 225445);
    assert_figure(claim, CLAIM_REGISTERS, 36);
    assert_figure(claim, CLAIM_THREADS, 256);
    assert_figure(claim, CLAIM_GRID, 148);
    ck_assert_str_eq(claim->name, "sparse_mqa");
    ck_assert_str_eq(claim->device, "NVIDIA B200");
    ck_assert_uint_eq(claim->time.count, 1);
    ck_assert(!claim->time.is_profiled);
    assert_close_rel(claim->time.median_us, 75.2, TOL_ROUNDING);
    release();
}
END_TEST

/* A6000 sample: preamble, Device in quotes, copies between the launches, MBps, and equal launches as one. */
START_TEST(preamble_copies_and_groups)
{
    read_text("Generating '/tmp/report.sqlite'\n[1/1] Executing 'cuda_gpu_trace' stats report\n\n"
              "NOTICE: a comma, and a \" quote\n ** CUDA GPU Trace (cuda_gpu_trace):\n"
              "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),"
              "Bytes (MB),Throughput (MBps),SrcMemKd,DstMemKd,Device,Ctx,Strm,Name\r\n"
              "1719000000,41280,1201,512,1,1,256,1,1,104,0.048,0.033,,,,,\"NVIDIA RTX A6000, x (0)\",1,7,"
              "\"void scan<int, 4>(int)\"\r\n"
              "1719010000,1000,1202,,,,,,,,,,4.194,24000,Pageable,Device,\"NVIDIA RTX A6000, x (0)\",1,7,"
              "[CUDA memcpy Host-to-Device]\r\n"
              "1719050000,43520,1204,512,1,1,256,1,1,104,0.048,0.033,,,,,\"NVIDIA RTX A6000, x (0)\",1,7,"
              "\"void scan<int, 4>(int)\"\r\n"
              "1719100000,3200,1209,108,1,1,128,1,1,56,0.000,0.064,,,,,\"NVIDIA RTX A6000, x (0)\",1,7,flat\r\n");
    ck_assert_uint_eq(list.count, 2);
    ck_assert_uint_eq(list.skipped, 0);
    ck_assert_str_eq(list.items[0].name, "void scan<int, 4>(int)");
    ck_assert_str_eq(list.items[0].device, "NVIDIA RTX A6000, x");
    assert_interval(&list.items[0], CLAIM_STATIC_SMEM, 47500, 50856);
    ck_assert_uint_eq(list.items[0].time.count, 2);
    assert_close_rel(list.items[0].time.median_us, 42.4, TOL_ROUNDING);
    assert_close_rel(list.items[0].time.last_us, 43.52, TOL_ROUNDING);
    ck_assert_uint_eq(list.items[1].time.count, 1);
    release();
}
END_TEST

/* Units can be chosen; bytes are exact. The last form is that of the query before it is formatted. */
START_TEST(other_units)
{
    static const char *const headers[] = {
        "Start (s),Duration (us),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (B),DymSMem "
        "(B),Device,Strm,Name\n",
        "Start(sec),Duration(usec),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (bytes),DymSMem (bytes),Device,"
        "Strm,Name\n",
        "Start:ts_s,Duration:dur_us,CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/"
        "Trd,StcSMem:mem_B,DymSMem:mem_B,Device,Strm,"
        "Name\n"};
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        char text[1024];
        snprintf(text, sizeof text, "%s0.5,75.25,1,4,2,1,64,2,1,40,16,49152,GPU,7,k\n", headers[i]);
        read_text(text);
        ck_assert_uint_eq(list.count, 1);
        assert_figure(&list.items[0], CLAIM_STATIC_SMEM, 16);
        assert_figure(&list.items[0], CLAIM_DYNAMIC_SMEM, 49152);
        assert_figure(&list.items[0], CLAIM_LAUNCH_SMEM, 49168);
        assert_close_rel(list.items[0].time.median_us, 75.25, TOL_ROUNDING);
        release();
    }
}
END_TEST

START_TEST(summary_and_tables_of_other_things)
{
    read_text(" ** CUDA API Summary (cuda_api_sum):\nTime (%),Total Time (ns),Num Calls,Avg (ns),Name\n"
              "90,1000,1,1000.0,cudaLaunchKernel\n\n ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):\n"
              "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
              "75.0,600000,3,200000.0,190000.0,150000,260000,55677.6,\"void k<a, b>()\"\n"
              "25.0,200000,1,200000.0,200000.0,200000,200000,0.0,j\n\n"
              "Processing [x.sqlite] with [cuda_gpu_mem_time_sum.py]...\n"
              "Time (%),Total Time (ns),Count,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Operation\n"
              "100.0,500,5,100.0,100.0,100,100,0.0,[CUDA memcpy Host-to-Device]\n");
    ck_assert_uint_eq(list.count, 2);
    ck_assert_uint_eq(list.skipped, 0);
    const struct claim_time *time = &list.items[0].time;
    ck_assert_str_eq(list.items[0].name, "void k<a, b>()");
    ck_assert_uint_eq(time->count, 3);
    assert_close_rel(time->mean_us, 200.0, TOL_ROUNDING);
    assert_close_rel(time->median_us, 190.0, TOL_ROUNDING);
    assert_close_rel(time->minimum_us, 150.0, TOL_ROUNDING);
    assert_close_rel(time->maximum_us, 260.0, TOL_ROUNDING);
    assert_close_rel(time->deviation_us, 55.6776, TOL_ROUNDING);
    ck_assert(isnan(time->last_us));
    assert_unknown(&list.items[0], CLAIM_REGISTERS);
    release();
}
END_TEST

START_TEST(summary_of_old_versions_and_with_sizes)
{
    read_text("Time(%),Total Time (us),Instances,Average,Minimum,Maximum,GridXYZ,BlockXYZ,Name\n"
              "100.0,24.0,2,12.0,10.5,13.5,  148    2    1, 256    1    1,k\n");
    ck_assert_uint_eq(list.count, 1);
    assert_close_rel(list.items[0].time.mean_us, 12.0, TOL_ROUNDING);
    ck_assert(isnan(list.items[0].time.median_us));
    assert_figure(&list.items[0], CLAIM_GRID, 296);
    assert_figure(&list.items[0], CLAIM_THREADS, 256);
    release();
}
END_TEST

/* sqlite3 -csv -header: the query of the documentation, then the table alone, whose names are numbers. */
START_TEST(rows_of_the_export)
{
    read_text("name,start,end,deviceId,streamId,demangledName,shortName,registersPerThread,gridX,gridY,gridZ,blockX,"
              "blockY,blockZ,staticSharedMemory,dynamicSharedMemory,sharedMemoryExecuted,clusterX,clusterY,clusterZ\n"
              "\"void k<int, 2>()\",1000,76200,0,7,12,13,255,96,2,2,128,1,1,0,80000,102400,2,1,1\n"
              "\"void k<int, 2>()\",100000,174000,0,7,12,13,255,96,2,2,128,1,1,0,80000,102400,2,1,1\n"
              "late,9,5,0,7,12,13,255,96,2,2,128,1,1,0,80000,102400,,,\n");
    ck_assert_uint_eq(list.count, 1);
    ck_assert_uint_eq(list.skipped, 1);
    ck_assert_msg(strstr(list.first_skipped, ":4: an end before its start") != NULL, "%s", list.first_skipped);
    const struct kernel_claim *claim = &list.items[0];
    ck_assert_str_eq(claim->name, "void k<int, 2>()");
    assert_figure(claim, CLAIM_REGISTERS, 255);
    assert_figure(claim, CLAIM_DYNAMIC_SMEM, 80000);
    assert_figure(claim, CLAIM_STATIC_SMEM, 0);
    assert_figure(claim, CLAIM_LAUNCH_SMEM, 80000);
    assert_figure(claim, CLAIM_SMEM_CONFIG, 102400);
    assert_figure(claim, CLAIM_CLUSTER, 2);
    ck_assert_uint_eq(claim->time.count, 2);
    assert_close_rel(claim->time.mean_us, 74.6, TOL_ROUNDING);
    release();
    read_text("start,end,demangledName,registersPerThread\n0,1000,12,40\n");
    ck_assert_str_eq(list.items[0].name, "");
    assert_figure(&list.items[0], CLAIM_REGISTERS, 40);
    assert_unknown(&list.items[0], CLAIM_GRID);
    release();
}
END_TEST

START_TEST(wrong_rows_are_counted)
{
    read_text(TRACE_HEADER "1,x,1,148,1,1,256,1,1,36,0,0,,,,,G (0),1,,7,a\n"
                           "1,10,1,0,1,1,256,1,1,36,0,0,,,,,G (0),1,,7,b\n"
                           "1,10,1,-1,1,1,256,1,1,36,0,0,,,,,G (0),1,,7,c\n"
                           "1,10,1,4294967296,1,1,256,1,1,36,0,0,,,,,G (0),1,,7,d\n"
                           "1,10,1\n"
                           "1,10,1,1,1,1,256,1,1,36,0,0,,,,,G (0),1,,7,\"good\"\n"
                           "1,10,1,1,1,1,256,1,1,36,0,0,,,,,G (0),1,,7,\"op\xc3\n");
    ck_assert_uint_eq(list.count, 1);
    ck_assert_str_eq(list.items[0].name, "good");
    ck_assert_uint_eq(list.skipped, 6);
    ck_assert_msg(strstr(list.first_skipped, ":2: a launch without duration") != NULL, "%s", list.first_skipped);
    release();
}
END_TEST

START_TEST(no_table)
{
    static const char *const texts[] = {
        "", "a,b\n1,2\n", "Time (%),Total Time (ns),Num Calls,Avg (ns),Name\n1,2,3,4,x\n", "GrdX,GrdY\n1,2\n"};
    struct error error;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        ck_assert_int_eq(claims_read_status(nsys_csv_read, "x.csv", texts[i], strlen(texts[i]), &error),
                         STATUS_BAD_DATA);
        ck_assert_msg(strstr(error.text, "no table of GPU kernels") != NULL, "%s", error.text);
    }
}
END_TEST

/* More launches than times are kept: mean and ends stay exact, the median comes from a sample. */
START_TEST(median_of_very_many)
{
    struct text_buffer text = {0};
    enum {
        LAUNCHES = 20001
    };
    text_buffer_append(&text, "Start (ns),Duration (ns),GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Name\n");
    for (int i = 0; i < LAUNCHES; i++) {
        text_buffer_append_format(&text, "%d,%d,1,1,1,32,1,1,k\n", i, 1000 + (i * 7919) % LAUNCHES);
    }
    read_text(text.text);
    ck_assert_uint_eq(list.count, 1);
    const struct claim_time *time = &list.items[0].time;
    ck_assert_uint_eq(time->count, LAUNCHES);
    assert_close_rel(time->mean_us, 11.0, 1e-12);
    assert_close_rel(time->minimum_us, 1.0, TOL_ROUNDING);
    assert_close_rel(time->maximum_us, 21.0, TOL_ROUNDING);
    assert_close_rel(time->deviation_us, sqrt((double)LAUNCHES * (LAUNCHES + 1.0) / 12.0) * 1e-3, 1e-9);
    assert_close_rel(time->median_us, 11.0, 0.05); /* of 4,096: standard error 1.5 % */
    text_buffer_release(&text);
    release();
}
END_TEST

/* Very many different launches: the rest is counted, not kept. */
START_TEST(groups_are_bounded)
{
    struct launch_groups *groups = NULL;
    struct error error = {0};
    list = (struct kernel_claim_list){0};
    ck_assert_int_eq(launch_groups_create(&list, CLAIM_SOURCE_NSYS_TABLE, "x", &groups, &error), STATUS_OK);
    for (uint32_t i = 0; i < LAUNCH_GROUPS_MAX + 3; i++) {
        struct launch launch = {.name = "k", .name_length = 1, .device = "", .grid = {i + 1, 1, 1}, .time_us = NAN};
        size_t index;
        bool is_new;
        if (launch_groups_add(groups, &launch, &index, &is_new, &error) != STATUS_OK ||
            is_new != (i < LAUNCH_GROUPS_MAX) || (index == SIZE_MAX) != (i >= LAUNCH_GROUPS_MAX)) {
            ck_abort_msg("launch %u", i);
        }
    }
    launch_groups_finish(groups, false);
    ck_assert_uint_eq(list.count, LAUNCH_GROUPS_MAX);
    ck_assert_uint_eq(list.skipped, 3);
    ck_assert_msg(strstr(list.first_skipped, "more than 262144 different launches") != NULL, "%s", list.first_skipped);
    ck_assert_uint_eq(list.items[5].time.count, 0);
    release();
}
END_TEST

Suite *suite_nsys_csv(void)
{
    Suite *suite = suite_create("nsys_csv");
    TCase *tcase = tcase_create("tables");
    tcase_add_test(tcase, shared_memory_is_an_interval);
    tcase_add_test(tcase, preamble_copies_and_groups);
    tcase_add_test(tcase, other_units);
    tcase_add_test(tcase, summary_and_tables_of_other_things);
    tcase_add_test(tcase, summary_of_old_versions_and_with_sizes);
    tcase_add_test(tcase, rows_of_the_export);
    tcase_add_test(tcase, wrong_rows_are_counted);
    tcase_add_test(tcase, no_table);
    tcase_add_test(tcase, median_of_very_many);
    tcase_add_test(tcase, groups_are_bounded);
    suite_add_tcase(suite, tcase);
    return suite;
}
