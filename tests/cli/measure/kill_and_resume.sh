# SPDX-License-Identifier: GPL-3.0-or-later
# kill -9 loses at most the configuration in flight; a second campaign on the folder is refused; --resume ends the plan.
cd "$SCRATCH" || exit 1
start() { exec "$OCCAM" measure launch_chain -s launches=2 -s ctas=1..6 --out rows --device-backend fake --sample-time 1ms "$@"; }
start --fake-fault hang@4 > /dev/null &
first=$!
for i in $(seq 200); do
    [ "$(cat rows/launch_chain.csv 2> /dev/null | wc -l)" -ge 4 ] && break
    sleep 0.05
done
(start --resume)
echo "exit $?"
kill -9 $first
wait $first 2> /dev/null
wc -l < rows/launch_chain.csv
printf 'launch_chain,2' >> rows/launch_chain.csv
for i in $(seq 100); do
    (start --resume) > out 2> err && break
    sleep 0.05
done
sed 's/[0-9.]* s$/T s/' out
cut -d, -f1-3 rows/launch_chain.csv | sort -u | wc -l
