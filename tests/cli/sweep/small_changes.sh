# SPDX-License-Identifier: GPL-3.0-or-later
# A kernel that DRAM bounds: gains of less than a hundredth of a percent are 0, in the table and in the report; the full figure
# stays in csv. No layers: the report speaks of a run.
cat > "$SCRATCH/add.yaml" << 'YAML'
name: add
device: h100-sxm5
knobs: {threads: [128, 256, 512]}
base: {threads: 256}
workload: {n: 1073741824}
kernels:
  add:
    grid: n / (threads * 8)
    threads: threads
    registers: 24
    smem_bytes: 0
    loop: {iterations: 1, stream: {rows: 2, row_bytes: 16 * threads}}
    epilogue_bytes: 16 * threads
YAML
"$OCCAM" sweep "$SCRATCH/add.yaml" | sed -n '/^rank/,/^ *3/p' | awk 'NR > 1 {print $3, $7}'
"$OCCAM" sweep "$SCRATCH/add.yaml" --format csv | grep -c 'e-0'
"$OCCAM" report "$SCRATCH/add.yaml" --output "$SCRATCH/add.md"
sed -n '/^How long/p; /^\*\*/p; /^- Base/p; /^- The best/p' "$SCRATCH/add.md"
