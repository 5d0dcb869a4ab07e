# SPDX-License-Identifier: GPL-3.0-or-later
# kill -9 while a configuration is measured: its forecast stands, its run is made again, none is lost; the same
# configurations in the same order as without it.
cd "$SCRATCH" || exit 1
tune() { exec "$OCCAM" tune occam-gqa-decode -s batch=1 -s length=256 -s kv_heads=2 --stop-gain 0 --device-backend fake --sample-time 1ms "$@" 2> /dev/null; }
runs() { "$OCCAM" ledger export --table run --format csv --ledger "$1" | tail -n +2 | cut -d, -f7-10; }
(tune --runs 6 --output whole --ledger whole.sqlite) > /dev/null
tune --runs 6 --output parts --ledger parts.sqlite --fake-fault hang@4 > /dev/null &
first=$!
for i in $(seq 200); do
    [ "$(cat parts/predictions.csv 2> /dev/null | wc -l)" -ge 5 ] && break
    sleep 0.05
done
(exec "$OCCAM" tune occam-gqa-decode --device-backend fake --output parts --ledger other.sqlite 2>&1 > /dev/null) | grep -v 'this GPU'
kill -9 $first
wait $first 2> /dev/null
"$OCCAM" ledger check --ledger parts.sqlite | sed 's|.*/||' | grep -v "^last seal"
runs parts.sqlite | wc -l
"$OCCAM" ledger export --table prediction --format csv --ledger parts.sqlite | tail -n +2 | wc -l
for i in $(seq 100); do
    (tune --runs 3 --output parts --ledger parts.sqlite) > out && break
    sleep 0.05
done
sed -n 's/ runs from before/ from before/p' out
runs whole.sqlite | cut -d, -f1 > whole.txt
runs parts.sqlite | cut -d, -f1 > parts.txt
cmp whole.txt parts.txt && wc -l < parts.txt
# a record of one's own holds as well
(tune --runs 2 --output own --ledger own.sqlite --record own.csv) > /dev/null
(tune --runs 2 --output own --ledger own.sqlite --record own.csv) | head -n 1
grep -c ',ok,' own.csv
