/* SPDX-License-Identifier: GPL-3.0-or-later
 * What `occam help simulate` says of the serving simulator. Read by cli/command_texts.h. */
#ifndef OCCAM_CLI_SIMULATE_SERVING_TEXTS_H
#define OCCAM_CLI_SIMULATE_SERVING_TEXTS_H

#define SIMULATE_SERVING_USAGE                                                                                         \
    "simulate serving SCENARIO [--arrivals closed|poisson|gamma|trace] [--concurrency N | --rate R [--cv X] | "        \
    "--trace FILE] [--find max-rate] [--slo LIMITS] [--queue FILE] [-s NAME=VALUE ...] [--format text|json|csv]"
#define SIMULATE_SERVING_HELP                                                                                          \
    "simulate serving runs requests through continuous batching. A step takes what the scenario's step-time law\n"     \
    "(or a changed configuration's prediction, or measured points) says for the requests in it. Times of it:\n"        \
    "  TTFT  from a request's arrival to its first token: waiting and reading the prompt included\n"                   \
    "  ITL   gap between two tokens of one request, all gaps of all requests pooled; k tokens of one step\n"           \
    "        count as k gaps of 1/k of the time since the step before\n"                                               \
    "  TPOT  (E2E - TTFT) / (output tokens - 1), one value per request; none for one token\n"                          \
    "  E2E   from arrival to last token.   wait: from arrival to the first step that works on the request\n"           \
    "Percentiles are the smallest value that so many percent do not exceed. Goodput counts requests that each\n"       \
    "keep every limit of --slo: TTFT, TPOT, E2E and wait within the limit whatever the statistic; of its ITLs at\n"    \
    "most 1 in 100 over it for itl_p99; for itl_mean its TPOT within it.\n"
#define SIMULATE_SERVING_OPTIONS_HELP                                                                                  \
    "  --arrivals KIND       closed: a new request as soon as one ends; poisson; gamma; trace. Default: what\n"        \
    "                        --rate, --cv or --trace asks for, else closed\n"                                          \
    "  --concurrency N       closed: requests in the system (default: the scenario's)\n"                               \
    "  --rate R, --cv X      mean arrivals per second; gamma: standard deviation of the gaps / their mean\n"           \
    "  --requests N          how many arrive (default 10000)\n"                                                        \
    "  --input-tokens N, --output-tokens N   mean lengths (default 1000)\n"                                            \
    "  --lengths KIND        fixed (default), uniform (1 to 2 N - 1) or geometric, of both\n"                          \
    "  --trace FILE          arrival, prompt and output tokens of each request: CSV or JSON lines, layouts in\n"       \
    "                        docs/DATA.md; with --arrivals closed only its lengths count\n"                            \
    "  --skip-bad            leave out and count lines of the trace that are wrong\n"                                  \
    "  --speed X             play the trace X times as fast\n"                                                         \
    "  --step SOURCE         law (default), or measured: straight lines through the measured points\n"                 \
    "  --measured FILE       measured points in place of the scenario's, as for occam curve\n"                         \
    "  --prefill-us-per-token X   what each prompt token adds to its step (default 0)\n"                               \
    "  --context-ns-per-token X   what each KV entry of the batch adds to a step, beyond --context-reference N\n"      \
    "                        entries per request, which the law already holds (defaults 0)\n"                          \
    "  --max-batch N         requests of one step (default 256, or the concurrency if that is more)\n"                 \
    "  --token-budget N      tokens of one step: one per decoding request, the rest chunks of prompts\n"               \
    "  --kv-tokens N, --kv-block N   KV capacity in tokens (default: no limit), given out in blocks (default 1);\n"    \
    "                        when it is full the newest request is preempted and computed again\n"                     \
    "  --captured LIST       batch sizes that steps are padded to, such as 1,2,4,8\n"                                  \
    "  --draft-tokens K, --acceptance P   speculation: K tokens proposed, each kept with probability P if those\n"     \
    "                        before it are; default: the scenario's tokens_per_step\n"                                 \
    "  --slo LIMITS          such as itl_p99=50ms,ttft_p99=2s,tpot_mean=30ms\n"                                        \
    "  --find max-rate       highest arrival rate that keeps the limits, by bisection to --tolerance X (default\n"     \
    "                        0.01: 1 %), the same requests in the same pattern at every rate\n"                        \
    "  --warmup N            the first N requests count in no latency and no goodput\n"                                \
    "  --horizon T           end there: 600s, 10m, 1.5h; else when all requests are done\n"                            \
    "  --queue-limit N       end as soon as more than N requests wait (default 100000): a load whose queue keeps\n"    \
    "                        growing is called unstable, and is not followed for ever\n"                               \
    "  --queue FILE          write waiting and running requests over time as CSV\n"                                    \
    "  --seed N, --seeds N   first seed and number of runs (defaults 1); several give means with intervals\n"
#define SIMULATE_SERVING_EXAMPLES                                                                                      \
    "  occam simulate serving dsv4-flash-sparse-decode --concurrency 96\n"                                             \
    "  occam simulate serving dsv4-flash-sparse-decode --find max-rate --slo itl_p99=50ms,ttft_p99=2s\n"               \
    "  occam simulate serving my-kernel.yaml --trace AzureLLMInferenceTrace_conv.csv --prefill-us-per-token 40\n"

#endif
