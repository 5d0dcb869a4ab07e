# SPDX-License-Identifier: GPL-3.0-or-later
# Results of a serving benchmark, made from the documented fields: a table of points, and the curve from it.
cd "$SCRATCH"
for n in 1 2 4 8 16; do
    awk -v n=$n 'BEGIN {
        t = 10 + n / 2
        printf "{\"model_id\":\"m\",\"max_concurrency\":%d,\"completed\":1000,\"output_throughput\":%.10g,\"total_token_throughput\":1,", n, 1000 * n / t
        printf "\"mean_ttft_ms\":50,\"mean_tpot_ms\":%.10g,\"mean_itl_ms\":%.10g,\"median_itl_ms\":%.10g,\"total_output_tokens\":128000,\"total_input_tokens\":64000}", t, t, t }' > run$n.json
done
"$OCCAM" inspect run1.json run2.json run4.json run8.json run16.json --as curve -o points.csv
cut -d, -f1-4 points.csv
"$OCCAM" curve --measured points.csv --form line --concurrency 32 --format csv | awk -F, 'NR == 2 { printf "%d requests %.5g ms\n", $1, $2 }'
mkdir runs && mv run*.json runs/ && echo '{"other": 1}' > runs/other.json
"$OCCAM" inspect runs
"$OCCAM" inspect runs --format csv | cut -d, -f1-7
