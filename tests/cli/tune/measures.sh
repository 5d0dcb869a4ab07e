# SPDX-License-Identifier: GPL-3.0-or-later
# Our own kernels are measured as `occam measure` does it; forecast before the run, raw repeats and provenance after it, in
# the ledger; whatever breaks costs one configuration and teaches.
cd "$SCRATCH" || exit 1
OCCAM_LEDGER=$SCRATCH/default.sqlite
export OCCAM_LEDGER
shape="occam-gqa-decode -s batch=1 -s length=256 -s kv_heads=2"
tune() { "$OCCAM" tune $shape --stop-gain 0 --device-backend fake --sample-time 1ms "$@" 2> err; }
tune --runs 4 > out
echo "exit $?"
cat err
grep -c ', forecast ' out
tail -n +2 measurements/gqa_decode.csv | cut -d, -f11 | sort | uniq -c
"$OCCAM" ledger check | sed 's|.*/||' | grep -v "^last seal"
"$OCCAM" ledger export --table run --format json | grep -c '"provenance": "fake device 0000000000000007, driver unknown, .* cold inputs; seal [0-9a-f]\{64\}; gqa_decode block_n='
# as many repeats in the ledger as in the rows of the measurement
tail -n +2 measurements/gqa_decode.csv | sed 's/.*,,*\([0-9.e;-]*;[0-9.e;-]*\),\([0-9.e;-]*\),\([0-9.e;-]*\),1,20.*/\1/' | tr ';' '\n' | wc -l
"$OCCAM" ledger export --table sample --format csv | tail -n +2 | wc -l
# goes on from the ledger alone, with other runs; the rows fit propose
tune --runs 2 | grep -c 'runs from before'
"$OCCAM" ledger export --table run --format csv | tail -n +2 | cut -d, -f7 | sort -u | wc -l
"$OCCAM" propose $shape --measured measurements/gqa_decode.csv --batch 1 --format json | grep '"measured"'
# another workload is another matter
"$OCCAM" tune occam-gqa-decode -s batch=1 -s length=128 -s kv_heads=2 --device-backend fake --sample-time 1ms --runs 1 2> err | grep -c 'from before'
# faults
for fault in crash@2 hang@2 launch-failure@2 wrong@2; do
    tune --runs 3 --output "$fault" --ledger "$fault.sqlite" --fake-fault $fault --config-limit 500ms > out
    echo "$fault exit $?: $(grep -c ', forecast ' out) runs, $(sed -n 's/.*: \(failed\|timeout\) (\([^)]*\)).*/\1: \2/p' out)"
    "$OCCAM" ledger export --table run --format csv --ledger "$fault.sqlite" | tail -n +2 | grep -c -E ',(failed|timeout),'
done
# the budget holds everything since the start
tune --budget 1ms --output none --ledger none.sqlite | sed -n 's/End: //p'
# what cannot be launched here is not proposed
"$OCCAM" tune occam-gqa-decode -s batch=1 -s length=256 --where 'num_warps == 4' --device-backend fake --sample-time 1ms --runs 1 --output few --ledger few.sqlite --format json 2> err | grep -E '"(measured_on|directory|taken_from_before)"'
# mistakes
tune --objective throughput
echo "exit $?"
cat err
tune --unit ms
echo "exit $?"
cat err
"$OCCAM" tune triton-gemm
echo "exit $?"
"$OCCAM" tune occam-gqa-decode --replay rows.csv --output x
echo "exit $?"
tune --fake-fault maybe
echo "exit $?"
cat err
# without a GPU: one line, and no folder is made
CUDA_VISIBLE_DEVICES="" "$OCCAM" tune occam-gqa-decode --output nowhere --budget 1s 2> err
echo "exit $?, $(wc -l < err) line, $(ls -d nowhere 2> /dev/null | wc -l) folders"
# without a compiler: what is neither built in nor cached cannot be had (four stages are built in for no GPU)
"$OCCAM" tune occam-gqa-decode --where 'num_stages == 4' --device-backend fake --nvrtc none --output nowhere 2> err
echo "exit $?, $(ls -d nowhere 2> /dev/null | wc -l) folders"
cat err
"$OCCAM" tune occam-gqa-decode --device-backend fake --nvrtc ./none.so --output nowhere 2> err
echo "exit $?, $(ls -d nowhere 2> /dev/null | wc -l) folders"
cat err
