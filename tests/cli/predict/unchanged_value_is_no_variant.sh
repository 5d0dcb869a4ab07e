# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" predict dsv4-flash-sparse-decode > "$SCRATCH/plain"
"$OCCAM" predict dsv4-flash-sparse-decode -s num_warps=4 -s C=96 | cmp - "$SCRATCH/plain" && echo same
