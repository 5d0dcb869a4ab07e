# SPDX-License-Identifier: GPL-3.0-or-later
# The same plan in both forms; what cannot run is said with the resource.
cd "$SCRATCH" || exit 1
cat > plan.yaml <<'P'
title: both forms
measure:
  - kernel: sparse_decode
    settings: {block_t: [16, 48, 64], block_h: 64, num_stages: {from: 2, to: 4, step: 2}, concurrency: 1, tokens: 64}
  - kernel: launch_chain
    settings: {ctas: {from: 1, to: 8, times: 2}}
reference:
  - kernel: launch_chain
P
cat > plan.plan <<'P'
sparse_decode block_t=16,48,64 block_h=64 num_stages=2,4 concurrency=1 tokens=64
launch_chain ctas=1..8*2
reference launch_chain
P
"$OCCAM" measure plan.yaml --dry-run --format csv > yaml.csv
"$OCCAM" measure plan.plan --dry-run --format csv > plain.csv
cmp yaml.csv plain.csv && cat yaml.csv
"$OCCAM" measure plan.yaml --dry-run --arch sm_120 | tail -1
"$OCCAM" measure occam-gemm-tile -s block_m=64 -s block_n=64 -s num_warps=4 -s warps_m=2 -s m=128 --dry-run | tail -1
"$OCCAM" measure launch_chain -s launches=1..100 -s ctas=1..100 -s threads=32..256 --dry-run | tail -1
