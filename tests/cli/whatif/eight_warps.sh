# SPDX-License-Identifier: GPL-3.0-or-later
# The golden question: direction, interval, mechanism, what is unknown, what speaks against it.
"$OCCAM" whatif dsv4-flash-sparse-decode -s num_warps=8
