# SPDX-License-Identifier: GPL-3.0-or-later
# Rows outside the measured concurrencies are marked; none where all lie within.
"$OCCAM" curve dsv4-flash-sparse-decode --concurrency 1,64,97,200 | grep Extrapolating
"$OCCAM" curve dsv4-flash-sparse-decode --concurrency 1,64,96 | grep -c Extrapolating
"$OCCAM" curve dsv4-flash-sparse-decode --concurrency 64,97 -s num_warps=8 --format csv | awk -F, '{ print $1, $NF }'
printf 'concurrency,step_ms\n4,10\n8,12\n12,14\n' > "$SCRATCH/m.csv"
"$OCCAM" curve dsv4-flash-sparse-decode --measured "$SCRATCH/m.csv" --concurrency 1,4,12,16 | grep Extrapolating
