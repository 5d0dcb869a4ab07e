# SPDX-License-Identifier: GPL-3.0-or-later
# Stages that are never filled (SMEM-10), and accumulators that do not fit into registers (SMEM-11).
"$OCCAM" predict occam-gqa-decode -s num_stages=4 -s length=64 -s splits=1 --free | grep Remark
cat > "$SCRATCH/ffn.yaml" <<'Y'
name: ffn
device: RTX 4090
knobs:
  num_warps: [8, 16]
base: {num_warps: 8}
kernels:
  ffn:
    grid: 128
    threads: 32 * num_warps
    registers: {value: 255, source: assumed}
    smem_bytes: 40000
    loop:
      iterations: 8
      declared_stages: 2
      stream: {rows: 64, row_bytes: 256}
      mma:
        - {m: 128, n: 512, k: 16, type: bf16}
Y
"$OCCAM" predict "$SCRATCH/ffn.yaml" | grep Remark
"$OCCAM" predict "$SCRATCH/ffn.yaml" -s num_warps=16 | grep -c Remark
"$OCCAM" predict "$SCRATCH/ffn.yaml" --device B200 | grep -c Remark
exit 0
