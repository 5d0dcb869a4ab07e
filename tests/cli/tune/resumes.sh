# SPDX-License-Identifier: GPL-3.0-or-later
# Whatever interrupts it, the record goes on as if nothing had: the same runs in the same order.
table=data/measurements/nvidia-h200/gqa_decode.csv
tune() { "$OCCAM" tune occam-gqa-decode --replay "$table" --stop-gain 0 "$@"; }
tune --record "$SCRATCH/whole.csv" --runs 9 > "$SCRATCH/whole.txt"
echo "exit $?"
tune --record "$SCRATCH/parts.csv" --runs 4 > /dev/null
printf '128,4,3,8,0' >> "$SCRATCH/parts.csv" # a last line that was cut off
tune --record "$SCRATCH/parts.csv" --runs 5 > /dev/null
echo "exit $?"
cmp "$SCRATCH/whole.csv" "$SCRATCH/parts.csv" && echo the same record
grep -c ',frozen,' "$SCRATCH/whole.csv"
grep -c ',ok,' "$SCRATCH/whole.csv"
tail -n 3 "$SCRATCH/whole.txt" | sed 's/[0-9.]\{1,\}/N/g'
# killed while a command runs: the forecast stands, the run does not, and the next start makes it
"$OCCAM" tune occam-gqa-decode --record "$SCRATCH/killed.csv" --run 'sleep 3' --runs 1 > /dev/null &
child=$!
for i in 1 2 3 4 5 6 7 8 9 10; do
    grep -q frozen "$SCRATCH/killed.csv" 2> /dev/null && break
    sleep 0.2
done
kill -9 $child
wait $child 2> /dev/null
grep -c frozen "$SCRATCH/killed.csv"
"$OCCAM" tune occam-gqa-decode --record "$SCRATCH/killed.csv" --run 'echo took $(( {splits} + 60 ))' --runs 2 > /dev/null
echo "exit $?"
cut -d, -f11 "$SCRATCH/killed.csv" | tr '\n' ' '
echo
head -n 1 "$SCRATCH/killed.csv"
# forecasts and runs in a ledger
tune --ledger "$SCRATCH/ledger.sqlite" --runs 3 > /dev/null
echo "exit $?"
"$OCCAM" ledger check --ledger "$SCRATCH/ledger.sqlite" | sed 's|.*/||' | grep -v "^last seal"
"$OCCAM" ledger list --ledger "$SCRATCH/ledger.sqlite" | sed 's|.*/||' | head -n 1
