/* SPDX-License-Identifier: GPL-3.0-or-later
 * Serving results of every kind. The texts are made from the programs' documented fields, not recorded. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text_buffer.h"
#include "evidence/serving/serving_results.h"
#include "tests/support/assert_close.h"
#include "tests/support/temp_dir.h"

static struct serving_results results;

static void release(void)
{
    serving_results_release(&results);
}

static enum status parse(const char *text, const char *name, struct error *error)
{
    return serving_results_parse(text, strlen(text), name, &results, error);
}

/* The points of a text that reads without an error. */
static const struct serving_result *must_parse(const char *text, const char *name, size_t count)
{
    struct error error = {0};
    ck_assert_msg(parse(text, name, &error) == STATUS_OK, "%s", error.text);
    ck_assert_uint_eq(results.count, count);
    return results.items;
}

static void assert_says(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) != NULL, "\"%s\" does not say \"%s\"", text, part);
}

/* --- vllm bench serve ----------------------------------------------------------------------------------------------
 */

#define VLLM_HEAD                                                                                                      \
    "{\"date\": \"20260301-120000\", \"backend\": \"vllm\", \"model_id\": \"m/one\", \"num_prompts\": 640, "           \
    "\"request_rate\": \"inf\", \"burstiness\": 1.0, \"duration\": 100.0, \"completed\": 640, \"failed\": 0, "         \
    "\"total_input_tokens\": 655360, \"total_output_tokens\": 655360, \"request_goodput:\": null, "

#define VLLM_TAIL                                                                                                      \
    "\"output_throughput\": 6553.6, \"total_token_throughput\": 13107.2, \"mean_ttft_ms\": 200.0, "                    \
    "\"median_ttft_ms\": 150.0, \"p99_ttft_ms\": 900.0, \"mean_tpot_ms\": 9.5, \"median_tpot_ms\": 9.4, "              \
    "\"p99_tpot_ms\": 11.0, \"mean_itl_ms\": 9.5, \"median_itl_ms\": 9.0, \"p99_itl_ms\": 30.0}"

START_TEST(vllm_takes_the_median_gap)
{
    const struct serving_result *point = must_parse(VLLM_HEAD "\"max_concurrency\": 64, " VLLM_TAIL, "r.json", 1);
    ck_assert_int_eq(point->kind, SERVING_RESULT_VLLM_SERVE);
    ck_assert_str_eq(point->file, "r.json");
    ck_assert_uint_eq(point->line, 0);
    ck_assert_str_eq(point->label, "m/one");
    assert_close_rel(point->concurrency, 64.0, 1e-12);
    ck_assert(isinf(point->request_rate));
    assert_close_rel(point->step_time_ms, 9.0, 1e-12);
    ck_assert_str_eq(point->step_source, "median ITL");
    /* Little's law takes the mean time per token. */
    assert_close_rel(point->running, 6553.6 * 9.5e-3, 1e-12);
    assert_close_rel(point->input_tokens, 1024.0, 1e-12);
    assert_close_rel(point->ttft_p99_ms, 900.0, 1e-12);
    assert_close_rel(point->duration_s, 100.0, 1e-12);
    ck_assert_str_eq(point->note, "");
    release();
}
END_TEST

START_TEST(vllm_without_a_limit_of_concurrency)
{
    const struct serving_result *point = must_parse(VLLM_HEAD "\"max_concurrency\": null, " VLLM_TAIL, "r.json", 1);
    ck_assert(isnan(point->concurrency));
    assert_close_rel(point->running, 62.2592, 1e-9);
    assert_says(point->note, "the batch that ran stands for it");
    release();
}
END_TEST

START_TEST(vllm_arrays_and_lines)
{
    static const char one[] = VLLM_HEAD "\"max_concurrency\": 64, " VLLM_TAIL;
    char text[4 * sizeof one];
    snprintf(text, sizeof text, "[%s,\n%s, 7]", one, one);
    must_parse(text, "r.json", 2);
    ck_assert_uint_eq(results.skipped, 1);
    assert_says(results.first_skipped, "no object");
    release();
    /* --append-result writes one line a run; a broken line costs that run alone. */
    snprintf(text, sizeof text, "%s\n{\"output_throughput\": \n%s\n", one, one);
    must_parse(text, "r.json", 2);
    ck_assert_uint_eq(results.items[1].line, 3);
    ck_assert_uint_eq(results.skipped, 1);
    assert_says(results.first_skipped, "r.json:2");
    release();
    /* Pretty-printed objects one after the other. */
    snprintf(text, sizeof text, "{\n\"a\":1\n}\n%s", one);
    must_parse(text, "r.json", 1);
    release();
}
END_TEST

START_TEST(details_of_single_requests_are_passed_over)
{
    struct text_buffer text = {0};
    text_buffer_append(&text, VLLM_HEAD "\"max_concurrency\": 64,\n\"itls\": [");
    for (int i = 0; i < 50000; i++)
        text_buffer_append(&text, "[0.009, 0.0091, {\"]\": \"\\\"[\"}],\n");
    text_buffer_append(&text, "[]], \"generated_texts\": [\"} ] \\\" {\", \"\xff\xfe\"],\n" VLLM_TAIL);
    must_parse(text.text, "r.json", 1);
    assert_close_rel(results.items[0].step_time_ms, 9.0, 1e-12);
    text_buffer_release(&text);
    release();
}
END_TEST

START_TEST(chunks_are_not_tokens)
{
    /* SGLang with a stream interval of ten: the gap between chunks is ten steps long. */
    const struct serving_result *point =
        must_parse("{\"backend\": \"sglang\", \"max_concurrency\": 16, \"request_rate\": Infinity, \"duration\": 60.0, "
                   "\"completed\": 160, \"total_input_tokens\": 163840, \"total_output_tokens\": 163840, "
                   "\"output_throughput\": 880.0, \"total_throughput\": 1760.0, \"mean_e2e_latency_ms\": 18000.0, "
                   "\"mean_ttft_ms\": 100.0, \"mean_tpot_ms\": 17.8, \"median_tpot_ms\": 17.7, "
                   "\"mean_itl_ms\": 177.5, \"median_itl_ms\": 170.0, \"accept_length\": null, "
                   "\"server_info\": {\"model_path\": \"d/r1\"}}\n",
                   "out.jsonl", 1);
    ck_assert_int_eq(point->kind, SERVING_RESULT_SGLANG_SERVING);
    ck_assert_str_eq(point->label, "d/r1, sglang");
    ck_assert(isinf(point->request_rate));
    assert_close_rel(point->step_time_ms, 17.7, 1e-12);
    ck_assert_str_eq(point->step_source, "median TPOT");
    assert_says(point->note, "chunks are not tokens: about 9.97");
    assert_close_rel(point->running, 880.0 * 17.8e-3, 1e-12);
    release();
}
END_TEST

/* Engines merge a few gaps: up to one and a half tokens in a chunk the gap is still the step (STEP-20). */
START_TEST(half_a_token_more_is_still_a_step)
{
    static const struct {
        double itl_ms, step_ms;
        const char *source;
    } cases[] = {{14.9, 14.0, "median ITL"}, {15.1, 9.5, "median TPOT"}};
    for (size_t i = 0; i < 2; i++) {
        char text[400];
        (void)snprintf(text, sizeof text,
                       "{\"max_concurrency\": 8, \"duration\": 60.0, \"completed\": 160, \"output_throughput\": 800.0, "
                       "\"total_token_throughput\": 1600.0, \"mean_ttft_ms\": 100.0, \"mean_tpot_ms\": 10.0, "
                       "\"median_tpot_ms\": 9.5, \"mean_itl_ms\": %g, \"median_itl_ms\": 14.0}\n",
                       cases[i].itl_ms);
        const struct serving_result *point = must_parse(text, "out.json", 1);
        assert_close_rel(point->step_time_ms, cases[i].step_ms, 1e-12);
        ck_assert_str_eq(point->step_source, cases[i].source);
        release();
    }
}
END_TEST

START_TEST(speculative_decoding_steps_are_longer_than_tokens)
{
    const struct serving_result *point =
        must_parse("{\"max_concurrency\": 4, \"completed\": 40, \"output_throughput\": 950.0, \"mean_e2e_latency_ms\": "
                   "4000, \"mean_tpot_ms\": 4.1, \"median_tpot_ms\": 4.0, \"mean_itl_ms\": 10.3, "
                   "\"median_itl_ms\": 10.1, \"accept_length\": 2.5, \"total_output_tokens\": 40960, "
                   "\"total_input_tokens\": 4096}",
                   "out.jsonl", 1);
    assert_close_rel(point->step_time_ms, 10.0, 1e-12);
    ck_assert_str_eq(point->step_source, "median TPOT x 2.5 tokens accepted per step");
    assert_close_rel(point->running, 950.0 * 4.1e-3, 1e-12);
    ck_assert_ptr_null(strstr(point->note, "chunks"));
    release();
}
END_TEST

START_TEST(mixing_client_limit_and_units_are_told)
{
    static const char form[] = "{\"model_id\": \"m\", \"max_concurrency\": %d, \"completed\": %d, \"failed\": %d, "
                               "\"output_throughput\": %g, \"total_token_throughput\": 1, \"mean_ttft_ms\": %g, "
                               "\"total_input_tokens\": 81920, \"total_output_tokens\": 10240, \"mean_tpot_ms\": %g, "
                               "\"mean_itl_ms\": %g, \"median_itl_ms\": %g}";
    char text[1024];
    snprintf(text, sizeof text, form, 64, 640, 0, 3500.0, 400.0, 18.0, 18.0, 10.0);
    assert_says(must_parse(text, "a", 1)->note, "the mean ITL is 1.8 times the median: prefill");
    release();
    snprintf(text, sizeof text, form, 64, 640, 3, 1500.0, 20.0, 18.0, 18.0, 18.0);
    assert_says(must_parse(text, "a", 1)->note, "27 of 64 requests ran: an admission limit, a slow client");
    assert_says(results.items[0].note, "3 requests failed");
    release();
    /* 27 decode, but with their waiting time the 64 are accounted for. */
    snprintf(text, sizeof text, form, 64, 64, 0, 1500.0, 4000.0, 18.0, 18.0, 18.0);
    assert_says(must_parse(text, "a", 1)->note, "27 of 64 requests were decoding, the others waited");
    assert_says(results.items[0].note, "64 requests at 64 at a time");
    release();
    /* 16 tokens have 15 gaps: at 125 requests/s a latency of 130 + 15 x 18 ms accounts for 50 of 64, one of 140
     * for 51.25; four fifths are 51.2. */
    snprintf(text, sizeof text, form, 64, 640, 0, 2000.0, 130.0, 18.0, 18.0, 18.0);
    assert_says(must_parse(text, "a", 1)->note, "36 of 64 requests ran: an admission limit");
    release();
    snprintf(text, sizeof text, form, 64, 640, 0, 2000.0, 140.0, 18.0, 18.0, 18.0);
    assert_says(must_parse(text, "a", 1)->note, "36 of 64 requests were decoding, the others waited");
    release();
    snprintf(text, sizeof text, form, 45, 640, 0, 4140.0, 20.0, 18.0, 18.0, 18.0);
    assert_says(must_parse(text, "a", 1)->note, "74.52 requests ran where 45 were offered");
    release();
    /* Seconds in place of milliseconds: no batch follows from them. */
    snprintf(text, sizeof text, form, 64, 640, 0, 3500.0, 20.0, 0.018, 0.018, 0.018);
    assert_says(must_parse(text, "a", 1)->note, "0.063 of 64 requests ran: the concurrency, or a unit, is not what");
    ck_assert(isnan(results.items[0].running));
    release();
    /* As few, but they all wait for the first token. */
    snprintf(text, sizeof text, form, 64, 640, 0, 20.0, 48000.0, 18.0, 18.0, 18.0);
    assert_says(must_parse(text, "a", 1)->note, "0.36 of 64 requests were decoding, the others waited");
    assert_close_rel(results.items[0].running, 0.36, 1e-9);
    release();
    /* Long prompts and no gap between chunks: TPOT is too long, and it is said. */
    assert_says(must_parse("{\"max_concurrency\": 8, \"completed\": 80, \"output_throughput\": 400, "
                           "\"mean_tpot_ms\": 18, \"total_input_tokens\": 655360, \"total_output_tokens\": 81920}",
                           "a", 1)
                    ->note,
                "prompts of 8192 tokens for answers of 1024");
    ck_assert_str_eq(results.items[0].step_source, "mean TPOT");
    release();
    /* An acceptance length as vLLM writes it, which cannot be. */
    assert_says(
        must_parse("{\"max_concurrency\": 8, \"completed\": 80, \"output_throughput\": 400, \"mean_tpot_ms\": 18, "
                   "\"spec_decode_acceptance_length\": -2, \"total_token_throughput\": 800}",
                   "a", 1)
            ->note,
        "spec_decode_acceptance_length of -2 is below 0: left out");
    release();
    /* No latency at all: the quotient, and it is said. */
    assert_says(
        must_parse("{\"max_concurrency\": 8, \"output_throughput\": 400, \"total_token_throughput\": 800}", "a", 1)
            ->note,
        "no time per token was measured");
    assert_close_rel(results.items[0].step_time_ms, 20.0, 1e-12);
    release();
}
END_TEST

/* --- SGLang, one batch ---------------------------------------------------------------------------------------------
 */

START_TEST(one_batch_in_process_and_over_a_server)
{
    const struct serving_result *point = must_parse(
        "{\"run_name\": \"b200\", \"batch_size\": 32, \"input_len\": 1024, \"output_len\": 128, \"prefill_latency\": "
        "0.5, \"prefill_throughput\": 65536.0, \"median_decode_latency\": 0.0125, \"median_decode_throughput\": "
        "2560.0, \"total_latency\": 2.1, \"overall_throughput\": 17554.3}\n"
        "{\"run_name\": \"default\", \"batch_size\": 33, \"input_len\": 8192, \"output_len\": 65536, \"latency\": "
        "3998.5722, \"input_throughput\": 3374.0, \"output_throughput\": 551.92, \"overall_throughput\": 608.47, "
        "\"last_ttft\": 80.1232, \"last_gen_throughput\": 66.18, \"acc_length\": -1.0, \"cache_hit_rate\": null}\n"
        "{\"run_name\": \"default\", \"batch_size\": 4, \"output_len\": 1, \"latency\": 1.0, \"last_ttft\": 1.0}\n",
        "result.jsonl", 2);
    ck_assert_int_eq(point[0].kind, SERVING_RESULT_SGLANG_ONE_BATCH);
    ck_assert_str_eq(point[0].label, "b200");
    assert_close_rel(point[0].step_time_ms, 12.5, 1e-12);
    assert_close_rel(point[0].running, 32.0, 1e-12);
    assert_close_rel(point[0].output_tokens_per_s, 2560.0, 1e-12);
    ck_assert_str_eq(point[0].note, "");
    assert_close_rel(point[1].step_time_ms, 1000.0 * (3998.5722 - 80.1232) / 65535.0, 1e-12);
    assert_says(point[1].note, "last_gen_throughput says 66.18");
    ck_assert_str_eq(point[1].label, "");
    ck_assert_uint_eq(results.skipped, 1);
    assert_says(results.first_skipped, "result.jsonl:3: bench_one_batch without decode steps");
    release();
}
END_TEST

/* --- AIPerf and GenAI-Perf -----------------------------------------------------------------------------------------
 */

#define METRIC(name, unit, avg, p50) "\"" name "\": {\"unit\": \"" unit "\", \"avg\": " avg ", \"p50\": " p50 "}, "

START_TEST(aiperf_units_and_chunks)
{
    const struct serving_result *point = must_parse(
        "{\"schema_version\": \"1.1\", " METRIC("inter_token_latency", "ms", "49.7", "49.0")
            METRIC("inter_chunk_latency", "sec", "0.0497", "0.0241") METRIC("time_to_first_token", "ms", "300", "280")
                METRIC("output_token_throughput", "tokens/sec", "321.9", "321.9")
                    METRIC("output_sequence_length", "tokens", "512", "512")
                        METRIC("input_sequence_length", "tokens", "550", "550")
                            METRIC("benchmark_duration", "sec", "40", "40")
                                METRIC("request_count", "requests", "64",
                                       "64") "\"input_config\": {\"endpoint\": {\"model_names\": [\"q/q3\"]}, "
                                             "\"loadgen\": {\"concurrency\": 16}}}",
        "profile_export_aiperf.json", 1);
    ck_assert_int_eq(point->kind, SERVING_RESULT_AIPERF);
    ck_assert_str_eq(point->label, "q/q3");
    assert_close_rel(point->concurrency, 16.0, 1e-12);
    assert_close_rel(point->itl_median_ms, 24.1, 1e-12);
    assert_close_rel(point->step_time_ms, 24.1, 1e-12);
    assert_close_rel(point->running, 321.9 * 49.7e-3, 1e-12);
    assert_says(point->note, "the mean ITL is 2.06 times the median");
    assert_close_rel(point->duration_s, 40.0, 1e-12);
    release();
    struct error error = {0};
    ck_assert_int_eq(parse("{" METRIC("inter_token_latency", "parsecs", "1", "1") "\"a\": 1}", "p.json", &error),
                     STATUS_BAD_DATA);
    assert_says(error.text, "the unit of inter_token_latency is no time");
    ck_assert_uint_eq(results.count, 0);
    release();
}
END_TEST

START_TEST(genai_perf_json_and_csv)
{
    const struct serving_result *point = must_parse(
        "{" METRIC("inter_token_latency", "ms", "12.0", "11.5") METRIC("time_to_first_token", "ms", "50", "48") METRIC(
            "output_token_throughput", "tokens/sec", "1234.5",
            "0") "\"input_config\": {\"model_names\": [\"m\"], \"perf_analyzer\": {\"stimulus\": {\"concurrency\": "
                 "16}}}}",
        "x_genai_perf.json", 1);
    ck_assert_int_eq(point->kind, SERVING_RESULT_GENAI_PERF);
    assert_close_rel(point->concurrency, 16.0, 1e-12);
    assert_close_rel(point->step_time_ms, 11.5, 1e-12);
    ck_assert_str_eq(point->step_source, "median TPOT");
    release();
    point = must_parse("Metric,avg,min,max,p99,p95,p90,p75,p50,p25\r\n"
                       "Time To First Token (ms),50.00,1.00,3.00,2.98,2.90,2.80,2.50,48.00,1.50\r\n"
                       "Inter Token Latency (ms),12.00,10.00,12.00,11.98,11.90,11.80,11.50,11.50,10.50\r\n"
                       "Output Sequence Length,\"1,024.00\",1.00,3.00,2.98,2.90,2.80,2.50,2.00,1.50\r\n"
                       "\r\n"
                       "Metric,Value\r\n"
                       "Output Token Throughput (per sec),\"1,234.50\"\r\n"
                       "Request Count (count),64.00\r\n"
                       "\r\n"
                       "Endpoint,GPU_Index\r\nhttp,0\r\n",
                       "artifacts/m-openai-chat-concurrency16/profile_export_genai_perf.csv", 1);
    ck_assert_int_eq(point->kind, SERVING_RESULT_GENAI_PERF);
    assert_close_rel(point->concurrency, 16.0, 1e-12);
    assert_close_rel(point->output_tokens_per_s, 1234.5, 1e-12);
    assert_close_rel(point->output_tokens, 1024.0, 1e-12);
    assert_close_rel(point->step_time_ms, 11.5, 1e-12);
    assert_says(point->note, "concurrency from the folder's name");
    release();
}
END_TEST

/* --- GuideLLM ------------------------------------------------------------------------------------------------------
 */

#define GUIDE_METRICS                                                                                                  \
    "\"scheduler_metrics\": {\"measure_start_time\": 1000.0, \"measure_end_time\": 1060.0}, \"metrics\": {"            \
    "\"request_totals\": {\"successful\": 80, \"errored\": 2, \"total\": 82}, "                                        \
    "\"request_concurrency\": {\"successful\": {\"mean\": 7.9}}, "                                                     \
    "\"output_tokens_per_second\": {\"successful\": {\"mean\": 400.0}, \"total\": {\"mean\": 999.0}}, "                \
    "\"output_tokens_per_iteration\": {\"successful\": {\"mean\": 3.0}}, "                                             \
    "\"time_per_output_token_ms\": {\"successful\": {\"mean\": 99.0, \"median\": 99.0}}, "                             \
    "\"inter_token_latency_ms\": {\"successful\": {\"mean\": 18.0, \"median\": 17.5, \"percentiles\": {\"p99\": "      \
    "30}}},"                                                                                                           \
    "\"time_to_first_token_ms\": {\"successful\": {\"mean\": 120.0, \"median\": 100.0}}}"

START_TEST(guidellm_both_versions)
{
    const struct serving_result *point = must_parse(
        "{\"metadata\": {\"version\": 2}, \"config\": {}, \"benchmarks\": [\n{\"config\": {\"strategy\": {\"type_\": "
        "\"concurrent\", \"streams\": 8}, \"backend\": {\"model\": \"g\"}}, \"requests\": {\"successful\": [{\"a\": "
        "[1]}]}, " GUIDE_METRICS
        "},\n{\"args\": {\"strategy\": {\"type_\": \"constant\", \"rate\": 2.5}}, " GUIDE_METRICS "}, {\"x\": 1}]}",
        "benchmarks.json", 2);
    ck_assert_int_eq(point[0].kind, SERVING_RESULT_GUIDELLM);
    ck_assert_str_eq(point[0].label, "g");
    assert_close_rel(point[0].concurrency, 8.0, 1e-12);
    assert_close_rel(point[0].step_time_ms, 17.5, 1e-12);
    assert_close_rel(point[0].tpot_p99_ms, 30.0, 1e-12);
    assert_close_rel(point[0].duration_s, 60.0, 1e-12);
    assert_close_rel(point[0].failed, 2.0, 1e-12);
    assert_says(point[0].note, "about 3 of them in each");
    ck_assert(isnan(point[1].concurrency));
    assert_close_rel(point[1].request_rate, 2.5, 1e-12);
    assert_says(point[1].note, "load given as constant: 7.9 requests were in flight");
    ck_assert_uint_eq(results.skipped, 1);
    release();
}
END_TEST

/* --- llama.cpp -----------------------------------------------------------------------------------------------------
 */

START_TEST(llama_bench_forms_agree)
{
    static const char row[] = "{\"build_commit\": \"6eddde06a\", \"gpu_info\": \"RTX\", \"model_type\": \"qwen2 7B\", "
                              "\"type_k\": \"f16\", \"n_prompt\": 0, \"n_gen\": 128, \"n_depth\": 4096, \"avg_ns\": "
                              "1280000000, \"stddev_ns\": 1, \"avg_ts\": 100.0, \"samples_ns\": [1280000000]}";
    static const char prompt[] = "{\"n_prompt\": 512, \"n_gen\": 0, \"avg_ns\": 1000, \"avg_ts\": 5e8}";
    char text[1024];
    snprintf(text, sizeof text, "[\n  %s,\n  %s\n]\n", prompt, row);
    const struct serving_result *point = must_parse(text, "b.json", 1);
    ck_assert_int_eq(point->kind, SERVING_RESULT_LLAMA_BENCH);
    ck_assert_str_eq(point->label, "qwen2 7B, RTX, KV f16, depth 4096");
    assert_close_rel(point->step_time_ms, 10.0, 1e-12);
    assert_close_rel(point->output_tokens_per_s, 100.0, 1e-12);
    assert_close_rel(point->concurrency, 1.0, 1e-12);
    assert_says(results.first_skipped, "prompt processing only");
    release();
    snprintf(text, sizeof text, "%s\n%s\n", row, prompt);
    must_parse(text, "b.jsonl", 1);
    ck_assert_uint_eq(results.items[0].line, 1);
    release();
    point = must_parse("build_commit,gpu_info,model_type,type_k,n_prompt,n_gen,n_depth,avg_ns,stddev_ns,avg_ts\n"
                       "\"6eddde06a\",\"RTX, two\",\"qwen2 7B\",\"f16\",\"512\",\"0\",\"0\",\"1000\",\"1\",\"5e8\"\n"
                       "\"6eddde06a\",\"RTX, two\",\"qwen2 7B\",\"f16\",\"0\",\"128\",\"4096\",\"1280000000\",\"1\","
                       "\"100.0\"\n",
                       "b.csv", 1);
    ck_assert_str_eq(point->label, "qwen2 7B, RTX, two, KV f16, depth 4096");
    assert_close_rel(point->step_time_ms, 10.0, 1e-12);
    ck_assert_uint_eq(point->line, 3);
    release();
}
END_TEST

START_TEST(batched_bench_table_and_lines_agree)
{
    static const char table[] =
        "main: n_kv_max = 16384\n\n"
        "|    PP |     TG |    B |   N_KV |   T_PP s | S_PP t/s |   T_TG s | S_TG t/s |      T s |    S t/s |\n"
        "|-------|--------|------|--------|----------|----------|----------|----------|----------|----------|\n"
        "|   128 |    256 |    1 |    384 |    0.100 |  1280.00 |    2.560 |   100.00 |    2.660 |   144.36 |\n"
        "|   128 |    256 |    8 |   3072 |    0.400 |  2560.00 |    5.120 |   400.00 |    5.520 |   556.52 |\n"
        "|   128 |      0 |    8 |   1024 |    0.400 |  2560.00 |    0.000 |     0.00 |    0.400 |  2560.00 |\n"
        "llama_perf_context_print: done\n";
    const struct serving_result *point = must_parse(table, "log.txt", 2);
    ck_assert_int_eq(point[1].kind, SERVING_RESULT_LLAMA_BATCHED_BENCH);
    assert_close_rel(point[1].step_time_ms, 20.0, 1e-12);
    assert_close_rel(point[1].output_tokens_per_s, 400.0, 1e-12);
    assert_close_rel(point[1].running, 8.0, 1e-12);
    ck_assert_uint_eq(point[1].line, 6);
    ck_assert_uint_eq(results.skipped, 1);
    release();
    point = must_parse("llama_model_loader: loaded\n"
                       "{\"n_kv_max\": 16384, \"n_batch\": 2048, \"pp\": 128, \"tg\": 256, \"pl\": 8, \"n_kv\": 3072, "
                       "\"t_pp\": 0.4, \"speed_pp\": 2560, \"t_tg\": 5.12, \"speed_tg\": 400, \"t\": 5.52, \"speed\": "
                       "556.5}\n\nllama_perf\n",
                       "log.txt", 1);
    assert_close_rel(point->step_time_ms, 20.0, 1e-12);
    assert_close_rel(point->ttft_mean_ms, 400.0, 1e-12);
    release();
}
END_TEST

/* --- InferenceX ----------------------------------------------------------------------------------------------------
 */

#define INFERENCEX                                                                                                     \
    "\"conc\": 64, \"model\": \"o/gpt\", \"framework\": \"vllm\", \"precision\": \"fp4\", \"isl\": 1024, \"osl\": "    \
    "1024, "                                                                                                           \
    "\"mean_ttft\": 0.1, \"mean_tpot\": 0.0152, \"median_tpot\": 0.015, \"mean_itl\": 0.0152, \"median_itl\": "        \
    "0.0149, "

START_TEST(inferencex_is_seconds_and_per_gpu)
{
    const struct serving_result *point =
        must_parse("[{\"hw\": \"h200\", " INFERENCEX "\"tp\": \"8\", \"ep\": 1, \"is_multinode\": \"false\", "
                   "\"disagg\": false, \"spec_decoding\": \"none\", \"tput_per_gpu\": 1000, \"output_tput_per_gpu\": "
                   "500.0}]",
                   "agg_bmk.json", 1);
    ck_assert_int_eq(point->kind, SERVING_RESULT_INFERENCEX);
    ck_assert_str_eq(point->label, "o/gpt, h200, vllm, fp4, tp8, ep1");
    assert_close_rel(point->output_tokens_per_s, 4000.0, 1e-12);
    assert_close_rel(point->gpu_count, 8.0, 1e-12);
    assert_close_rel(point->step_time_ms, 14.9, 1e-12);
    assert_close_rel(point->running, 60.8, 1e-12);
    assert_says(point->note, "throughput per GPU times 8 GPUs; latencies were seconds");
    release();
    /* Prefill and decode on GPUs of their own: older rows divide by the decode GPUs, newer ones by all. */
    static const char old[] = "{" INFERENCEX "\"is_multinode\": true, \"disagg\": true, \"num_prefill_gpu\": 4, "
                              "\"num_decode_gpu\": 8, \"decode_tp\": 8, \"output_tput_per_gpu\": 500.0}";
    assert_close_rel(must_parse(old, "a", 1)->output_tokens_per_s, 4000.0, 1e-12);
    release();
    static const char new[] = "{" INFERENCEX "\"is_multinode\": true, \"disagg\": true, \"num_prefill_gpu\": 4, "
                              "\"num_decode_gpu\": 8, \"output_tput_per_gpu\": 500.0, \"output_tput_per_decode_gpu\": "
                              "750.0}";
    assert_close_rel(must_parse(new, "a", 1)->output_tokens_per_s, 6000.0, 1e-12);
    release();
    const struct serving_result *unsure =
        must_parse("{" INFERENCEX "\"spec_decoding\": \"mtp\", \"output_tput_per_gpu\": 500.0}", "a", 1);
    ck_assert(isnan(unsure->output_tokens_per_s) && isnan(unsure->running));
    assert_says(unsure->note, "does not say how many");
    assert_says(unsure->note, "without its accept length");
    release();
}
END_TEST

/* --- several runs --------------------------------------------------------------------------------------------------
 */

static void add_run(struct text_buffer *text, const char *model, double concurrency, double tok_s, double itl_ms)
{
    text_buffer_append_format(text,
                              "{\"model_id\": \"%s\", \"max_concurrency\": %.17g, \"completed\": 1000, "
                              "\"output_throughput\": %.17g, \"total_token_throughput\": 1, \"mean_ttft_ms\": 10, "
                              "\"mean_tpot_ms\": %.17g, \"mean_itl_ms\": %.17g, \"median_itl_ms\": %.17g}\n",
                              model, concurrency, tok_s, itl_ms, itl_ms, itl_ms);
}

START_TEST(series_are_sorted_and_repeats_kept)
{
    struct text_buffer text = {0};
    struct error error = {0};
    add_run(&text, "b", 16.0, 1428.6, 11.2);
    add_run(&text, "a", 4.0, 300.0, 13.3);
    add_run(&text, "b", 1.0, 74.6, 13.4);
    add_run(&text, "b", 16.0, 1440.0, 11.1);
    add_run(&text, "b", 32.0, 2881.0, 11.15);
    add_run(&text, "b", 64.0, 5762.0, 11.2);
    must_parse(text.text, "runs.jsonl", 6);
    ck_assert_int_eq(serving_results_settle(&results, &error), STATUS_OK);
    ck_assert_uint_eq(results.series_count, 2);
    ck_assert_str_eq(results.items[0].label, "a");
    ck_assert_uint_eq(results.items[1].series, 1);
    assert_close_rel(results.items[1].concurrency, 1.0, 1e-12);
    assert_says(results.items[1].note, "warm-up or compilation");
    assert_close_rel(results.items[2].output_tokens_per_s, 1428.6, 1e-12);
    assert_close_rel(results.items[3].output_tokens_per_s, 1440.0, 1e-12);
    ck_assert_str_eq(results.items[3].note, "");
    /* 90.03 tokens/s per request at 32 and 64. */
    assert_says(results.items[5].note, "a rounded throughput");
    text_buffer_release(&text);
    release();
}
END_TEST

static void write_file(const struct temp_dir *folder, const char *name, const char *text)
{
    char path[1024];
    temp_dir_write(folder, name, text, strlen(text), path, sizeof path);
}

START_TEST(folders_take_each_run_once)
{
    struct temp_dir folder;
    char path[1024];
    struct text_buffer run = {0};
    struct error error = {0};
    temp_dir_create(&folder);
    ck_assert_int_eq(mkdir(temp_dir_path(&folder, "c4", path, sizeof path), 0700), 0);
    add_run(&run, "m", 4.0, 300.0, 13.3);
    write_file(&folder, "run.json", run.text);
    write_file(&folder, "agg_run.json", "{" INFERENCEX "\"tp\": 1, \"output_tput_per_gpu\": 500.0}");
    write_file(&folder, "c4/profile.json", run.text);
    write_file(&folder, "c4/profile.csv", "Metric,avg\nInter Token Latency (ms),5\n");
    write_file(&folder, "c4/inputs.json", "{\"data\": [1, 2]}");
    write_file(&folder, "c4/notes.txt", "nothing");
    /* A folder that holds itself is not entered. */
    ck_assert_int_eq(symlink(folder.path, temp_dir_path(&folder, "loop", path, sizeof path)), 0);
    ck_assert_msg(serving_results_read(folder.path, &results, &error) == STATUS_OK, "%s", error.text);
    ck_assert_uint_eq(results.count, 2);
    ck_assert_uint_eq(results.skipped, 0);
    release();
    ck_assert_int_eq(
        serving_results_read(temp_dir_path(&folder, "c4/inputs.json", path, sizeof path), &results, &error),
        STATUS_BAD_DATA);
    release();
    ck_assert_int_eq(serving_results_read(temp_dir_path(&folder, "none", path, sizeof path), &results, &error),
                     STATUS_MISSING);
    ck_assert_int_eq(unlink(temp_dir_path(&folder, "loop", path, sizeof path)), 0);
    text_buffer_release(&run);
    temp_dir_remove(&folder);
    release();
}
END_TEST

/* --- hostile input -------------------------------------------------------------------------------------------------
 */

START_TEST(what_is_none_of_them_is_an_error)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "none of the known kinds"},
        {"hello\nworld\n", "none of the known kinds"},
        {"{\"a\": 1}", "none of the kinds"},
        {"[1, 2]", "no object"},
        {"[]", "none of the known kinds"},
        {"{\"a\": [1, 2", "the text ends within a value"},
        {"{\"itls\": [1, 2", "the text ends within a value"},
        {"{\"a\": \"x", "the text ends within a value"},
        {"{\n\"a\": 1,\n\"a\": 2\n}", "duplicate"},
        {"{\"a\": \"\xff\"}", "UTF-8"},
        {"{} x", "an object or array is expected"},
        {"Metric,avg\nRequest Latency (ms),5\n", "no token latency"},
        {"n_gen,avg_ns,avg_ts\n1,2\n", "2 field"},
        {"{\"benchmarks\": [{\"metrics\": 5}]}", "without metrics"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error error = {0};
        ck_assert_msg(parse(cases[i].text, "h.json", &error) == STATUS_BAD_DATA, "case %zu", i);
        ck_assert_msg(strstr(error.text, cases[i].says) != NULL, "case %zu: %s", i, error.text);
        ck_assert_uint_eq(results.count, 0);
        release();
    }
}
END_TEST

START_TEST(deep_nesting_is_refused)
{
    char text[2001];
    struct error error = {0};
    memset(text, '[', 2000);
    text[2000] = '\0';
    ck_assert_int_eq(parse(text, "deep.json", &error), STATUS_BAD_DATA);
    assert_says(error.text, "nested too deep");
    release();
}
END_TEST

START_TEST(impossible_numbers_are_unknown)
{
    const struct serving_result *point = must_parse(
        "{\"max_concurrency\": -4, \"completed\": 0, \"output_throughput\": 1e999, \"total_token_throughput\": 5, "
        "\"mean_ttft_ms\": NaN, \"mean_tpot_ms\": -0.0, \"median_itl_ms\": 123456789012345678901234567890, "
        "\"total_output_tokens\": 7, \"request_rate\": -Infinity}",
        "odd.json", 1);
    ck_assert(isnan(point->concurrency) && isnan(point->output_tokens_per_s) && isnan(point->tpot_mean_ms));
    ck_assert(isnan(point->output_tokens) && isnan(point->request_rate) && isnan(point->running));
    release();
}
END_TEST

static void add_tests(TCase *tests)
{
    tcase_add_test(tests, vllm_takes_the_median_gap);
    tcase_add_test(tests, vllm_without_a_limit_of_concurrency);
    tcase_add_test(tests, vllm_arrays_and_lines);
    tcase_add_test(tests, details_of_single_requests_are_passed_over);
    tcase_add_test(tests, chunks_are_not_tokens);
    tcase_add_test(tests, half_a_token_more_is_still_a_step);
    tcase_add_test(tests, speculative_decoding_steps_are_longer_than_tokens);
    tcase_add_test(tests, mixing_client_limit_and_units_are_told);
    tcase_add_test(tests, one_batch_in_process_and_over_a_server);
    tcase_add_test(tests, aiperf_units_and_chunks);
    tcase_add_test(tests, genai_perf_json_and_csv);
    tcase_add_test(tests, guidellm_both_versions);
    tcase_add_test(tests, llama_bench_forms_agree);
    tcase_add_test(tests, batched_bench_table_and_lines_agree);
    tcase_add_test(tests, inferencex_is_seconds_and_per_gpu);
    tcase_add_test(tests, series_are_sorted_and_repeats_kept);
    tcase_add_test(tests, folders_take_each_run_once);
    tcase_add_test(tests, what_is_none_of_them_is_an_error);
    tcase_add_test(tests, deep_nesting_is_refused);
    tcase_add_test(tests, impossible_numbers_are_unknown);
}

Suite *suite_serving_results(void);
Suite *suite_serving_results(void)
{
    Suite *suite = suite_create("serving_results");
    TCase *tests = tcase_create("serving_results");
    add_tests(tests);
    suite_add_tcase(suite, tests);
    return suite;
}
