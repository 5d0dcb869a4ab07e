# SPDX-License-Identifier: GPL-3.0-or-later
# The scorecard is drawn from the ledger as from the ledger's own table.
export SOURCE_DATE_EPOCH=1700000000
rows=$PWD/data/measurements/nvidia-h200/gqa_decode.csv
cd "$SCRATCH" || exit
"$OCCAM" tune occam-gqa-decode --calibration none --replay "$rows" --runs 4 --ledger l.sqlite > /dev/null
"$OCCAM" ledger scorecard --ledger l.sqlite --format csv > score.csv
"$OCCAM" plot scorecard score.csv -o table.svg --keep kept
"$OCCAM" plot scorecard l.sqlite -o file.svg --keep kept
"$OCCAM" plot scorecard --ledger l.sqlite -o option.svg --keep kept
OCCAM_LEDGER=l.sqlite "$OCCAM" plot scorecard -o default.svg --keep kept
for other in file option default; do cmp kept/table.csv kept/$other.csv && echo "$other: the same numbers"; done
wc -l < kept/table.csv | tr -d ' '
sed -n 's/.*<text>\(<tspan[^>]*>\)\{0,1\}\([^<]*\)<.*/\2/p' file.svg | grep -E 'ledger|h200'
{
    "$OCCAM" plot scorecard score.csv --ledger l.sqlite
    "$OCCAM" plot scorecard --ledger none.sqlite
    "$OCCAM" plot waves dsv4-flash-sparse-decode --ledger l.sqlite
    "$OCCAM" plot regret
} 2>&1
true
