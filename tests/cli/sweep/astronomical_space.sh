# SPDX-License-Identifier: GPL-3.0-or-later
# 100^15 = 10^30 configurations.
{
    echo 'name: vast'
    echo 'device: rtx-pro-6000-blackwell-server'
    echo 'knobs:'
    values=$(seq -s , 1 100)
    for knob in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do echo "  k$knob: [$values]"; done
    echo 'base:'
    for knob in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do echo "  k$knob: 1"; done
    echo 'kernels: {main: {grid: k1, threads: 128, registers: 64, smem_bytes: 0, loop: {iterations: 1}}}'
} > "$SCRATCH/vast.yaml"
"$OCCAM" sweep "$SCRATCH/vast.yaml"
echo "exit $?"
"$OCCAM" sweep "$SCRATCH/vast.yaml" --vary k1 --top 1 | grep -c Best
