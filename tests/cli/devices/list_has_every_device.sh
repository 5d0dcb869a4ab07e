# SPDX-License-Identifier: GPL-3.0-or-later
# One row per GPU and compute capability; names are unique.
"$OCCAM" devices --format csv > "$SCRATCH/list.csv"
head -n 1 "$SCRATCH/list.csv"
sed 1d "$SCRATCH/list.csv" | cut -d, -f1 | sort | uniq -d
products=$(find data/devices -name '*.csv' | wc -l)
capabilities=$(find data/compute_capabilities -name '*.csv' | wc -l)
[ "$(sed 1d "$SCRATCH/list.csv" | wc -l)" = $((products + capabilities)) ] && echo "all files are listed"
"$OCCAM" devices | grep 'rtx-pro-6000-blackwell-server'
