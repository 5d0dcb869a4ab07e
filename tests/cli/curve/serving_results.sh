# SPDX-License-Identifier: GPL-3.0-or-later
# Benchmark files without a scenario: DeepSeek-R1 on eight H200 as public sweeps have it (data of tests, not a record of one
# program's file), as an InferenceX aggregate; coverage of experts goes through it.
cd "$SCRATCH" || exit
awk 'BEGIN {
    split("4 8 16 32 64", n); split("291.5 518.59 864.93 1275.6 1854.9", s); split("13.0149 14.8033 17.8244 24.0734 33.1284", t)
    printf "["
    for (i = 1; i <= 5; i++)
        printf "%s{\"hw\":\"h200\",\"conc\":%d,\"model\":\"r1\",\"tp\":\"8\",\"isl\":1024,\"osl\":1024,\"output_tput_per_gpu\":%.10g,\"median_tpot\":%.10g,\"mean_tpot\":%.10g}", (i > 1) ? "," : "", n[i], s[i] / 8, t[i] / 1000, t[i] / 1000
    print "]"
}' > agg_bmk.json
"$OCCAM" curve --measured agg_bmk.json --experts 256 --experts-per-token 8 --concurrency 16,128
echo
# One run a file, in a folder with others: the series is asked for; repeats of one concurrency stay.
mkdir runs && for n in 1 2 4 8 8 16; do
    i=$((i + 1))
    awk -v n=$n -v i=$i 'BEGIN {
        t = 10 + n + i / 100
        printf "{\"model_id\":\"m\",\"max_concurrency\":%d,\"completed\":1000,\"output_throughput\":%.10g,\"total_token_throughput\":1,", n, 970 * n / t
        printf "\"mean_ttft_ms\":50,\"mean_tpot_ms\":%.10g,\"mean_itl_ms\":%.10g,\"median_itl_ms\":%.10g,\"total_output_tokens\":128000,\"total_input_tokens\":64000}", t, t, t }' > runs/r$i.json
done
cp agg_bmk.json runs/
"$OCCAM" curve --measured runs
"$OCCAM" curve --measured runs --series nothing
"$OCCAM" curve --measured runs --series m --form line | sed -n '/^Measured/,/^$/p'
"$OCCAM" curve --measured runs/r1.json runs/r[2-6].json --form line --format csv --concurrency 16 | awk -F, 'NR == 2 { printf "%d requests %.5g ms\n", $1, $2 }'
"$OCCAM" curve dsv4-flash-sparse-decode --measured runs/r1.json runs/r[2-6].json --form line --format json |
    sed -n '/"runs_series"/,/"note"/s/^ *\("[a-z0-9_]*":\).*/\1/p' | tr '\n' ' '
for arguments in "" "--measured agg_bmk.json --experts 8" "--measured agg_bmk.json -s a=1" "--measured agg_bmk.json other"; do
    "$OCCAM" curve $arguments
    echo "exit $?"
done
# One run determines no law, and is shown.
"$OCCAM" curve --measured runs/r3.json
echo "exit $?"
printf '{"a": 1}\n' > other.json
"$OCCAM" curve --measured other.json
echo "exit $?"
printf 'concurrency,step_ms\n1,10\n2,12\n4,16\n' > own.csv
"$OCCAM" curve --measured own.csv --concurrency 8 | sed -n 1,5p
