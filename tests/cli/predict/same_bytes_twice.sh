# SPDX-License-Identifier: GPL-3.0-or-later
for format in text json csv; do
    "$OCCAM" predict dsv4-flash-sparse-decode -s num_warps=8 --format $format > "$SCRATCH/first"
    LC_ALL=C.UTF-8 "$OCCAM" predict dsv4-flash-sparse-decode -s num_warps=8 --format $format | cmp - "$SCRATCH/first" &&
        echo "$format is the same"
done
