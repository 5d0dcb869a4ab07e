# SPDX-License-Identifier: GPL-3.0-or-later
# Straight from result files of serving benchmarks (made from the documented fields); judging twice keeps it once.
cd "$SCRATCH" || exit 1
one() {
    printf '{"max_concurrency": %s, "output_throughput": %s, "mean_tpot_ms": 20, "median_tpot_ms": 20, "mean_itl_ms": 20, "median_itl_ms": 20, "mean_ttft_ms": 100, "duration": 60, "completed": 100, "total_input_tokens": 100000, "total_output_tokens": 20000, "request_rate": "inf", "backend": "vllm", "model_id": "m", "num_prompts": 100, "burstiness": 1.0}\n' "$1" "$2"
}
one 8 400 > base.json
one 8 440 > variant.json
"$OCCAM" judge base.json variant.json --claim raises
echo "exit $?"
export OCCAM_LEDGER=$SCRATCH/l.sqlite
"$OCCAM" hypothesis "num_warps=8 is faster" --scenario dsv4-flash-sparse-decode --change num_warps=8 --concurrency 8 > hypothesis.txt
"$OCCAM" judge base.json variant.json --hypothesis 1 > first.txt
"$OCCAM" judge base.json variant.json --hypothesis 1 > second.txt
diff first.txt second.txt
"$OCCAM" ledger export --table run --format csv | wc -l
