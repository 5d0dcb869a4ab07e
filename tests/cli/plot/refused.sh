# SPDX-License-Identifier: GPL-3.0-or-later
# Questions that leave nothing to draw, and options that do not fit.
try() {
    "$OCCAM" plot "$@" -o "$SCRATCH/none.svg"
    echo "exit $?"
}
{
    try waves dsv4-flash-sparse-decode -s num_stages=3
    try waves triton-gemm --x nonsense
    try heatmap dsv4-flash-sparse-decode --x num_warps --y num_warps
    try throughput triton-gemm
    try timeline dsv4-flash-sparse-decode -s num_stages=3
    try limiters dsv4-flash-sparse-decode --device sm_90
    try roofline dsv4-flash-sparse-decode --terminal
    "$OCCAM" plot roofline dsv4-flash-sparse-decode --sixel --terminal
    echo "exit $?"
} 2>&1
[ -e "$SCRATCH/none.svg" ] || echo "no file"
# Characters: the least time of the heat map and what cannot run.
"$OCCAM" plot heatmap dsv4-flash-sparse-decode | grep -q 'xxxxx' && echo "hatched in characters"
"$OCCAM" plot roofline dsv4-flash-sparse-decode --sixel | head -c 2 | od -An -tx1
