# SPDX-License-Identifier: GPL-3.0-or-later
# Formula, simulator and measurement over a few rows, and the columns.
{ head -n 1 data/measurements/nvidia-h200/sparse_decode.csv; sed -n '2,400p' data/measurements/nvidia-h200/sparse_decode.csv | awk 'NR % 40 == 1'; } > "$SCRATCH/m.csv"
"$OCCAM" compare occam-sparse-decode "$SCRATCH/m.csv" --calibration none --format csv > "$SCRATCH/rows.csv"
head -n 1 "$SCRATCH/rows.csv"
rows=$(sed 1d "$SCRATCH/rows.csv" | grep -c .)
"$OCCAM" compare occam-sparse-decode "$SCRATCH/m.csv" --calibration none --format json |
    sed -n 's/^  "\([a-z_]*\)": \([0-9a-z"-]*\).*/\1 \2/p' | sed "s/ $rows\$/ ROWS/; /over_budget\|supports\|error/s/ .*//"
"$OCCAM" compare occam-sparse-decode "$SCRATCH/m.csv" --calibration none --budget 10 | tail -n 3 | grep -c 'disagreement    0 of'
