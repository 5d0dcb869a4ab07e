# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" inspect tests/recorded/triton-3.6-cache --kernel split_kernel --arch sm_90 --as scenario --output "$SCRATCH/split.yaml" | sed "s|$SCRATCH|DIR|g"
cat "$SCRATCH/split.yaml"
"$OCCAM" predict "$SCRATCH/split.yaml" 2>&1 | sed "s|$SCRATCH|DIR|g"
"$OCCAM" predict "$SCRATCH/split.yaml" --device nvidia-h200 -s grid=384 -s iterations=32 -s distinct_fraction=1 --format csv |
    cut -d, -f1-12 | sed "s|$SCRATCH|DIR|g"
