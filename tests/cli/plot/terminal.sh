# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" plot throughput dsv4-flash-sparse-decode --terminal | awk '/#/ { rows++ } END { print (rows >= 10 ? "the curve crosses the window" : rows) }'
"$OCCAM" plot throughput dsv4-flash-sparse-decode --columns 60 --rows 15 | awk '{ if (length($0) > wide) wide = length($0) } END { print wide, NR }'
# Only printable characters, no padding.
"$OCCAM" plot throughput dsv4-flash-sparse-decode | LC_ALL=C grep -c '[^ -~]'
"$OCCAM" plot throughput dsv4-flash-sparse-decode | grep -c ' $'
# The cells of a map have their values and letters, of which the caption speaks.
"$OCCAM" plot heatmap dsv4-flash-sparse-decode --columns 80 | grep -o ' [0-9.]* \* \|x b x\|x a x' | sort | uniq -c | sed 's/^ *//'
# A round that runs on two thirds of the SMs is not drawn as a full one.
"$OCCAM" plot timeline data/measurements/nvidia-h200/wave_timeline.csv --columns 80 | awk '/\|#/ { third = substr($0, length($0) - 18, 17)
    all += length(third); gsub(/[^#]/, "", third); there += length(third) } END { print (there / all > 0.4 && there / all < 0.75 ? "parts" : there / all) }'
