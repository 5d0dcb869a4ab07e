# SPDX-License-Identifier: GPL-3.0-or-later
# What one number implies; and one that nothing gives.
"$OCCAM" reconcile --scenario dsv4-flash-sparse-decode --claim "smem=60KB threads=128 source=cache" | sed -n '/implies/,/^  note/p'
"$OCCAM" reconcile --scenario dsv4-flash-sparse-decode --claim "smem=70000 threads=128 source=trace" | sed -n '/implies/,/CTAs/p'
"$OCCAM" reconcile --scenario dsv4-flash-sparse-decode --claim "registers=255 source=trace" | sed -n '/implies/,/known/p'
# Several configurations of one size: nothing is decided by one of them. A scenario that asks is answered first.
"$OCCAM" reconcile --scenario triton-gemm --claim "smem=147456 threads=256 source=trace" --claim "smem=131072 source=cache" |
    sed -E 's/^(  predicted time +)[0-9.]+ us +by/\1T us by/; s/(predicted kernel time: )[0-9.]+ (times.*) \([0-9.]+ to [0-9.]+\)/\1R \2 (LO to HI)/'
"$OCCAM" inspect tests/recorded/triton-3.6-cache --kernel gqa_kernel --as scenario -o "$SCRATCH/g.yaml" > /dev/null
"$OCCAM" reconcile --scenario "$SCRATCH/g.yaml" --claim "smem=71680 source=trace" 2>&1 | sed "s|$SCRATCH|DIR|g"
