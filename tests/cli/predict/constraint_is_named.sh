# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" predict dsv4-flash-sparse-decode -s BLOCK_T=8 | sed -n '/feasible/,$p'
