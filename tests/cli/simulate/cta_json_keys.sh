# SPDX-License-Identifier: GPL-3.0-or-later
# The promised keys, in order; and those of a kernel.
"$OCCAM" simulate cta occam-sparse-decode --calibration none --format json > "$SCRATCH/a.json"
sed -n 's/^  "\([a-z0-9_]*\)":.*/\1/p' "$SCRATCH/a.json"
echo --
sed -n 's/^      "\([a-z0-9_]*\)":.*/\1/p' "$SCRATCH/a.json" | sort -u
