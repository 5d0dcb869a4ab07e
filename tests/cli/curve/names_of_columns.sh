# SPDX-License-Identifier: GPL-3.0-or-later
# Throughput and step time by any of the names that occam reads or writes elsewhere: the same points, the same law.
cd "$SCRATCH" || exit 1
curve() {
    printf '%s\n1,53.1,18.8\n8,281,28.5\n48,640,75\n96,845,113.6\n' "$1" > points.csv
    "$OCCAM" curve --measured points.csv --concurrency 64 --format csv | tail -n 1 | cksum
}
curve concurrency,tok_s,step_ms
curve concurrency,tokens_per_s,step_time_ms
curve concurrency,throughput_tokens_per_s,step_time_ms
curve concurrency,output_tokens_per_s,step_ms
printf 'concurrency,tokens_per_s\n1,-3\n' > points.csv
"$OCCAM" curve --measured points.csv 2>&1
printf 'concurrency,speed\n1,3\n' > points.csv
"$OCCAM" curve --measured points.csv 2>&1
