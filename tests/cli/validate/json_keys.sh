# SPDX-License-Identifier: GPL-3.0-or-later
# Rows that the model itself timed, at two workloads, with a scatter of 5 %.
for batch in 4 16; do
    "$OCCAM" sweep occam-gqa-decode -s batch=$batch --where "splits == 4 || splits == 16" --top 60 --format csv |
        sed "s/^/$batch,/"
done > "$SCRATCH/sweep.csv"
awk -F, -v OFS=, 'NR == 1 { for (i = 2; i <= NF; i++) column[$i] = i; print "block_n,num_warps,num_stages,group,splits,batch,length,time_us"; next }
    { if ($0 ~ /by_value/) next
      print $column["knobs.block_n"], $column["knobs.num_warps"], $column["knobs.num_stages"], $column["knobs.group"],
            $column["knobs.splits"], $1, 4096, $column["kernel_time_us"] * (1 + 0.05 * sin(NR * NR)) }' \
    "$SCRATCH/sweep.csv" > "$SCRATCH/rows.csv"
"$OCCAM" validate "$SCRATCH/rows.csv" --scenario occam-gqa-decode --seeds 3 --format json > "$SCRATCH/answer.json" || exit
sed -n 's/^  "\([a-z0-9_]*\)":.*/\1/p; s/^    "\([a-z_]*\)": {.*/  \1/p' "$SCRATCH/answer.json"
"$OCCAM" validate "$SCRATCH/rows.csv" --scenario occam-gqa-decode --seeds 3 --train 12,24 --no-choice --format csv \
    --predictions "$SCRATCH/predictions.csv" > "$SCRATCH/answer.csv"
head -n 1 "$SCRATCH/answer.csv"
wc -l < "$SCRATCH/answer.csv"
head -n 1 "$SCRATCH/predictions.csv"
# what the model made, it must find again, and a threshold that it cannot meet is an exit code
"$OCCAM" validate "$SCRATCH/rows.csv" --scenario occam-gqa-decode --seeds 3 --no-choice --format csv \
    --require 'median_ape_percent<=6' --require 'spearman>=0.5' > /dev/null
echo "exit $?"
"$OCCAM" validate "$SCRATCH/rows.csv" --scenario occam-gqa-decode --seeds 3 --no-choice --format csv \
    --require 'test_rows>=5000' > /dev/null
echo "exit $?"
