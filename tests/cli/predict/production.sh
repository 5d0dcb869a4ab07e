# SPDX-License-Identifier: GPL-3.0-or-later
# What the production configuration is, without the kernel time's figures: those move with the model.
"$OCCAM" predict dsv4-flash-sparse-decode | grep -E '^dsv4|feasible|SMEM  |occupancy|waves|throughput|step time'
