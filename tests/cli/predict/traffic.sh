# SPDX-License-Identifier: GPL-3.0-or-later
# Bytes, flop and rates follow from the scenario: 2 x 128 x 128 x 64 flop x 64 iterations x 1024 CTAs, over the time.
"$OCCAM" predict triton-gemm --format json > "$SCRATCH/answer.json"
number() { sed -n "s/^      \"$1\": \([0-9.e+-]*\),*/\1/p" "$SCRATCH/answer.json"; }
echo "flop $(number tensor_flop)"
awk -v flop="$(number tensor_flop)" -v tflops="$(number tensor_tflop_per_s)" -v us="$(number time_us)" \
    -v bytes="$(number dram_bytes)" -v gbs="$(number dram_gb_per_s)" -v floor="$(number tensor_floor_us)" \
    -v share="$(number tensor_peak_fraction)" 'BEGIN {
    printf "flop rate %.9g, byte rate %.9g, share of peak %.9g\n", flop / us / 1e6 / tflops, bytes / us / 1e3 / gbs, floor / us / share }'
"$OCCAM" predict triton-gemm | grep -c -E '^    (DRAM .*/s \(.* of peak\); L2 .*B|tensor 137 GFLOP, .*FLOP/s \(.* of the bf16 peak\)|by the described bytes not below .*, by the flop not below .*)$'
# No floor is claimed where there is nothing to read from DRAM.
"$OCCAM" predict dsv4-flash-sparse-decode | sed -n '/kernel combine/,/intervals/p' | grep -c 'not below'
true
