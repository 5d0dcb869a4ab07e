# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" curve dsv4-flash-sparse-decode -s num_stages=3 --concurrency 8 | sed -n '3,6p'
