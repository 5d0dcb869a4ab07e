# SPDX-License-Identifier: GPL-3.0-or-later
# What a frozen prediction can be judged by: its own quantity and conditions. And results that nobody measured.
cd "$SCRATCH" || exit 1
export OCCAM_LEDGER=$SCRATCH/l.sqlite
try() {
    "$OCCAM" judge "$@" > out 2>&1
    echo "exit $?: $(sed -n 1p out)"
}
"$OCCAM" hypothesis "splits=8 is faster" --scenario occam-gqa-decode --change splits=8 > out
"$OCCAM" hypothesis "num_warps=8 lowers throughput" --scenario dsv4-flash-sparse-decode --change num_warps=8 --concurrency 1,8 > out
"$OCCAM" ledger export --table prediction --format csv | cut -d, -f7-8
printf 'concurrency,tokens_per_s\n1,53.1\n8,281\n96,845\n' > served.csv
printf 'concurrency,tokens_per_s\n1,45.5\n8,230\n96,785\n' > served8.csv
printf 'batch,time_us\n16,100\n16,101\n' > kernel.csv
printf 'batch,time_us\n16,90\n16,91\n' > kernel8.csv
echo "-- a kernel's speed"
try served.csv served8.csv --hypothesis 1
try served.csv served8.csv --hypothesis 1 --metric concurrency
printf 'concurrency,time_us\n1,100\n8,101\n' > loads.csv
printf 'concurrency,time_us\n1,90\n8,91\n' > loads8.csv
try loads.csv loads8.csv --hypothesis 1
printf 'batch,time_us\n1,100\n4,101\n' > batches.csv
printf 'batch,time_us\n1,90\n4,91\n' > batches8.csv
try batches.csv batches8.csv --hypothesis 1
printf 'length,step_time_us\n4096,100\n' > steps.csv
printf 'length,step_time_us\n4096,90\n' > steps8.csv
try steps.csv steps8.csv --hypothesis 1 --metric step_time_us
"$OCCAM" ledger export --table run --format csv | wc -l
try kernel.csv kernel8.csv --hypothesis 1
echo "-- a throughput"
try kernel.csv kernel8.csv --hypothesis 2
try loads.csv loads8.csv --hypothesis 2
printf 'concurrency,ttft_ms\n1,10\n' > first.csv
printf 'concurrency,ttft_ms\n1,11\n' > first8.csv
try first.csv first8.csv --hypothesis 2 --metric ttft_ms
printf 'tokens_per_s\n10\n' > bare.csv
printf 'tokens_per_s\n11\n' > bare8.csv
try bare.csv bare8.csv --hypothesis 2
printf 'concurrency,mean_tpot_ms\n1,20\n' > tpot.csv
printf 'concurrency,mean_tpot_ms\n1,23\n' > tpot8.csv
try tpot.csv tpot8.csv --hypothesis 2 --metric mean_tpot_ms
echo "-- a condition that was not frozen"
"$OCCAM" judge served.csv served8.csv --hypothesis 2
"$OCCAM" judge served.csv served8.csv --hypothesis 2 --format json | grep -E 'predicted_level|covers'
echo "-- no result"
try served.csv served8.csv --metric concurrency
try served.csv served8.csv --metric tokens_per_s --by tokens_per_s
printf 'tok_s\n1e308\n' > huge.csv
printf 'tok_s\n1e-308\n' > tiny.csv
printf 'tok_s\n1\n' > one.csv
printf 'tok_s\n1\n2e6\n' > apart.csv
try one.csv huge.csv
try tiny.csv huge.csv
try one.csv apart.csv
try apart.csv one.csv
printf 'time_us\n1e-300\n' > time.csv
printf 'time_us\n1\n' > time8.csv
try time.csv time8.csv
printf 'tok_s,pair\n1,a\n2000,b\n' > noisy.csv
printf 'tok_s,pair\n1000,a\n1,b\n' > noisy8.csv
"$OCCAM" judge noisy.csv noisy8.csv --level 0.9999
"$OCCAM" judge noisy.csv noisy8.csv --level 0.9999 --format csv | tr ',' '\n' | grep -c -E '^$|inf|nan'
echo "-- which file lacks it"
printf 'concurrency,foo\n1,10\n' > foo.csv
printf 'concurrency,tokens_per_s\n' > header.csv
try served.csv foo.csv
try foo.csv served.csv
try served.csv kernel.csv
try served.csv header.csv
printf 'splits,time_us\n' > rows.csv
"$OCCAM" propose occam-gqa-decode --vary splits --measured rows.csv
