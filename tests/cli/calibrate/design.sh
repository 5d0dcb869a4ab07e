# SPDX-License-Identifier: GPL-3.0-or-later
# What to measure: a plan that measure takes for our kernels, a table for others; and learning from listed rows.
"$OCCAM" calibrate --design 6 --scenario occam-gemm-tile > "$SCRATCH/gemm.plan" || exit
sed 1d "$SCRATCH/gemm.plan" | cut -d ' ' -f 1 | sort | uniq -c
"$OCCAM" measure "$SCRATCH/gemm.plan" --dry-run --device-backend fake > "$SCRATCH/dry" 2>&1
echo "exit $?"
"$OCCAM" calibrate --design 6 --scenario gqa-split-decode --format csv > "$SCRATCH/list.csv" || exit
head -1 "$SCRATCH/list.csv"
sed 1d "$SCRATCH/list.csv" | sort -u | wc -l
data=data/measurements/nvidia-h200/gemm_tile.csv
awk -F, 'NR == 1 || ($14 != 1 && NR % 6 == 0)' $data | cut -d, -f 2-11 | sed 's/,outcome$//' > "$SCRATCH/rows.csv"
"$OCCAM" calibrate $data --scenario occam-gemm-tile --train-rows "$SCRATCH/rows.csv" --format json | sed "s|$SCRATCH/||" |
    grep '"trained_on"\|"rows_chosen"\|"held_out":'
# Three of eight choices are typical rows; --train-rows knows them again, and they widen or narrow intervals.
"$OCCAM" calibrate $data --scenario occam-gemm-tile --design 24 --format json | grep '"trained_on"\|"rows_chosen"'
"$OCCAM" calibrate --design 24 --scenario gqa-split-decode --format csv | cut -d, -f 9 | paste -sd ' '
awk -F, 'NR == 1 { print $0 ",typical"; next } { print $0 "," (NR % 3 == 0) }' "$SCRATCH/rows.csv" > "$SCRATCH/typical.csv"
for rows in rows typical; do
    "$OCCAM" calibrate $data --scenario occam-gemm-tile --train-rows "$SCRATCH/$rows.csv" --format json | grep '"interval_stretch"'
done | sort -u | wc -l
sed 's/,1$/,often/' "$SCRATCH/typical.csv" > "$SCRATCH/wrong.csv"
"$OCCAM" calibrate $data --scenario occam-gemm-tile --train-rows "$SCRATCH/wrong.csv" 2>&1 | sed "s|$SCRATCH/||"
