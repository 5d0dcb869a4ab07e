# SPDX-License-Identifier: GPL-3.0-or-later
printf 'concurrency,speed\n1,2\n' > "$SCRATCH/a.csv"
printf 'concurrency,tok_s\n1,2\n2,zero\n' > "$SCRATCH/b.csv"
printf 'concurrency,tok_s\n1,0\n' > "$SCRATCH/c.csv"
printf 'concurrency,tok_s\n' > "$SCRATCH/d.csv"
cd "$SCRATCH" || exit
for file in a.csv b.csv c.csv d.csv none.csv; do
    "$OCCAM" curve dsv4-flash-sparse-decode --measured $file
    echo "exit $?"
done
# Figures that no server has: a unit or a column is wrong.
for row in 8,1e300 1e9,20 8,1e-9 8,0.028; do
    printf 'concurrency,step_ms\n1,20\n%s\n' "$row" > "$SCRATCH/odd.csv"
    "$OCCAM" curve dsv4-flash-sparse-decode --measured "$SCRATCH/odd.csv" 2>&1 | sed "s|$SCRATCH/||"
done
printf 'concurrency,tok_s\n1,100\n8,400\n' | "$OCCAM" curve --measured /dev/stdin
echo "exit $?"
