# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" simulate serving dsv4-flash-sparse-decode --rate 40 --requests 20000 --output-tokens 100 --max-batch 96 --horizon 5m |
    grep -E 'Unstable|Stopped|Requests'
"$OCCAM" simulate serving dsv4-flash-sparse-decode --rate 1e5 --requests 1000000000 --output-tokens 100 |
    grep -E 'Unstable|Stopped|Requests'
