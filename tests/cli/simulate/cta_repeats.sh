# SPDX-License-Identifier: GPL-3.0-or-later
# The same seed gives the same bytes, whatever the threads; another seed does not.
run() { "$OCCAM" simulate cta occam-sparse-decode --calibration none --jitter 0.1 --seeds 6 --format json "$@"; }
run --threads 1 > "$SCRATCH/one.json"
run --threads 4 > "$SCRATCH/four.json"
run --seed 2 > "$SCRATCH/other.json"
cmp "$SCRATCH/one.json" "$SCRATCH/four.json" && echo same
cmp -s "$SCRATCH/one.json" "$SCRATCH/other.json" || echo different
# Six seeds give an interval around their median.
sed -n 's/^  "time\(_lo\|_hi\|\)_us": \(.*\),/\2/p' "$SCRATCH/one.json" | tr '\n' ' ' | awk '{ print $2 < $1 && $1 < $3 }'
