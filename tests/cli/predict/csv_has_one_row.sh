# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" predict dsv4-flash-sparse-decode --format csv > "$SCRATCH/a.csv"
"$OCCAM" predict dsv4-flash-sparse-decode -s num_stages=3 --format csv > "$SCRATCH/b.csv"
wc -l < "$SCRATCH/a.csv"
# Infeasible configurations have columns for all that feasible ones have, but for inputs that were not used.
head -n 1 "$SCRATCH/a.csv" | tr , '\n' | grep -c .
head -n 1 "$SCRATCH/b.csv" | tr , '\n' | grep -c .
