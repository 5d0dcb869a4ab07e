# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" whatif dsv4-flash-sparse-decode -s num_stages=3
