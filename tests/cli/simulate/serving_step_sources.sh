# SPDX-License-Identifier: GPL-3.0-or-later
# A changed configuration, measured points, points from a file; and steps beyond what was measured.
run() {
    "$OCCAM" simulate serving dsv4-flash-sparse-decode --concurrency 48 --requests 480 --output-tokens 20 "$@" |
        grep -E 'Step time|Throughput|Extrapolating'
}
run --step measured
run -s num_stages=3
printf 'concurrency,step_ms\n1,10\n16,20\n32,30\n' > "$SCRATCH/m.csv"
run --measured "$SCRATCH/m.csv" --step measured
"$OCCAM" curve dsv4-flash-sparse-decode -s num_warps=8 --concurrency 48 --format csv | awk -F, 'NR == 2 { printf "curve %.1f\n", $14 }'
"$OCCAM" simulate serving dsv4-flash-sparse-decode -s num_warps=8 --concurrency 48 --requests 480 --output-tokens 20 --format csv |
    awk -F, 'NR == 2 { printf "simulated %.1f\n", $2 }'
