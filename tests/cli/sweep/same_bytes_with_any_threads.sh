# SPDX-License-Identifier: GPL-3.0-or-later
for threads in 1 2 3; do
    "$OCCAM" sweep dsv4-flash-sparse-decode --top 50 --threads $threads --objective throughput@C=48 --format json \
        > "$SCRATCH/$threads.json"
done
cmp "$SCRATCH/1.json" "$SCRATCH/2.json" && cmp "$SCRATCH/1.json" "$SCRATCH/3.json" && echo same
