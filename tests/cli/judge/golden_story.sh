# SPDX-License-Identifier: GPL-3.0-or-later
# Eight warps instead of four: frozen, measured, refuted, reverted; what the published figures can and cannot show.
cd "$SCRATCH" || exit 1
{
export OCCAM_LEDGER=$SCRATCH/ledger.sqlite
printf 'concurrency,tokens_per_s\n1,53.1\n8,281\n96,845\n' > base.csv
printf 'concurrency,tokens_per_s\n1,45.5\n8,230\n96,785\n' > eight_warps.csv
printf 'concurrency,tokens_per_s,counted\n96,778.5,aggregate\n96,853.4,per request\n' > reverted.csv
"$OCCAM" hypothesis "num_warps=8 raises throughput" --scenario dsv4-flash-sparse-decode --change num_warps=8 \
    --concurrency 1,8,96
echo "exit $?"
"$OCCAM" judge base.csv eight_warps.csv --hypothesis 1
echo "exit $?"
echo "-- too late"
"$OCCAM" hypothesis "num_warps=8 raises throughput" --scenario dsv4-flash-sparse-decode --change num_warps=8
echo "exit $?"
echo "-- rejected without a run"
"$OCCAM" hypothesis "num_stages=3 is faster" --scenario dsv4-flash-sparse-decode --change num_stages=3
echo "exit $?"
echo "-- the check after the revert"
"$OCCAM" judge base.csv reverted.csv --revert --hypothesis 1
echo "exit $?"
echo "-- the record"
"$OCCAM" ledger
"$OCCAM" ledger check | grep -v "^last seal"
"$OCCAM" ledger scorecard
} 2>&1 | sed "s|$SCRATCH|.|; s/20[0-9][0-9]-[0-9T:.-]*Z/TIME/"
