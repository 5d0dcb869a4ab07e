# SPDX-License-Identifier: GPL-3.0-or-later
# The latest verdict of a condition counts, a prediction once; the same hypothesis is kept once.
cd "$SCRATCH" || exit 1
{
export OCCAM_LEDGER=$SCRATCH/ledger.sqlite
S=dsv4-flash-sparse-decode
printf 'concurrency,tokens_per_s\n1,53.1\n8,281\n96,845\n' > base.csv
printf 'concurrency,tokens_per_s\n1,45.5\n8,230\n96,785\n' > slow.csv
printf 'concurrency,tokens_per_s\n1,53.2\n8,281.1\n96,845.1\n' > equal.csv
freeze() {
    "$OCCAM" hypothesis "num_warps=8 raises throughput" --scenario $S --change num_warps=8 "$@" > out 2>&1
    echo "exit $?"
    sed -n 's/^Hypothesis \([0-9]*\).*/hypothesis \1/p; /^occam/p' out
}
freeze --concurrency 1,8,96
echo "-- the same again, then other conditions and another level"
freeze --concurrency 1,8,96
freeze --concurrency 1,8
freeze --concurrency 1,8,96 --level 0.5
echo "-- refuted, then judged again by other runs"
"$OCCAM" judge base.csv slow.csv --hypothesis 1 > /dev/null
"$OCCAM" ledger
"$OCCAM" judge base.csv equal.csv --hypothesis 1 > /dev/null
"$OCCAM" ledger
"$OCCAM" ledger --format json | grep -c '"replaced_verdicts": 3'
"$OCCAM" ledger scorecard --format csv | cut -d, -f1,2
echo "-- check as JSON and CSV"
"$OCCAM" ledger check --format json | sed "s|\(last_seal.: .\).*|\1HEX|"
echo "exit $?"
"$OCCAM" ledger check --format csv
echo "-- a change that moves nothing at the first condition still has its mechanism"
"$OCCAM" hypothesis "TARGET_CTAS=256 lowers throughput" --scenario $S --change TARGET_CTAS=256 --concurrency 1,96 | grep Mechanism
"$OCCAM" hypothesis "split_floor=1 lowers throughput" --scenario $S --change split_floor=1 --concurrency 96 | grep Mechanism
} 2>&1 | sed "s|$SCRATCH|.|; s/20[0-9][0-9]-[0-9T:.-]*Z/TIME/"
