# SPDX-License-Identifier: GPL-3.0-or-later
# An option that would change nothing in the figure is refused.
data=data/measurements/nvidia-h200
scenario=dsv4-flash-sparse-decode
try() {
    "$OCCAM" plot "$@" 2>&1 && echo "drawn: $*"
}
cd "$(dirname "$0")/../../.." || exit
out=$SCRATCH/a.png
try roofline $scenario --measured x.csv -o "$out"
try heatmap $scenario --series x -o "$out"
try timeline $scenario --itl-limit-ms 50 -o "$out"
try limiters $scenario --x C -o "$out"
try throughput $scenario --x C --y C -o "$out"
try throughput $scenario --experts 8 -o "$out"
try waves $scenario --variant num_warps=8 -o "$out"
try parity $data/sparse_decode.csv -s num_warps=8 -o "$out"
try parity $data/sparse_decode.csv --device h200 -o "$out"
try parity $data/sparse_decode.csv --concurrency 8 -o "$out"
try timeline "$SCRATCH/steps.csv" -s num_warps=8 -o "$out"
try throughput $scenario --width 800
try throughput $scenario --terminal --dark
try throughput $scenario --columns 80 -o "$out"
try throughput $scenario --width 800 -o "$SCRATCH/a.svg"
[ -e "$out" ] || echo "no file"
