# SPDX-License-Identifier: GPL-3.0-or-later
# Before the first run the scenario's own configuration is listed too, afterwards the best; nothing over the budget is; the
# level of the intervals is named and can be asked for.
rows=data/measurements/nvidia-h200/gqa_decode.csv
propose() { "$OCCAM" propose occam-gqa-decode --vary num_warps,num_stages "$@"; }
count() { grep -c -E '^[0-9]+ ' "$1"; }
propose > "$SCRATCH/first"
grep -c "Also the scenario's own configuration, .*: num_warps=4 num_stages=2 (" "$SCRATCH/first"
count "$SCRATCH/first"
propose -s num_warps=8 | grep -c "own configuration, .*: num_warps=8 num_stages=2 ("
propose --format json | grep -A1 '"again"'
propose --budget 1s | tail -n +2
propose --budget 1s --format json | grep -E '"(cost_s|cheapest_s|proposals|again)"'
propose --budget 4100ms > "$SCRATCH/two"
count "$SCRATCH/two"
grep -c 'Also the' "$SCRATCH/two"
propose --budget 3s > "$SCRATCH/one"
count "$SCRATCH/one"
grep -c 'No room in the budget' "$SCRATCH/one"
propose --measured $rows --budget 3s | grep -c 'Stop rule'
# levels
grep 'meant' "$SCRATCH/first"
propose --level 0.9 | grep 'meant'
narrow=$(propose --batch 1 --format csv | tail -n 1 | cut -d, -f9-11)
wide=$(propose --batch 1 --level 0.95 --format csv | tail -n 1 | cut -d, -f9-11)
echo "$narrow $wide" | tr ' ' ',' | awk -F, '{ print ($1 == $4) " same centre, " ($5 <= $2 && $6 > $3) " wider" }'
propose --format csv | head -n 1 | cut -d, -f9-11
"$OCCAM" tune occam-gqa-decode --replay $rows --runs 2 --level 0.9 --stop-gain 0 | grep -o '(90 % meant to)'
