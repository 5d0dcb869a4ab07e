# SPDX-License-Identifier: GPL-3.0-or-later
# Options about measured points without any, values given twice, and the bounds of a concurrency wherever it is asked for.
scenario=dsv4-flash-sparse-decode
printf 'concurrency,step_ms\n1,10\n2,12\n4,16\n' > "$SCRATCH/own.csv"
{
    "$OCCAM" curve $scenario --series x
    "$OCCAM" curve $scenario --experts 8
    "$OCCAM" curve $scenario --experts 8 --experts-per-token 9
    "$OCCAM" curve --measured "$SCRATCH/own.csv" --series x
    "$OCCAM" curve $scenario --concurrency 1,8,1
    "$OCCAM" whatif $scenario -s num_warps=8 --concurrency 8,8
    for n in 0.5 100001; do
        "$OCCAM" curve $scenario --concurrency $n
        "$OCCAM" whatif $scenario -s num_warps=8 --concurrency $n
        "$OCCAM" predict $scenario -s C=$n --free
        "$OCCAM" plot throughput $scenario --concurrency $n
    done
    "$OCCAM" predict $scenario -s C=100000 --free | sed -n 1p
} 2>&1
