# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" whatif dsv4-flash-sparse-decode -s num_warps=8 --concurrency 8 --format json | sed 's/: [^{[].*/:/'
