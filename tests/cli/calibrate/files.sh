# SPDX-License-Identifier: GPL-3.0-or-later
# Calibration files that are none.
cd "$SCRATCH" || exit
use() { "$OCCAM" predict gqa-split-decode --calibration "$1" 2>&1 >/dev/null; echo "exit $?"; }
use nowhere.json
use no-such-name
: > empty.json
use ./empty.json
echo '{"format": "occam calibration", "version": 1,' > cut.json
use ./cut.json
echo '[]' > list.json
use ./list.json
echo '{"format": "recipe"}' > recipe.json
use ./recipe.json
echo '{"format": "occam calibration", "version": 99}' > future.json
use ./future.json
printf 'splits,time_us\n1,2\n' > table.csv
use ./table.csv
"$OCCAM" calibrate --check ./cut.json table.csv --scenario gqa-split-decode 2>&1
echo "exit $?"
