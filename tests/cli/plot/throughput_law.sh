# SPDX-License-Identifier: GPL-3.0-or-later
# The drawn line is the law, also between the concurrencies that are listed and at the measured ones; so is its band.
scenario=dsv4-flash-sparse-decode
"$OCCAM" curve $scenario --concurrency 8,13,32 --format csv > "$SCRATCH/law.csv"
"$OCCAM" plot throughput $scenario --concurrency 1,96 --keep "$SCRATCH/kept" -o "$SCRATCH/t.svg"
compare() {
    awk -F, -v quantity="$1" '
        FNR == 1 { file++ }
        file == 1 && FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        file == 1 { y[$column["concurrency"]] = $column[quantity]; lo[$column["concurrency"]] = $column["throughput_lo_tokens_per_s"]; next }
        $1 == "\"base\"" && $2 in y { print "line at", $2, (($3 / y[$2] - 1) ^ 2 < 1e-12 ? "is the law" : "is " $3 ", not " y[$2]) }
        $1 == "\"90 % interval\"" && $2 in lo { print "band at", $2, (($4 / lo[$2] - 1) ^ 2 < 1e-12 ? "is the law" : "is " $4) }
        $1 == "\"base\"" { lines++ }
        END { print (lines > 60 ? "dense" : lines " points") }' "$SCRATCH/law.csv" "$SCRATCH/kept/t.csv"
}
compare throughput_tokens_per_s
# A measured batch need not be whole, and may lie beyond what is listed.
printf 'concurrency,step_ms\n1,20\n7.5,28\n33.25,50\n120.5,118\n' > "$SCRATCH/points.csv"
"$OCCAM" plot step-time $scenario --concurrency 1,64 --measured "$SCRATCH/points.csv" --keep "$SCRATCH/kept" -o "$SCRATCH/s.svg"
awk -F, '$1 == "\"base\"" { at[$2] = 1 } $1 == "\"measured\"" { print "measured at", $2, ($2 in at ? "and drawn there" : "only") }' "$SCRATCH/kept/s.csv"
