# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" predict dsv4-flash-sparse-decode --device h200 | grep -E '^dsv4|SMEM  |occupancy|step time'
