# SPDX-License-Identifier: GPL-3.0-or-later
# Mistakes of a first hour; the message says what to do.
source=$PWD
cd "$SCRATCH" || exit 1
try() {
    "$OCCAM" "$@" 2>&1 | head -n 1
}
printf 'concurrency;tokens_per_s\n1;100\n' > semicolons.csv
printf 'concurrency\ttokens_per_s\n1\t100\n' > tabs.csv
printf 'concurrency,tokens_per_s\n1,100\n2,190\n' > commas.csv
try judge commas.csv semicolons.csv
try curve --measured tabs.csv
try sweep occam-gqa-decode --vary splits,batch --by batch
try curve dsv4-flash-sparse-decode --measured semicolons.csv
sed 's/^device:.*/device: b200/' "$source/data/scenarios/triton-gemm.yaml" > gemm.yaml
try predict gemm.yaml
sed 's/^name: .*/name: mine/' "$source/data/scenarios/occam-gqa-decode.yaml" > mine.yaml
"$OCCAM" calibrate "$source/data/measurements/nvidia-h200/gqa_decode.csv" --scenario mine.yaml --train 12 -o mine.json > /dev/null
try calibrate --check mine.json "$source/data/measurements/nvidia-h200/gqa_decode_repeat.csv"
printf 'block_n,time_us\n32,100\n' > few.csv
try calibrate few.csv --scenario mine.yaml
echo "-- before the work, not after it"
for question in "simulate serving dsv4-flash-sparse-decode --requests 1000000 --queue" "simulate cta stream-copy --timeline" \
    "report dsv4-flash-sparse-decode --output"; do
    # shellcheck disable=SC2086
    try $question "$SCRATCH" | sed "s|$SCRATCH|.|"
done
echo "-- names"
try predict occam-gqa-decode -s warps=4
try sweep occam-gqa-decode --vary num
try sweep occam-gqa-decode --vary xyz
try whatif dsv4-flash-sparse-decode -s C=8
