# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" predict dsv4-flash-sparse-decode --device sm_120 -s num_warps=8 | grep -E 'feasible|occupancy|time  '
