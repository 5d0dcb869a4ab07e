# SPDX-License-Identifier: GPL-3.0-or-later
# A scenario of one's own that says which kernel it describes, with other names than the settings'; and mistakes in it.
cd "$SCRATCH" || exit 1
write() {
    cat > mine.yaml <<P
name: mine
device: nvidia-h200
knobs: {BT: [16, 32], W: [4, 8]}
base: {BT: 16, W: 4}
require:
  - {expr: BT * W < 256, why: "because"}
workload: {C: [1, 2]}
let: {half: C / 2}
kernels:
  k: {grid: C, threads: 32 * W, registers: 32, smem_bytes: 0, loop: {iterations: 1}}
measure: $1
P
}
write '{kernel: sparse_decode, settings: {block_t: BT, num_warps: W, concurrency: 2 * C, tokens: 64}}'
"$OCCAM" measure mine.yaml --dry-run --format csv | cut -d, -f1,2
"$OCCAM" measure mine.yaml -s BT=32 -s C=1,2 --dry-run --format csv | cut -d, -f1
for measure in '{kernel: sparse_decodes}' '{kernel: sparse_decode, settings: {block: BT}}' \
    '{kernel: sparse_decode, settings: {concurrency: half}}' '{kernel: sparse_decode, settings: {block_t: BTT}}' \
    '{kernel: sparse_decode, settings: {block_t: 5 * BT}}' '{settings: {block_t: BT}}' '{kernel: sparse_decode, settings: 3}'; do
    write "$measure"
    "$OCCAM" measure mine.yaml --dry-run
    echo "exit $?"
done
