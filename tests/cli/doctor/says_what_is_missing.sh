# SPDX-License-Identifier: GPL-3.0-or-later
# What is found differs from machine to machine; the items and states do not.
PATH="$SCRATCH" "$OCCAM" doctor --format csv > "$SCRATCH/doctor.csv"
echo "exit $?"
cut -d, -f1 "$SCRATCH/doctor.csv"
grep '^gnuplot' "$SCRATCH/doctor.csv"
sed 1d "$SCRATCH/doctor.csv" | cut -d, -f2 | sort -u
PATH="$SCRATCH" "$OCCAM" doctor | awk 'length($0) > 100 && NF > 1 { print "too wide: " $0 } END { print (NR > 20) }'
