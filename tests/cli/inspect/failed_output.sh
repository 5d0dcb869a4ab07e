# SPDX-License-Identifier: GPL-3.0-or-later
# An answer that fails leaves the file of an earlier one as it was.
echo 'of before' > "$SCRATCH/k.yaml"
"$OCCAM" inspect tests/recorded/triton-3.6-cache --kernel split_kernel --as scenario --output "$SCRATCH/k.yaml"
cat "$SCRATCH/k.yaml"
ls "$SCRATCH"
