# SPDX-License-Identifier: GPL-3.0-or-later
# With several variants the legend still names base, band and measured points; long names are letters, told below.
export SOURCE_DATE_EPOCH=1700000000
texts() { sed -n 's/.*<text>\(<tspan[^>]*>\)\{0,1\}\([^<]*\)<.*/\2/p' "$1" | sed 's/^ *//'; }
"$OCCAM" plot throughput dsv4-flash-sparse-decode -s num_warps=8 --variant TARGET_CTAS=1024,split_floor=1,num_warps=8 \
    --variant TARGET_CTAS=752 --variant TARGET_CTAS=376 --variant TARGET_CTAS=256,split_floor=1 -o "$SCRATCH/t.svg" --keep "$SCRATCH/kept"
texts "$SCRATCH/t.svg" | grep -E '^(base|measured|90 % interval|variant [A-Z])$' | sort
texts "$SCRATCH/t.svg" | tr '\n' ' ' | grep -o 'A: num_warps=8. B: num_warps=8 TARGET_CTAS=1024 split_floor=1. C: TARGET_CTAS=752. D: TARGET_CTAS=376. E: TARGET_CTAS=256 *split_floor=1.'
# Bands lie beneath all lines.
grep -o '^plot .*' "$SCRATCH/kept/t.gp" | tr ',' '\n' | grep -o 'filledcurves\|with lines\|with points'
"$OCCAM" plot throughput dsv4-flash-sparse-decode -o -
echo "exit $?"
