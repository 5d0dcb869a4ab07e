# SPDX-License-Identifier: GPL-3.0-or-later
# An expression that fails for what was set names it; a knob that counts takes no half.
S=dsv4-flash-sparse-decode
for change in heads=0 tokens=-5 num_warps=4.5 num_warps=-1 num_warps=0; do
    "$OCCAM" predict $S -s $change --free 2>&1 | grep -e '^occam' -e feasible
done
"$OCCAM" whatif $S -s num_warps=6.5 --free
printf 'num_warps\n4\n4.5\n' | "$OCCAM" predict $S --configs - --free --format csv | cut -d, -f1,12,13
