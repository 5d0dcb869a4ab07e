# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" sweep dsv4-flash-sparse-decode --top 1 | grep -E 'feasible|kernel split:|not BLOCK_T'
"$OCCAM" sweep dsv4-flash-sparse-decode --top 1 --where 'num_stages == 3' | grep -E 'feasible|kernel split:|not BLOCK_T'
"$OCCAM" sweep dsv4-flash-sparse-decode --where 'ctas_per_sm > 1' | grep -E 'feasible|None'
