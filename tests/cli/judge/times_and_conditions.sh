# SPDX-License-Identifier: GPL-3.0-or-later
# A time of any name counts the other way round; predictions belong to the concurrency, whatever column comes first; dates are
# compared as points in time; conditions that are no numbers keep together.
cd "$SCRATCH" || exit 1
export OCCAM_LEDGER=$SCRATCH/l.sqlite
printf 'concurrency,step_time_s\n1,1.00\n1,1.01\n1,1.00\n' > a.csv
printf 'concurrency,step_time_s\n1,2.00\n1,2.01\n1,2.00\n' > b.csv
"$OCCAM" judge a.csv b.csv --metric step_time_s --claim raises | sed -n 1p
"$OCCAM" hypothesis "num_warps=8 is faster" --scenario dsv4-flash-sparse-decode --change num_warps=8 --concurrency 8,96 > hypothesis.txt
printf 'tokens,concurrency,tok_s\n96,8,281\n' > base.csv
printf 'tokens,concurrency,tok_s\n96,8,150\n' > variant.csv
"$OCCAM" judge base.csv variant.csv --by tokens,concurrency --hypothesis 1 --format json | grep -E 'predicted_ratio"|covers' | sed 's/[0-9.]*,$/N/'
"$OCCAM" ledger export --table verdict --format json | grep '"prediction"'
printf 'heads,tok_s\n8,281\n' > base.csv
printf 'heads,tok_s\n8,230\n' > variant.csv
"$OCCAM" judge base.csv variant.csv --hypothesis 1
printf 'concurrency,tok_s,date\n8,281,2020-01-01 00:00\n' > base.csv
printf 'concurrency,tok_s,date\n8,230,2020-01-01T00:05:00+02:00\n' > variant.csv
"$OCCAM" judge base.csv variant.csv --hypothesis 1 --format json | grep -E 'covers|older'
printf 'concurrency,tok_s,date\n8,230,30.11.2026 01:00\n' > variant.csv
"$OCCAM" judge base.csv variant.csv
printf 'batch,tok_s\n2,5\n1x,7\n10,6\n2,5\n1x,7\n10,6\n' > base.csv
cp base.csv variant.csv
"$OCCAM" judge base.csv variant.csv | sed -n '/condition/,/^$/p' | cut -c1-12
for metric in bandwidth_gb_s images_s GFLOP_s elapsed_s postprocess_s decode_latency wall_seconds; do
    printf '%s\n100\n101\n99\n' "$metric" > a.csv
    printf '%s\n200\n201\n199\n' "$metric" > b.csv
    "$OCCAM" judge a.csv b.csv --metric "$metric" --claim raises | grep -E '^(Result|supported|refuted)'
done
printf 'tok_s\n110\n111\n' > variant.csv
printf 'tok_s\n100\n101\n' | "$OCCAM" judge /dev/stdin variant.csv --claim raises | sed -n 1p
