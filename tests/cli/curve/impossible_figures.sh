# SPDX-License-Identifier: GPL-3.0-or-later
# Runs with a figure that cannot be: the run says so, its batch falls back to what was offered, the others stay as they
# are. Made from the documented fields of vllm bench serve.
cd "$SCRATCH" || exit
# run FOLDER CONCURRENCY OUTPUT_THROUGHPUT DURATION
run() {
    mkdir -p "$1"
    awk -v n="$2" -v rate="$3" -v duration="$4" 'BEGIN {
        t = 18 + n
        if (rate == "") rate = sprintf("%.10g", 995 * n / t)
        printf "{\"model_id\":\"m\",\"max_concurrency\":%d,\"completed\":1000,\"output_throughput\":%s,\"duration\":%s,", n, rate, duration
        printf "\"mean_ttft_ms\":50,\"mean_tpot_ms\":%.10g,\"mean_itl_ms\":%.10g,\"median_itl_ms\":%.10g,\"total_output_tokens\":128000,\"total_input_tokens\":64000}", t, t, t }' > "$1/c$2.json"
}
for figure in -5 '[1,2]' 0 1e300 3000; do
    for n in 1 2 4 16 32; do run "runs$figure" $n "" 100; done
    run "runs$figure" 8 "$figure" 100
    echo "== output_throughput $figure"
    "$OCCAM" curve --measured "runs$figure" --concurrency 32 | grep -E '^ +(8|32) |^- at 8|^Extra|batch that ran'
done
run runs0s 8 "" 0
for n in 1 2 4 16 32; do run runs0s $n "" 100; done
echo "== duration 0"
"$OCCAM" curve --measured runs0s --concurrency 32 | grep '^- at 8'
# What was offered counts as measured where about as many ran; a law through two points has no error.
"$OCCAM" curve --measured runs0s | sed -n '/^requests/,/^Extra/p'
"$OCCAM" curve --measured runs0s/c1.json runs0s/c32.json | sed -n '/^Measured runs/,/^$/p'
