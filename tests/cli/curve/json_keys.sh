# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" curve dsv4-flash-sparse-decode --format json | sed -n 's/^  "\([a-z0-9_]*\)":.*/\1/p'
"$OCCAM" curve dsv4-flash-sparse-decode -s num_warps=8 --format csv | head -n 1
