# SPDX-License-Identifier: GPL-3.0-or-later
# Headings only: which values explain it moves with the time model.
"$OCCAM" sweep dsv4-flash-sparse-decode --vary TARGET_CTAS,split_floor --explain 6,13 |
    sed -n '/^Which/,$p' | grep -E '^(Which|split_floor)'
"$OCCAM" sweep dsv4-flash-sparse-decode --vary TARGET_CTAS --by none --explain 5000,6000 | tail -n 2
