# SPDX-License-Identifier: GPL-3.0-or-later
cd "$SCRATCH" || exit 1
export OCCAM_LEDGER=$SCRATCH/ledger.sqlite
printf 'concurrency,tok_s\n1,10\n' > a.csv
printf 'concurrency,time_us\n1,10\n' > b.csv
printf 'concurrency,tok_s\n2,10\n' > c.csv
printf 'concurrency,tok_s\n1,-3\n' > d.csv
printf 'concurrency,tok_s,time_ms\n1,3,3\n' > e.csv
printf 'pair,tok_s\n1,3\n2,4\n' > f.csv
printf 'pair,tok_s\n1,3\n3,4\n' > g.csv
try() {
    "$OCCAM" "$@" 2>&1 | sed "s|$SCRATCH|.|"
}
try judge
printf 'concurrency,tok_s,counted\n' > ways.csv
for way in a b c d e f g h i; do echo "1,10,$way"; done >> ways.csv
try judge a.csv ways.csv
try judge a.csv
try judge a.csv b.csv
try judge a.csv c.csv
try judge a.csv d.csv
cp a.csv a2.csv
cp e.csv e2.csv
ln -s a.csv link.csv
try judge e.csv e2.csv
try judge f.csv g.csv
try judge a.csv none.csv
try judge a.csv a2.csv --claim bigger
try judge a.csv a2.csv --by tokens
try judge a.csv a2.csv --hypothesis 1
ls ledger.sqlite 2> /dev/null
try hypothesis "raises throughput" --scenario dsv4-flash-sparse-decode --change num_warps=8 --concurrency 1 | head -n 1 | cut -c 1-12
try judge a.csv a2.csv --hypothesis 7
try judge a.csv a.csv --power
echo "-- the same file twice; options of the other form"
try judge a.csv a.csv
try judge a.csv ./link.csv
try judge a.csv a2.csv --margin 3
try judge a.csv a2.csv --conditions 3
try judge a.csv a2.csv --ledger l.sqlite
try judge --power --revert
echo "-- statements"
try hypothesis "" --claim raises --scenario dsv4-flash-sparse-decode --change num_warps=8
try hypothesis "  " --claim raises --scenario dsv4-flash-sparse-decode --change num_warps=8
try hypothesis "it rises" --scenario dsv4-flash-sparse-decode --change num_warps=8
try hypothesis "raises" --change num_warps=8
try hypothesis "raises throughput" --scenario dsv4-flash-sparse-decode
try ledger show 7
try ledger nonsense
try ledger lst --ledger none.sqlite
try ledger --table run
try ledger list --all
try ledger export --format csv
