# SPDX-License-Identifier: GPL-3.0-or-later
# PTX and SASS of one kernel: instructions of SASS, bytes and products of PTX, the frame as Triton's index has it.
mkdir "$SCRATCH/v"
cp tests/recorded/sass/gqa_BN16_w8_s*.ptx tests/recorded/sass/gqa_BN16_w8_s*.sass "$SCRATCH/v"
printf 'file,BN,num_warps,num_stages,splits,registers,spills,smem_bytes\ngqa_BN16_w8_s1_splits1,16,8,1,1,80,0,8192\ngqa_BN16_w8_s3_splitsn,16,8,3,>1,80,3,20480\n' > "$SCRATCH/v/index.csv"
show() {
    awk -F, '!/^#/ { if (!n) { n = split($0, name, ","); next }
        printf "%s:", $2; for (i = 1; i <= n; i++)
            if (name[i] ~ /^loop\.(warp|edge|early|local|buffers|barriers|stream.row|stream.expo|mma..(m|n|k|count)$)/)
                printf " %s %s", substr(name[i], 6), $i
        print "" }'
}
for listing in auto sass ptx; do
    echo "$listing"
    "$OCCAM" inspect "$SCRATCH/v" --listing $listing --as loops | show
done
"$OCCAM" inspect "$SCRATCH/v" --loops | sed "s|$SCRATCH|DIR|g" | grep -E 'SASS|PTX'
"$OCCAM" inspect "$SCRATCH/v" --as scenario --output "$SCRATCH/k.yaml" > /dev/null
"$OCCAM" predict "$SCRATCH/k.yaml" --device h200 -s grid=512 -s iterations=64 -s distinct_fraction=1 -s num_stages=3 --format json |
    grep -E '"(feasible|loop|registers)":' | sort -u
