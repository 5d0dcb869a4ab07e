#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# run.sh PROGRAM...: time of one `occam predict` as a process (best and median of 21 runs), then every benchmark program.
set -eu
cd "$(dirname "$0")/../.."
scenario=dsv4-flash-sparse-decode
for run in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21; do
    begin=$(date +%s%N)
    "$OCCAM" predict $scenario > /dev/null
    end=$(date +%s%N)
    echo $(((end - begin) / 1000)) $run
done | sort -n | awk '{ us[NR] = $1 }
    END { printf "occam predict '$scenario' as a process: best %.1f ms, median %.1f ms (limit 20 ms)\n",
                 us[1] / 1000, us[(NR + 1) / 2] / 1000 }'
for program in "$@"; do "$program"; done
