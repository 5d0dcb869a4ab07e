# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" simulate serving dsv4-flash-sparse-decode --find max-rate --slo itl_p99=50ms,ttft_p99=2s --requests 1000 \
    --output-tokens 100 | sed -n '5p'
"$OCCAM" simulate serving dsv4-flash-sparse-decode --find max-rate --slo itl_p99=10ms --requests 100 | sed -n '5p'
