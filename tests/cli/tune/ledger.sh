# SPDX-License-Identifier: GPL-3.0-or-later
# Forecasts and runs of a search are kept; each forecast stands before its run.
rows=data/measurements/nvidia-h200/gqa_decode.csv
"$OCCAM" tune occam-gqa-decode --calibration none --replay $rows --runs 4 --ledger "$SCRATCH/l.sqlite" > /dev/null
echo "exit $?"
"$OCCAM" ledger check --ledger "$SCRATCH/l.sqlite" | sed "s|$SCRATCH|.|" | grep -v "^last seal"
"$OCCAM" ledger export --table run --format csv --ledger "$SCRATCH/l.sqlite" | cut -d, -f5-6,10 | sort | uniq -c | sed 's/^ *//'
