# SPDX-License-Identifier: GPL-3.0-or-later
# Runs of a command or a table: units, other GPUs, what has no effect, going on from a ledger.
rows=$PWD/data/measurements/nvidia-h200/gqa_decode.csv
cd "$SCRATCH" || exit 1
tune() { "$OCCAM" tune occam-gqa-decode "$@"; }
one() { tune --run "echo '$1'" --runs 1 --compile-cost 0; echo "exit $?"; }
# minutes and hours; a word that is no unit; what stands behind a number with a unit
for said in '5 min' '2 h' '1 min 30 s' 'time: 12.5 us (best of 10)' '5 bananas' '9 runs' '9 runs in all' '1e300' '1e-300 s'; do
    one "$said" 2>&1 | sed -n 's/^  1 .*: \(.*\), forecast .*/\1/p; /^occam: /p; s/^exit/exit/p'
done
# rows of another GPU; of the record too
tune --replay "$rows" --device geforce-rtx-3090 2>&1 | sed 's|.*/||'
tune --run 'echo 70' --runs 2 --stop-gain 0 --record record.csv > first
cut -d, -f16 record.csv | sort | uniq -c
tune --run 'echo 70' --runs 1 --record record.csv --device h100-sxm5
echo "exit $?"
tune --run 'echo 70' --runs 1 --stop-gain 0 --record record.csv | head -n 1
wc -l < record.csv
# a record from before there was the column goes on without it
cut -d, -f1-15 record.csv > old.csv
tune --run 'echo 70' --runs 1 --stop-gain 0 --record old.csv | head -n 1
awk -F, '{ print NF }' old.csv | sort -u
# times in another unit
awk -F, -v OFS=, 'NR > 1 && $14 != "" { $14 = $14 / 1000 } 1' "$rows" > milli.csv
tune --replay milli.csv
echo "exit $?"
# a ledger holds what was run: the same search goes on from there
tune --replay "$rows" --stop-gain 0 --runs 3 --ledger l.sqlite > parts
tune --replay "$rows" --stop-gain 0 --runs 2 --ledger l.sqlite > more
head -n 2 more
tune --replay "$rows" --stop-gain 0 --runs 5 > whole
sed -n 's/^ *[0-9]*  \(block_n.*\): .*forecast.*/\1/p' parts more > made
sed -n 's/^ *[0-9]*  \(block_n.*\): .*forecast.*/\1/p' whole | cmp - made && wc -l < made
"$OCCAM" ledger export --table run --format csv --ledger l.sqlite | tail -n +2 | wc -l
tune --replay "$rows" --runs 1 --format json | grep -A 6 '"taken_from_before"'
# no effect
for wrong in '--unit ms' '--config-limit 1ms' '--sample-time 1ms'; do
    tune --replay "$rows" $wrong
    echo "exit $?"
done
tune --run 'echo 7' --sample-time 1ms
echo "exit $?"
tune --device-backend nosuch
echo "exit $?"
tune --fake-fault crash@2
echo "exit $?"
tune --where 'block_n > 1e9' --run 'echo 7'
echo "exit $?"
tune --objective throughput@C=96 --run 'echo 7'
echo "exit $?"
