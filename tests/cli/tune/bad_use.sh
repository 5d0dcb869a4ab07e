# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" tune triton-gemm
echo "exit $?"
"$OCCAM" tune occam-gqa-decode --run 'echo {warps}'
echo "exit $?"
"$OCCAM" tune occam-gqa-decode --run 'echo {num_warps'
echo "exit $?"
"$OCCAM" tune occam-gqa-decode --run 'exit 3' > "$SCRATCH/failed"
echo "exit $?"
grep -c 'failed (exit code 3)' "$SCRATCH/failed"
"$OCCAM" tune occam-gqa-decode --run 'sleep 9' --config-limit 100ms --runs 1 | grep -c 'timeout (over its time limit)'
"$OCCAM" tune occam-gqa-decode --run 'echo a5 {{7}} 0x10 is no number' --runs 1 | grep -c ': 7 us, forecast'
echo other > "$SCRATCH/record.csv"
cd "$SCRATCH" || exit 1
"$OCCAM" tune occam-gqa-decode --run 'echo 7' --record record.csv
echo "exit $?"
cat record.csv
"$OCCAM" tune occam-gqa-decode --run 'echo 7' --unit minutes
echo "exit $?"
# units: the printed one is converted, a rate is no time, a comma may be either
"$OCCAM" tune occam-gqa-decode --run 'echo took 9ms' --unit us --runs 1 | grep -c ': 9000 us, forecast'
"$OCCAM" tune occam-gqa-decode --run 'echo 12.5 GB/s, 3rd run' --runs 1 > /dev/null
echo "exit $?"
"$OCCAM" tune occam-gqa-decode --run 'echo 1,234 us' --runs 1 | grep -c ': 1234 us, forecast'
"$OCCAM" tune occam-gqa-decode --run 'echo "0.0125 ms (3200.0 GB/s)"' --runs 1 | grep -c ': 12.5 us, forecast'
for said in '12,5 us' '1 234 us' 1,234 'TFLOPS: 312.4'; do
    "$OCCAM" tune occam-gqa-decode --run "echo $said" --runs 1 > /dev/null
    echo "exit $?"
done
