# SPDX-License-Identifier: GPL-3.0-or-later
# Keys are a promise; figures may differ in the last digits between builds, so none is compared here.
rows=$SCRATCH/rows.csv
{
    echo block_n,num_warps,num_stages,group,splits,time_us,outcome
    echo 64,4,2,8,4,73.2,ok
    echo 64,4,2,8,4,73.6,ok
    echo 128,8,3,8,1,64.2,ok
    echo 16,2,2,8,8,,failed
    echo 64,4,2,8,4,,frozen
    echo 64,4,2,3,4,70,ok
} > "$rows"
"$OCCAM" propose occam-gqa-decode --measured "$rows" --batch 3 --format json > "$SCRATCH/answer"
echo "exit $?"
sed -n 's/^ *"\([a-z_]*\)":.*/\1/p' "$SCRATCH/answer" | sort -u | tr '\n' ' '
echo
sed -n '/"measured"\|"failed"\|"left_out"\|"best_config"/p' "$SCRATCH/answer"
grep -c '"rank"' "$SCRATCH/answer"
"$OCCAM" propose occam-gqa-decode --measured "$rows" --batch 3 --format csv | head -n 1
# nothing that was run is proposed; the best is listed for another run
"$OCCAM" propose occam-gqa-decode --measured "$rows" --batch 40 --budget 20s | grep -c 'block_n=64 num_warps=4 num_stages=2 group=8 splits=4 '
"$OCCAM" propose occam-gqa-decode --measured "$rows" | grep -c '^Again, .*block_n=128 num_warps=8 num_stages=3 group=8 splits=1 (expected'
"$OCCAM" propose dsv4-flash-sparse-decode --objective throughput@C=96 --batch 2 --format csv | head -n 1
"$OCCAM" propose occam-gqa-decode --objective learn --batch 2 --format json | grep -c '"gain_percent": [0-9]'
