# SPDX-License-Identifier: GPL-3.0-or-later
# Grid, rounds and tail of every target at every concurrency under both rules; the order of the ranking is left out, so
# that this does not move with the time model.
"$OCCAM" sweep dsv4-flash-sparse-decode --vary TARGET_CTAS,split_floor --format csv > "$SCRATCH/all.csv"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
    { print $column["by_value"], $column["knobs.split_floor"], $column["knobs.TARGET_CTAS"], $column["grid_ctas"],
            $column["rounds"], $column["tail_ctas"] }' "$SCRATCH/all.csv" | sort -n -k1,1 -k2,2 -k3,3
