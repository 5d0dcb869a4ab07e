# SPDX-License-Identifier: GPL-3.0-or-later
for assignment in num_warp=8 num_warps=5 num_warps=eight num_warps num_warps= =8 C=nan C=-1 C=0 num_warps=1e999; do
    "$OCCAM" predict dsv4-flash-sparse-decode -s "$assignment"
    echo "exit $?"
done
