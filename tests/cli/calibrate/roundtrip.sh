# SPDX-License-Identifier: GPL-3.0-or-later
# Measurements to a calibration, and every command that uses it: named, from a file, from the user's folder, from the
# scenario; intervals narrower than without.
data=data/measurements/nvidia-h200/gemm_tile.csv
"$OCCAM" calibrate $data --scenario occam-gemm-tile --train 60 -o "$SCRATCH/gemm.json" --format json > "$SCRATCH/answer" || exit
sed -n 's/^  "\([a-z0-9_]*\)":.*/\1/p' "$SCRATCH/answer"
sed -n '/"trained_on"\|"rows_chosen"\|"held_out":\|"device"/p' "$SCRATCH/answer"
mkdir -p "$HOME/.config/occam/calibrations"
cp "$SCRATCH/gemm.json" "$HOME/.config/occam/calibrations/mine.json"
width() {
    "$OCCAM" predict occam-gemm-tile "$@" --format json > "$SCRATCH/p" || exit
    awk -v before="$before" -F'[:,]' '/"kernel_time_lo_us"/ { lo = $2 } /"kernel_time_hi_us"/ && !hi { hi = $2 }
        /"calibration"|"extrapolating"/ { printf "%s ", $0 } END {
        print (before == "" || hi / lo > before) ? "wide" : "narrow"; print hi / lo > ratio }' ratio="$SCRATCH/ratio" "$SCRATCH/p"
}
before=
width
before=$(cat "$SCRATCH/ratio")
width --calibration "$SCRATCH/gemm.json"
width --calibration mine
width --calibration mine --level 0.5
width --calibration mine --device rtx-pro-6000-blackwell-server
sed '1,/^name:/!b;s/^name:.*/&\ncalibration: mine/' data/scenarios/occam-gemm-tile.yaml > "$SCRATCH/named.yaml"
"$OCCAM" predict "$SCRATCH/named.yaml" --format json | grep '"calibration"'
"$OCCAM" predict "$SCRATCH/named.yaml" --calibration none --format json | grep '"calibration"'
"$OCCAM" sweep occam-gemm-tile --calibration mine --top 3 --format json | grep -c '"calibration": "gemm"\|"extrapolating"'
"$OCCAM" whatif occam-gemm-tile --calibration mine -s num_warps=8 --format json | grep '"calibration"'
"$OCCAM" predict occam-gqa-decode --calibration mine 2>&1 > /dev/null
"$OCCAM" calibrate --check mine $data --format json | grep '"holds"\|"configurations"'
awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "time_us") t = i } NR > 1 && $t != "" { $t *= 1.6 } 1' \
    $data > "$SCRATCH/slow.csv"
"$OCCAM" calibrate --check mine "$SCRATCH/slow.csv" --format json | grep '"holds"\|"biased"'
"$OCCAM" calibrate --check mine "$SCRATCH/slow.csv" > "$SCRATCH/text"
echo "exit $?"
sed -n 1p "$SCRATCH/text"
sed 's/"sm_clock_mhz": [0-9.]*/"sm_clock_mhz": 1500/' "$SCRATCH/gemm.json" > "$SCRATCH/clock.json"
"$OCCAM" predict occam-gemm-tile --calibration "$SCRATCH/clock.json" 2>&1 > /dev/null | grep clock
