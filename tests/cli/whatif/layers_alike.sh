# SPDX-License-Identifier: GPL-3.0-or-later
# A group of layers without a workload of its own has nothing to be told by.
cat > "$SCRATCH/step.yaml" << 'YAML'
name: step
device: nvidia-h200
knobs: {threads: [128, 256]}
base: {threads: 256}
workload: {C: [1, 64]}
kernels:
  copy: {grid: 132 * C, threads: threads, registers: 32, smem_bytes: 0, loop: {iterations: 64, stream: {row_bytes: 16 * threads}}}
serving: {concurrency: C, fixed_ms: 9, per_request_ms: 0.1, layers: [{count: 80}]}
YAML
"$OCCAM" whatif "$SCRATCH/step.yaml" -s threads=128 | grep '80 layers' | sed 's/: .*//'
"$OCCAM" predict "$SCRATCH/step.yaml" | grep 'limited by registers\|limited by warps'
