# SPDX-License-Identifier: GPL-3.0-or-later
# Every figure in characters: no line is wider than the window, title and axes are told, and no remark lies over another.
data=data/measurements/nvidia-h200
scenario=dsv4-flash-sparse-decode
printf 'method,runs,fraction\nrandom,1,0.5\nrandom,10,0.8\n' > "$SCRATCH/runs.csv"
check() {
    for columns in 60 120; do
        "$OCCAM" plot "$@" --columns $columns > "$SCRATCH/text" || echo "exit $?"
        awk -v columns=$columns -v name="$1" '
            length($0) > columns { wide++ }
            /\+------/ { borders++ }
            END { if (wide || borders != 2) print name " at " columns ": " wide + 0 " lines too wide, " borders + 0 " borders" }' "$SCRATCH/text"
    done
}
for name in throughput step-time occupancy-registers occupancy-smem waves timeline roofline limiters heatmap; do
    check $name $scenario
done
check parity $data/gqa_decode.csv
check errors $data/gqa_decode.csv
check saturation $data/bandwidth_stream.csv $data/bandwidth_gather.csv
check regret "$SCRATCH/runs.csv"
# Remarks stand whole: a figure with their numbers has them as written.
"$OCCAM" plot waves $scenario --columns 80 | grep -o 'tail [0-9]*' | sort | uniq -c | sed 's/^ *//'
"$OCCAM" plot occupancy-registers $scenario --columns 80 | grep -o '[0-9][0-9]*: [0-9][0-9]*' | sort -n
# Names that do not fit below the axis are letters, told in the caption.
"$OCCAM" plot errors $data/gqa_decode.csv --columns 60 | tr '\n' ' ' | tr -s ' ' | grep -o 'a block_n=16, b block_n=32, c block_n=64'
# Axes: whole numbers of runs, 1-2-5 on a logarithmic axis of less than two decades.
"$OCCAM" plot regret "$SCRATCH/runs.csv" --columns 80 | grep -c '\.5'
"$OCCAM" plot saturation $data/bandwidth_stream.csv -o "$SCRATCH/s.svg"
sed -n 's/.*<text>\(<tspan[^>]*>\)\{0,1\} *\([0-9.]*\)<.*/\2/p' "$SCRATCH/s.svg" | grep . | tr '\n' ' '
echo
