# SPDX-License-Identifier: GPL-3.0-or-later
# Rows that are no run of the space are counted by why; wrong ones are refused wherever they stand; where none is left,
# what would take them is said.
rows=$PWD/data/measurements/nvidia-h200
cd "$SCRATCH" || exit 1
propose() { "$OCCAM" propose occam-gqa-decode "$@"; }
{
    echo block_n,num_warps,num_stages,group,max_registers,splits,batch,time_us
    echo 64,4,2,8,0,4,16,73
    echo 64,4,2,3,0,4,16,70
    echo 64,4,2,8,0,4,8,70
    echo 64,4,2,8,0,4,1,70
    echo 64,4,2,8,64,4,16,70
    echo 256,4,4,8,0,4,16,70
    echo 32,4,2,8,0,4,16,90
    echo 128,4,2,8,0,53,16,90
} > mixed.csv
vary="--vary block_n,num_warps,num_stages,group,splits --where block_n!=32"
propose $vary --measured mixed.csv --batch 1 | head -n 2
propose $vary --measured mixed.csv --batch 1 --format json | grep -A 6 -E '"(infeasible|left_out)"'
# values that no run has, in rows of another workload
for bad in -5 nan 9us 1e300 1e-300; do
    { cat mixed.csv; echo "64,4,2,8,0,4,1,$bad"; } > bad.csv
    propose --measured bad.csv
    echo "exit $?"
done
# other GPUs, other units, twice the same
propose --measured "$rows/gqa_decode.csv" --device geforce-rtx-3090 2>&1 | sed 's|.*/||'
awk -F, -v OFS=, 'NR > 1 && $14 != "" { $14 = $14 / 1000 } 1' "$rows/gqa_decode.csv" > milli.csv
propose --measured milli.csv
echo "exit $?"
awk -F, -v OFS=, 'NR > 1 && $14 != "" { $14 = $14 * 50 } 1' "$rows/gqa_decode.csv" > slow.csv
propose --measured slow.csv > out
echo "exit $?"
printf 'num_warps,time_ms\n4,0.073\n8,0.08\n' > named.csv
propose --vary num_warps --measured named.csv --batch 1 | head -n 2
propose --measured mixed.csv --measured ./mixed.csv
echo "exit $?"
# columns concurrency and max_concurrency are the scenario's C
for name in concurrency max_concurrency; do
    printf "num_warps,$name,tok_s\n4,96,845\n8,96,785\n4,8,281\n" > load.csv
    "$OCCAM" propose dsv4-flash-sparse-decode --objective throughput@C=96 --vary num_warps --measured load.csv | head -n 3
done
# none is left: the cure
xgemm() { "$OCCAM" propose cltune-xgemm --device nvidia-h200 --measured sgemm.csv --vary MWG,NWG,KWG "$@"; }
head -n 3 "$rows/tiled_sgemm.csv" | cut -d, -f1-14,17- > sgemm.csv
"$OCCAM" propose cltune-xgemm --device nvidia-h200 --measured sgemm.csv
xgemm
xgemm -s m=2048 -s n=2048 -s k=2048
# nothing is left: why
propose --where '1/0 > 1'
propose --where 'smem_bytes < 1'
propose -s batch=0
"$OCCAM" propose occam-gqa-decode --objective throughput@C=96
echo "exit $?"
"$OCCAM" propose dsv4-flash-sparse-decode --objective throughput@C=96.5
echo "exit $?"
# costs of nothing; learning is no gain
propose --compile-cost 0s --repeats 1 --batch 1 --format json | sed -n 's/^  "cost_s": \(.*\),/\1/p' | awk '{ print ($1 < 0.001) }'
propose --objective learn --batch 1 | grep -c 'P(best)  variance %'
propose --level 0.9 --help | grep -c 'default 0.8'
