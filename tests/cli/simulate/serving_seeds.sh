# SPDX-License-Identifier: GPL-3.0-or-later
# Means with intervals; the same bytes whatever the number of threads.
question='simulate serving dsv4-flash-sparse-decode --rate 2 --requests 400 --output-tokens 50 --lengths uniform --seeds 6'
"$OCCAM" $question | head -n 7
OMP_NUM_THREADS=1 "$OCCAM" $question --format json > "$SCRATCH/one"
OMP_NUM_THREADS=4 "$OCCAM" $question --format json > "$SCRATCH/four"
cmp "$SCRATCH/one" "$SCRATCH/four" && echo same
