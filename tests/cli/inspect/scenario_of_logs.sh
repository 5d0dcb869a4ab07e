# SPDX-License-Identifier: GPL-3.0-or-later
# No listing, no launch: more is asked.
"$OCCAM" inspect tests/recorded/nvcc-13.0/probe-sm_90.log --kernel smem1024 --as scenario --output "$SCRATCH/k.yaml" > /dev/null
cat "$SCRATCH/k.yaml"
"$OCCAM" predict "$SCRATCH/k.yaml" --device nvidia-h200 -s grid=10 -s iterations=3 -s distinct_fraction=1 -s cta_threads=128 \
    -s cta_smem_bytes=0 -s bytes_per_turn=4096 --format csv | cut -d, -f1-8 | tail -1
