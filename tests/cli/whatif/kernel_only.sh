# SPDX-License-Identifier: GPL-3.0-or-later
# A scenario without a serving part: the kernels alone.
"$OCCAM" whatif stream-copy -s unroll=1 | head -6
