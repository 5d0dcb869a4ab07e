# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" sweep dsv4-flash-sparse-decode --vary TARGET_CTAS --format json |
    sed -n 's/^  "\([a-z0-9_]*\)":.*/\1/p'
"$OCCAM" sweep dsv4-flash-sparse-decode --top 1 --format csv | head -n 1
