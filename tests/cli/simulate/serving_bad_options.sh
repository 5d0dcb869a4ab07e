# SPDX-License-Identifier: GPL-3.0-or-later
run() {
    "$OCCAM" simulate serving dsv4-flash-sparse-decode "$@"
    echo "exit $?"
}
run --arrivals often
run --arrivals gamma --rate 2
run --arrivals poisson
run --rate 2 --concurrency 4
run --rate 2 --trace x.csv --arrivals poisson
run --slo itl=50ms
run --slo itl_p101=50ms
run --slo latency_p99=50ms
run --slo itl_p99=50
run --find max-rate
run --find everything --rate 2 --slo itl_p99=1s
run --draft-tokens 3
run --captured 4,2
run --lengths long
run --token-budget 10
run --concurrency 8 --requests 4
run --step guess
run --step measured -s num_warps=8
run --concurrency 4 --requests 4 --queue no/such/place.csv
# What would have no effect, and a warm-up that leaves nothing.
run --find min-rate
run --tolerance 0.1
run --kv-block 16
run --context-reference 100
run --level 0.8
run --trace x.csv --input-tokens 5
run --requests 200 --warmup 200
run --kv-tokens 10
mkdir "$SCRATCH/folder" && run --trace "$SCRATCH/folder" 2>&1 | sed "s|$SCRATCH/||"
