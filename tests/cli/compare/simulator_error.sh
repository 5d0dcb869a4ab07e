# SPDX-License-Identifier: GPL-3.0-or-later
# Parameters fitted to 24 measured rows (to the formula, not to the simulator): the simulator's median error over other
# rows of sparse_decode on the H200 is at most 12 %.
rows=data/measurements/nvidia-h200/sparse_decode.csv
{ head -n 1 $rows; sed 1d $rows | awk 'NR % 9 == 4'; } > "$SCRATCH/some.csv"
"$OCCAM" calibrate $rows --scenario occam-sparse-decode --train 24 --seed 1 -o "$SCRATCH/fit.json" > "$SCRATCH/fit.txt"
"$OCCAM" compare occam-sparse-decode "$SCRATCH/some.csv" --calibration "$SCRATCH/fit.json" --format json |
    sed -n 's/^  "simulator_median_error_fraction": \(.*\),/\1/p' | awk '{ print $1 <= 0.12 ? "within 12 %" : $1 }'
