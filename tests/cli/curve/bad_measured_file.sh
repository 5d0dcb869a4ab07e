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
