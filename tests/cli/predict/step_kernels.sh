# SPDX-License-Identifier: GPL-3.0-or-later
# The kernels of all layers against the step; a step that is shorter than its bytes allow contradicts itself; and the
# remarks on a launch. Figures of the kernel time are left out: they move with the model.
write_scenario() {
    cat > "$SCRATCH/step.yaml" <<YAML
name: step
device: nvidia-h200
knobs: {depth: [1, 2]}
base: {depth: 1}
workload: {C: [1, 8]}
kernels:
  load:
    grid: 132
    threads: 128
    registers: 64
    static_smem_bytes: 50000
    smem_bytes: 0
    cluster: 2
    loop: {iterations: 1000, stream: {row_bytes: 4096}}
serving:
  fixed_ms: $1
  per_request_ms: 0
  layers: [{count: 4}, {count: 6}]
YAML
}
write_scenario 10
"$OCCAM" predict "$SCRATCH/step.yaml" | grep -E "CONTRA|contradicts|one layer|Remark"
"$OCCAM" predict "$SCRATCH/step.yaml" | sed -n "s/^  step's kernels .* in/kernels in/p" | sed 's/,.*//'
# Ten layers of the same workload take ten times one of them, and the share is that of the step.
"$OCCAM" predict "$SCRATCH/step.yaml" --format json > "$SCRATCH/answer.json"
number() { sed -n "s/^  \"$1\": \([0-9.e-]*\),*/\1/p" "$SCRATCH/answer.json"; }
awk -v sum="$(number step_kernels_ms)" -v one="$(number kernel_time_us)" -v layers="$(number step_layers)" \
    -v step="$(number step_time_ms)" -v share="$(number step_kernels_share_fraction)" 'BEGIN {
    printf "%d layers, sum / (layers x one) %.9g, share x step / sum %.9g\n", layers, sum / (layers * one / 1000), share * step / sum }'
# 132 CTAs x 1000 x 4096 B x 10 layers / 4.8 TB/s = 1.13 ms.
write_scenario 0.5
"$OCCAM" predict "$SCRATCH/step.yaml" | grep -A 1 CONTRA
