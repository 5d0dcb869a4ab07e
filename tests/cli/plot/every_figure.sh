# SPDX-License-Identifier: GPL-3.0-or-later
# Every figure from shipped data as SVG: its title, axes and series are there as text.
export SOURCE_DATE_EPOCH=1700000000
data=data/measurements/nvidia-h200
texts() { sed -n 's/.*<text>\(<tspan[^>]*>\)\{0,1\}\([^<]*\)<.*/\2/p' "$1" | sed 's/^ *//' | grep -E '[a-z]{2}' | sort -u; }
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
