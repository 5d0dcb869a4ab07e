# SPDX-License-Identifier: GPL-3.0-or-later
# Variants of one kernel that use different instructions are one scenario, which is read back.
cd "$SCRATCH" || exit 1
"$OCCAM" inspect "$OLDPWD/tests/recorded/triton-3.6-cache" --kernel matmul_kernel --as scenario --output k.yaml > said
echo "exit $?"
awk -F, 'NR == 2 { for (i = 1; i <= NF; i++) if ($i == "loop.mma1.instruction") column = i } NR > 2 { print $column }' k.csv | sort | uniq -c
for choice in '4 128 128' '8 128 256'; do
    "$OCCAM" predict k.yaml --device nvidia-h200 -s num_stages=$((4 - (${choice%% *} == 8))) -s num_warps="${choice%% *}" -s tile_n="${choice##* }" \
        -s tile_m="$(echo "$choice" | cut -d ' ' -f 2)" -s grid=1024 -s iterations=64 -s distinct_fraction=0.1 | grep 'kernel time  '
done
