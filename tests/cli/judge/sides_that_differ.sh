# SPDX-License-Identifier: GPL-3.0-or-later
# What differs besides the change: a column that one file alone has, two programs, two workloads, failed requests, no request
# that was completed, several deployments in one file; a ledger that is a pipe. (Results made from the documented fields.)
cd "$SCRATCH" || exit 1
one() {
    printf '{"max_concurrency": 8, "output_throughput": %s, "mean_tpot_ms": 20, "median_tpot_ms": 20, "mean_itl_ms": 20, "median_itl_ms": 20, "mean_ttft_ms": 100, "duration": 60, "completed": %s, "failed": %s, "total_input_tokens": %s, "total_output_tokens": 24000, "request_rate": "inf", "backend": "vllm", "model_id": "m"}\n' "$@"
}
brief() {
    "$OCCAM" judge "$@" 2>&1 | grep -E '^(occam|Doubt|Left)' || echo "no doubt"
}
one 400 100 0 100000 > base.json
one 404 100 0 102000 > variant.json
one 440 100 0 900000 > longer.json
one 440 100 25 100000 > failed.json
one 0 0 100 0 > none.json
printf '{"schema_version": "1.1", "input_config": {"loadgen": {"concurrency": 8}}, "output_token_throughput": {"unit": "tokens/sec", "avg": 400}, "inter_token_latency": {"unit": "ms", "avg": 20, "p50": 20}, "input_sequence_length": {"unit": "tokens", "avg": 1000}, "output_sequence_length": {"unit": "tokens", "avg": 240}, "request_count": {"unit": "requests", "avg": 100}}\n' > other.json
for conc in 4 4; do
    for hw in h200 b200; do
        printf '{"hw": "%s", "conc": %s, "model": "m", "tp": 8, "isl": 1024, "osl": 1024, "output_tput_per_gpu": 50, "median_tpot": 0.02, "mean_tpot": 0.02},\n' $hw $conc
    done
done | sed '1s/^/[/; $s/,$/]/' > several.json
brief base.json variant.json
brief base.json longer.json
brief base.json failed.json
brief base.json other.json
brief base.json none.json
brief base.json several.json
"$OCCAM" judge base.json other.json --format json | grep doubt
printf 'tok_s\n50\n51\n' > bare.csv
printf 'concurrency,tok_s\n1,50\n8,300\n' > loads.csv
printf 'concurrency,batch,tok_s\n1,1,50\n8,8,300\n' > both.csv
brief bare.csv loads.csv
brief loads.csv bare.csv
brief loads.csv both.csv
mkfifo pipe
timeout 5 "$OCCAM" ledger --ledger pipe
echo "exit $?"
