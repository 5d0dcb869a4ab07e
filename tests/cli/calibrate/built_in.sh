# SPDX-License-Identifier: GPL-3.0-or-later
# Calibrations that are built in: listed, used by name, and beside the user's own.
"$OCCAM" calibrate --list | awk '{ print $1, $2, $3, $4, $6, $7, $8 }'
"$OCCAM" calibrate --list --format json | grep -c '"state": ""'
"$OCCAM" predict occam-sparse-decode --device nvidia-h200 --calibration nvidia-h200-sparse-decode --format json |
    grep '"calibration"\|"extrapolating"'
mkdir -p "$HOME/.config/occam/calibrations"
sed 's/"scenario_hash": "[0-9a-f]*"/"scenario_hash": "0000000000000000"/' data/calibrations/nvidia-h200-gqa-decode.json \
    > "$HOME/.config/occam/calibrations/old.json"
echo '{' > "$HOME/.config/occam/calibrations/broken.json"
"$OCCAM" calibrate --list --format csv | cut -d, -f1-5,7
"$OCCAM" calibrate --list --train 3 2>&1; echo "exit $?"
