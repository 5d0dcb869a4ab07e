# SPDX-License-Identifier: GPL-3.0-or-later
# Layouts, wrong lines, and a closed loop over the lengths of a trace.
cd "$SCRATCH" || exit
printf 'TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,4\n2023-11-16 18:15:50.9951690,396,10\n' > azure.csv
printf '{"timestamp": 0, "input_length": 374, "output_length": 4}\n{"timestamp": 4314.579, "input_length": 396, "output_length": 10}\n' > mooncake.jsonl
printf 'timestamp,input_length,output_length\n5,1,1\n4,1,1\nx,1,1\n6,0,1\n7,2\n8,100,3\n' > wrong.csv
printf 'a,b\n1,2\n' > other.csv
for file in azure.csv mooncake.jsonl wrong.csv other.csv none.csv; do
    "$OCCAM" simulate serving dsv4-flash-sparse-decode --trace $file --format csv | cut -d, -f1-3
done
"$OCCAM" simulate serving dsv4-flash-sparse-decode --trace wrong.csv --skip-bad | grep -E 'Requests|left out'
"$OCCAM" simulate serving dsv4-flash-sparse-decode --trace azure.csv --arrivals closed --concurrency 2 | grep Throughput
"$OCCAM" simulate serving dsv4-flash-sparse-decode --trace azure.csv --kv-tokens 400 | grep -E 'Requests|Rejected'
