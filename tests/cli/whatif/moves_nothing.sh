# SPDX-License-Identifier: GPL-3.0-or-later
# A floor below what one request gives anyway: both sides are the same kernels, and the answer says what its interval is.
"$OCCAM" whatif dsv4-flash-sparse-decode -s split_floor=1 --concurrency 1 | sed -n '/^Why/,/^  residency/p'
