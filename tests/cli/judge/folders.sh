# SPDX-License-Identifier: GPL-3.0-or-later
# Folders of serving benchmarks' files (made from the documented fields): every run counts; one deployment at a time.
cd "$SCRATCH" || exit 1
mkdir base variant mixed
one() {
    printf '{"max_concurrency": %s, "output_throughput": %s, "mean_tpot_ms": 20, "median_tpot_ms": 20, "mean_itl_ms": 20, "median_itl_ms": 20, "mean_ttft_ms": 100, "duration": 60, "completed": 100, "total_input_tokens": %s, "total_output_tokens": 20000, "request_rate": "inf", "backend": "vllm", "model_id": "m", "num_prompts": 100, "burstiness": 1.0}\n' "$1" "$2" "${3-100000}"
}
one 8 400 > base/c8.json
one 8 404 > base/c8-again.json
one 32 1000 > base/c32.json
one 8 440 > variant/c8.json
one 8 444 > variant/c8-again.json
one 32 1300 > variant/c32.json
one 8 400 > mixed/short.json
one 8 300 2000000 > mixed/long.json
"$OCCAM" judge base variant --claim raises
echo "exit $?"
"$OCCAM" judge base mixed
"$OCCAM" judge base ./base/
