# SPDX-License-Identifier: GPL-3.0-or-later
# Every figure from shipped data as SVG: its title, axes and series are there as text.
export SOURCE_DATE_EPOCH=1700000000
data=data/measurements/nvidia-h200
texts() { sed -n 's/.*<text>\(<tspan[^>]*>\)\{0,1\}\([^<]*\)<.*/\2/p' "$1" | sed -e 's/^ *//' -e 's/[0-9.]* \(GB.s\|KiB in flight\)/N \1/g' -e 's/run at [0-9.]* us/run at N us/' | grep -E '[a-z]{2}' | sort -u; }
figure() {
    "$OCCAM" plot "$@" -o "$SCRATCH/$1.svg" || echo "exit $?"
    echo "== $1"
    texts "$SCRATCH/$1.svg"
}
for name in throughput step-time occupancy-registers occupancy-smem waves timeline roofline limiters heatmap; do
    figure $name dsv4-flash-sparse-decode -s num_warps=8
done
figure parity $data/gqa_decode.csv
figure errors $data/gqa_decode.csv
figure saturation $data/bandwidth_stream.csv $data/bandwidth_gather.csv
# Variants side by side.
"$OCCAM" plot throughput dsv4-flash-sparse-decode --variant num_warps=8 --variant TARGET_CTAS=1024,split_floor=1 -o "$SCRATCH/v.svg" &&
    texts "$SCRATCH/v.svg" | grep =
"$OCCAM" plot throughput dsv4-flash-sparse-decode --variant num_warps=4 -o "$SCRATCH/none.svg" 2>&1
"$OCCAM" plot throughput dsv4-flash-sparse-decode --variant num_warps=4,nonsense=1 -o "$SCRATCH/none.svg" 2>&1
[ -e "$SCRATCH/none.svg" ] || echo "no file"
