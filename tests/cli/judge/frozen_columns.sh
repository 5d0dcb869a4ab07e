# SPDX-License-Identifier: GPL-3.0-or-later
# Columns that tell the load under which a prediction was frozen, or the knob that it changes.
cd "$SCRATCH" || exit 1
export OCCAM_LEDGER=$SCRATCH/l.sqlite
try() {
    "$OCCAM" judge "$@" > out 2>&1
    echo "exit $?: $(sed -n 1p out)"
}
echo "-- the load by other names"
"$OCCAM" hypothesis "num_warps=8 lowers throughput" --scenario dsv4-flash-sparse-decode --change num_warps=8 --concurrency 96 > out
for name in max_concurrency users bs; do
    printf '%s,tok_s\n96,845\n' $name > load.csv
    printf '%s,tok_s\n96,785\n' $name > load8.csv
    try load.csv load8.csv --hypothesis 1
    try load.csv load8.csv --hypothesis 1 --by $name
done
printf 'sessions,tok_s\n96,845\n' > load.csv
printf 'sessions,tok_s\n96,785\n' > load8.csv
try load.csv load8.csv --hypothesis 1 --by sessions
printf 'concurrency,num_requests,tok_s\n96,960,845\n' > load.csv
printf 'concurrency,num_requests,tok_s\n96,970,785\n' > load8.csv
try load.csv load8.csv --hypothesis 1
echo "-- no load, and one that was frozen"
printf 'tok_s\n845\n' > bare.csv
printf 'tok_s\n785\n' > bare8.csv
"$OCCAM" judge bare.csv bare8.csv --hypothesis 1
printf 'concurrency,tok_s\n8,845\n' > lone.csv
try lone.csv bare8.csv --hypothesis 1
try bare.csv lone.csv --hypothesis 1
printf '{"max_concurrency": null, "output_throughput": 845, "mean_tpot_ms": 20, "mean_ttft_ms": 100, "duration": 60, "completed": 100, "total_input_tokens": 100000, "total_output_tokens": 20000, "request_rate": "inf", "backend": "vllm", "model_id": "m"}' > null.json
printf '{"max_concurrency": null, "output_throughput": 785, "mean_tpot_ms": 20, "mean_ttft_ms": 100, "duration": 60, "completed": 100, "total_input_tokens": 100000, "total_output_tokens": 20000, "request_rate": "inf", "backend": "vllm", "model_id": "m"}' > null8.json
try null.json null8.json --hypothesis 1
echo "-- the changed knob"
"$OCCAM" hypothesis "splits=8 is faster" --scenario occam-gqa-decode --change splits=8 > out
printf 'splits,time_us\n8,100\n8,101\n' > splits8.csv
printf 'splits,time_us\n4,120\n4,121\n' > splits4.csv
printf 'splits,time_us\n8,100\n16,101\n' > splits16.csv
try splits8.csv splits4.csv --hypothesis 2
try splits4.csv splits16.csv --hypothesis 2
try splits4.csv splits8.csv --hypothesis 2 --revert
try splits4.csv splits8.csv --hypothesis 2
"$OCCAM" ledger export --table run --format csv | cut -d, -f4-6 | tail -n 2
