# SPDX-License-Identifier: GPL-3.0-or-later
# A campaign on the fake device: rows, a second start without and with --resume, more configurations, the summary as CSV.
cd "$SCRATCH" || exit 1
fake="--device-backend fake --sample-time 1ms"
"$OCCAM" measure launch_chain -s launches=2 -s ctas=1..4 --out rows $fake | sed 's/[0-9.]* s$/T s/'
"$OCCAM" measure launch_chain -s launches=2 -s ctas=1..4 --out rows $fake
echo "exit $?"
"$OCCAM" measure launch_chain -s launches=2 -s ctas=1..6 --out rows --resume --limit 1 $fake | sed 's/[0-9.]* s$/T s/'
"$OCCAM" measure launch_chain -s launches=2 -s ctas=1..6 --out rows --resume $fake --format csv | cut -d, -f1-6
wc -l < rows/launch_chain.csv
head -1 rows/launch_chain.csv | cut -d, -f1-6
cut -d, -f1-3 rows/launch_chain.csv | sort
head -1 rows/predictions.csv
wc -l < rows/predictions.csv
ls rows
