# SPDX-License-Identifier: GPL-3.0-or-later
# A folder of listings with an index of their knobs: the table, a scenario from it, and a variant that was not compiled.
cache=tests/recorded/triton-3.6-cache
mkdir "$SCRATCH/v"
cp $cache/D2H6FLWMK4N2CMI6GA5PPC447MID3XG3GY727MLAKZASLUMJQEVQ/split_kernel.ptx "$SCRATCH/v/a.ptx"
cp $cache/ALETGEZ5MV57XPV2WN7AO5BCSGG7KIQIREPURC7GFOUF3ZTZIZGQ/split_kernel.ptx "$SCRATCH/v/b.ptx"
printf 'file,rows,splits,registers,smem_bytes\na,32,1,255,51200\nb,16,>1,255,32832\n' > "$SCRATCH/v/index.csv"
"$OCCAM" inspect "$SCRATCH/v" --as loops | cut -d, -f2-19
"$OCCAM" inspect "$SCRATCH/v" --as scenario --output "$SCRATCH/k.yaml" > /dev/null
sed -n '/^knobs/,/^workload/p' "$SCRATCH/k.yaml"
ask() {
    "$OCCAM" predict "$SCRATCH/k.yaml" --device h200 -s grid=264 -s iterations=20 -s distinct_fraction=1 "$@" --format json 2>&1 |
        grep -E '"(feasible|smem_bytes|registers_per_thread|loop)":|^occam' | sort -u | sed "s|$SCRATCH|DIR|g"
}
ask
ask -s rows=16
printf 'name,rows\na,32\n' > "$SCRATCH/v/index.csv"
"$OCCAM" inspect "$SCRATCH/v" 2>&1 | sed "s|$SCRATCH|DIR|g"
