# SPDX-License-Identifier: GPL-3.0-or-later
# The last seal stands for all rows so far; one that was noted is still there later; a stranger's is not.
export OCCAM_LEDGER=$SCRATCH/l.sqlite
tune() { "$OCCAM" tune occam-gqa-decode --replay data/measurements/nvidia-h200/gqa_decode.csv --runs 2 --stop-gain 0 --ledger "$OCCAM_LEDGER" > /dev/null; }
tune
noted=$("$OCCAM" ledger check | sed -n 's/^last seal \([0-9a-f]\{64\}\)$/\1/p')
echo "${#noted} digits"
tune
"$OCCAM" ledger check --seal "$noted" | sed "s|$SCRATCH|.|; s/[0-9a-f]\{64\}/HEX/"
"$OCCAM" ledger check --seal 0123 2> /dev/null
echo "exit $?"
"$OCCAM" ledger check --seal 0123 --format json 2> /dev/null | grep -E 'finding|sound'
"$OCCAM" ledger list --seal "$noted"
echo "exit $?"
