# SPDX-License-Identifier: GPL-3.0-or-later
# The line at 1, 8 and 96 requests: n / (18 ms + 1.05 ms n) is 52.5, 303.0 and 808.1 tokens/s.
for n in 1 8 96; do
    "$OCCAM" simulate serving dsv4-flash-sparse-decode --concurrency $n --requests $((20 * n)) --output-tokens 100 --format csv |
        awk -F, 'NR == 2 { printf "%.1f\n", $2 }'
done
"$OCCAM" simulate serving dsv4-flash-sparse-decode --concurrency 8 --requests 80 --output-tokens 100
