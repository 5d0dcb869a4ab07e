# SPDX-License-Identifier: GPL-3.0-or-later
cd "$SCRATCH" || exit 1
echo "-- repeats; a failed run is left out, times count the other way round"
printf 'concurrency,time_us,outcome\n1,100,ok\n1,101,ok\n1,99,ok\n8,200,ok\n8,,failed\n' > base.csv
printf 'concurrency,time_us,outcome\n1,90,ok\n1,91,ok\n1,89,ok\n8,199,ok\n9,5,ok\n' > variant.csv
"$OCCAM" judge base.csv variant.csv --claim raises
echo "exit $?"
echo "-- turns by date are pairs"
printf 'date,tok_s\n2026-01-01T00:00:00Z,100\n2026-01-01T00:02:00Z,110\n2026-01-01T00:04:00Z,120\n' > base.csv
printf 'date,tok_s\n2026-01-01T00:01:00Z,101\n2026-01-01T00:03:00Z,111.2\n2026-01-01T00:05:00Z,121.1\n' > variant.csv
"$OCCAM" judge base.csv variant.csv --format csv | cut -d, -f1-12
echo "-- power"
"$OCCAM" judge --power --noise 1 --conditions 3
