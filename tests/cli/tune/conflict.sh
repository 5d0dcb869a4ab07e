# SPDX-License-Identifier: GPL-3.0-or-later
# A run of every five tells forms of the model apart where they conflict: the one that `occam propose` names after the
# same runs.
cd "$SCRATCH" || exit 1
scenario="occam-gemm-tile --calibration nvidia-h200-gemm-tile"
"$OCCAM" tune $scenario --run 'echo $(( 300 + {num_warps} * 3 )) us' --stop-gain 0 --runs 10 --record all.csv > out
echo "exit $?"
sed -n 's/^ *\([0-9]*\) .*, conflict$/\1/p' out > runs
while read -r run; do
    echo "$run" | grep -q '[05]$' || echo "run $run is no fifth one"
done < runs
first=$(head -n 1 runs)
sed -n "s/^ *$first  \(.*\): .*, conflict\$/\1/p" out > made
head -n $((2 * first - 1)) all.csv > before.csv
"$OCCAM" propose $scenario --measured before.csv | sed -n 's/^Conflict: \(.*\) (\(not \)*listed) .*/\1/p' > named
[ -s named ] && cmp named made && echo "the run that propose names"
tail -n +$((2 * first)) all.csv | head -n 1 | grep -c ',frozen,.*,"conflict"'
