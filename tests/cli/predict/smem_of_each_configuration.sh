# SPDX-License-Identifier: GPL-3.0-or-later
# Bytes of SMEM and CTAs per SM of the configurations that the tile sizes allow.
for knobs in '-s block_h=32' '-s block_h=16' '-s num_stages=3' '-s block_h=16 -s num_stages=3'; do
    # shellcheck disable=SC2086
    "$OCCAM" predict dsv4-flash-sparse-decode $knobs --format json > "$SCRATCH/answer.json"
    echo "$knobs" "$(grep -E '^  "(feasible|smem_bytes|ctas_per_sm)"' "$SCRATCH/answer.json" | tr -s " \n" " ")"
done
