# SPDX-License-Identifier: GPL-3.0-or-later
# A scenario that cannot be made leaves the file of that name as it is.
echo mine > "$SCRATCH/k.yaml"
"$OCCAM" inspect tests/recorded/triton-3.6-cache --as scenario --output "$SCRATCH/k.yaml"
echo "exit $?"
cat "$SCRATCH/k.yaml"
"$OCCAM" inspect tests/recorded/triton-3.6-cache --kernel split_kernel --arch sm_90 --as scenario --output "$SCRATCH/k.yaml" > "$SCRATCH/out"
echo "exit $?"
grep -c '^kernels:' "$SCRATCH/k.yaml"
# What only the user knows is asked for; with it there is a time.
"$OCCAM" predict "$SCRATCH/k.yaml" --device nvidia-h200 -s grid=528 -s iterations=8 -s distinct_fraction=1 | grep -c '^  kernel time'
