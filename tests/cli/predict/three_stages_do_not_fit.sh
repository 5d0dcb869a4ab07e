# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" predict dsv4-flash-sparse-decode -s num_stages=3
echo "exit $?"
"$OCCAM" predict dsv4-flash-sparse-decode -s num_stages=3 --format json |
    grep -E '"(feasible|smem_over_limit_bytes|kernel_time_us|step_time_ms)"'
