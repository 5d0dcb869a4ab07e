# SPDX-License-Identifier: GPL-3.0-or-later
# One line per CTA of every kernel; the ends never go back, and the last one is the time of the run.
"$OCCAM" simulate cta occam-sparse-decode --calibration none --timeline "$SCRATCH/t.csv" --format json > "$SCRATCH/a.json"
head -n 1 "$SCRATCH/t.csv"
cut -d, -f1 "$SCRATCH/t.csv" | sed 1d | uniq -c
awk -F, 'NR > 1 { back += $6 < last; last = $6; long += $6 < $5 } END { print back + 0, long + 0 }' "$SCRATCH/t.csv"
awk -F, -v whole="$(sed -n 's/^  "time_us": \(.*\),/\1/p' "$SCRATCH/a.json")" 'END { print (whole - $6) ^ 2 < 1e-12 }' "$SCRATCH/t.csv"
