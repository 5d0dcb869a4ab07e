# SPDX-License-Identifier: GPL-3.0-or-later
# A line with a little scatter: the line is found, and the three column kinds agree.
printf 'concurrency,step_ms\n1,10.1\n2,11.9\n4,16.1\n8,23.9\n16,40.1\n32,71.9\n' > "$SCRATCH/step.csv"
awk -F, 'NR == 1 { print "concurrency,tok_s"; next } { printf "%s,%.12g\n", $1, 1000 * $1 / $2 }' "$SCRATCH/step.csv" > "$SCRATCH/tok.csv"
sed 's/step_ms/itl_ms/' "$SCRATCH/step.csv" > "$SCRATCH/itl.csv"
for kind in step tok itl; do
    "$OCCAM" curve dsv4-flash-sparse-decode --measured "$SCRATCH/$kind.csv" --form line --concurrency 4,16 --itl-limit-ms 41 > "$SCRATCH/$kind.out"
done
sed -n '2,/Largest/p' "$SCRATCH/step.out"
cmp "$SCRATCH/step.out" "$SCRATCH/itl.out" && cmp "$SCRATCH/step.out" "$SCRATCH/tok.out" && echo same
