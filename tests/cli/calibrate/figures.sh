# SPDX-License-Identifier: GPL-3.0-or-later
# Figures of a GPU from its microbenchmarks: the table, the keys, a device file that predicts, and mistakes.
folder=data/measurements/nvidia-h200
"$OCCAM" calibrate --figures $folder/latency_chase.csv $folder/launch_chain.csv $folder/barrier_and_exp.csv \
    -o "$SCRATCH/h200-new.csv" > "$SCRATCH/text" || exit
sed "s|$SCRATCH|SCRATCH|g" "$SCRATCH/text"
"$OCCAM" calibrate --figures $folder/mma_tile.csv --device h200 --format json > "$SCRATCH/json" || exit
sed -n 's/^ *"\([a-z_]*\)":.*/\1/p' "$SCRATCH/json" | awk '!seen[$0]++'
grep dram_latency "$SCRATCH/h200-new.csv"
"$OCCAM" devices --device-file "$SCRATCH/h200-new.csv" h200-new | grep 'DRAM latency\|dram_latency'
"$OCCAM" predict stream-copy --device-file "$SCRATCH/h200-new.csv" > /dev/null; echo "exit $?"
try() { "$OCCAM" calibrate --figures "$@" 2>&1; echo "exit $?"; }
try
try $folder/gqa_decode.csv
try $folder/mma_tile.csv --device rtx-4090
try $folder/mma_tile.csv --scenario occam-gemm-tile
try $folder/mma_tile.csv -o /nonexistent/x.csv
try "$SCRATCH/none.csv" | sed "s|$SCRATCH|SCRATCH|g"
