# SPDX-License-Identifier: GPL-3.0-or-later
# A time that falls is a speed that rises; what is denied, contradictory or of something else is asked for.
cd "$SCRATCH" || exit 1
export OCCAM_LEDGER=$SCRATCH/l.sqlite
say() {
    statement=$1
    shift
    "$OCCAM" hypothesis "$statement" --scenario dsv4-flash-sparse-decode --change num_warps=8 --concurrency 8 "$@" > out 2> err
    echo "exit $?: $(sed -n 's/ of dsv4.*//; s/^  "//; s/": num_warps=8/ =>/p' out)$(sed 's/^occam: hypothesis: //' err)"
}
while read -r statement; do
    say "$statement"
done << 'END'
num_warps=8 lowers latency
num_warps=8 lowers the throughput
num_warps=8 reduces step time
num_warps=8 raises the step time
num_warps=8 increases kernel time
num_warps=8 cuts ITL by 3 ms
num_warps=8 improves TPOT
TTFT is higher
num_warps=8 is faster than num_warps=4
num_warps=4 is slower than num_warps=8
num_warps=8 does not raise throughput
num_warps=8 is not faster
num_warps=8 is no longer slower
it won't lower latency
num_warps=8 raises throughput without raising latency
num_warps=8 raises throughput at higher latency
num_warps=8 raises occupancy
num_warps=8 raises the hit rate
END
echo "-- --claim"
say "num_warps=8 lowers TPOT" --claim lowers
say "num_warps=8 lowers TPOT" --claim raises
say "num_warps=8 lowers TTFT" --claim changes
say "num_warps=8 is not faster" --claim raises
say "num_warps=8 is not faster" --claim lowers
say "num_warps=8 raises throughput at higher latency" --claim raises
say "num_warps=8 raises the hit rate" --claim sideways
