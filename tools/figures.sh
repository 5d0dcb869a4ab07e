#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Draws the figures of the README again from shipped data. OCCAM names the program, IMAGES the folder.
set -eu
cd "$(dirname "$0")/.."
OCCAM=${OCCAM:-build/occam}
IMAGES=${IMAGES:-docs/images}
scenario=dsv4-flash-sparse-decode
data=data/measurements/nvidia-h200
mkdir -p "$IMAGES"
draw() { # NAME FIGURE INPUT...
    name=$1
    shift
    "$OCCAM" plot "$@" --width 800 --output "$IMAGES/$name.png"
}
draw throughput throughput $scenario -s num_warps=8
draw waves waves $scenario
draw heatmap heatmap $scenario --x TARGET_CTAS --y num_stages
draw timeline timeline $scenario
draw timeline_measured timeline $data/wave_timeline.csv
draw roofline roofline occam-gqa-decode
draw parity parity $data/sparse_decode.csv
draw saturation saturation $data/bandwidth_stream.csv $data/bandwidth_gather.csv
echo "figures are in $IMAGES"
