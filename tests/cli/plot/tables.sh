# SPDX-License-Identifier: GPL-3.0-or-later
# Figures of tables: what they need, and what they say of a wrong one.
export SOURCE_DATE_EPOCH=1700000000
cd "$SCRATCH" || exit
texts() { sed -n 's/.*<text>\(<tspan[^>]*>\)\{0,1\}\([^<]*\)<.*/\2/p' "$1" | sed -e 's/^ *//' -e 's/run at [0-9.]* us/run at N us/' | grep -E '[a-z]{2}' | sort -u; }
printf 'method,runs,fraction\nrandom,1,0.5\nrandom,10,0.8\noccam `id`,1,0.9\noccam `id`,10,0.98\n' > runs.csv
"$OCCAM" plot regret runs.csv -o regret.svg && texts regret.svg
# The record of tune: forecasts are no runs, a failed run is one.
printf 'num_warps,time_us,outcome,forecast\n4,,frozen,9\n4,10,ok,9\n8,,failed,\n8,8,ok,\n' > record.csv
"$OCCAM" plot regret record.csv -o record.svg --keep kept && texts record.svg && cat kept/record.csv
{
    printf group
    for level in 50 68 80 90 95; do printf ',coverage_%s_percent,coverage_%s_lo_percent,coverage_%s_hi_percent' $level $level $level; done
    printf '\nall,45,30,60,60,45,75,78,60,90,88,70,96,94,80,99\n'
} > score.csv
"$OCCAM" plot scorecard score.csv -o score.svg && texts score.svg
"$OCCAM" simulate cta dsv4-flash-sparse-decode --timeline time.csv > /dev/null
"$OCCAM" plot timeline time.csv -o time.svg && texts time.svg
# Wrong ones: one line each, and no file.
printf 'a,b\n1,2\n' > wrong.csv
printf 'method,runs,fraction\n' > empty.csv
printf 'method,runs,fraction\nm,1,nan\n' > nan.csv
printf 'measured_us,predicted_us\n1,\n' > unpaired.csv
for case in 'regret wrong.csv' 'regret empty.csv' 'regret nan.csv' 'scorecard runs.csv' 'timeline runs.csv' 'parity wrong.csv' \
    'parity unpaired.csv' 'errors score.csv' 'saturation wrong.csv' 'parity missing.csv' 'regret runs.csv score.csv' \
    'waves dsv4-flash-sparse-decode runs.csv'; do
    "$OCCAM" plot $case -o none.svg
    echo "exit $?"
done 2>&1
[ -e none.svg ] || echo "no file"
# One row is a figure.
printf 'measured_us,predicted_us,predicted_lo_us,predicted_hi_us\n10,12,8,20\n' > one.csv
"$OCCAM" plot parity one.csv -o one.svg && texts one.svg
# Values that differ in the last digit alone are a figure too.
printf 'measured_us,predicted_us\n1,1\n1.0000000000000002,1\n' > close.csv
"$OCCAM" plot parity close.csv -o close.svg && texts close.svg | head -1
