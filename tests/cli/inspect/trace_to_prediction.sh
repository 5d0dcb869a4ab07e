# SPDX-License-Identifier: GPL-3.0-or-later
# From a trace and the cache beside it to a prediction: in one line, and over files. The turns of the loop, which no file
# tells, are fitted to the time of the launch; without the cache so are the bytes of a CTA.
cd tests/recorded
"$OCCAM" inspect profilers/kineto-h200.json triton-3.6-cache --kernel split_kernel --as scenario |
    tee "$SCRATCH/piped.yaml" | "$OCCAM" predict - | grep -e 'kernel time  ' -e Note
"$OCCAM" predict - --device h100-sxm < "$SCRATCH/piped.yaml" | grep -e 'kernel time  ' -e Note
# The same figures of a table in the scenario and of a table beside it.
"$OCCAM" predict "$SCRATCH/piped.yaml" --format csv > "$SCRATCH/piped.csv"
"$OCCAM" inspect profilers/kineto-h200.json triton-3.6-cache --kernel split_kernel --as scenario -o "$SCRATCH/s.yaml" | sed "s|$SCRATCH|DIR|g" &&
    "$OCCAM" predict "$SCRATCH/s.yaml" -s iterations=10 | sed -n '1,6p'
sed "s|$SCRATCH|DIR|g" "$SCRATCH/s.yaml"
"$OCCAM" predict "$SCRATCH/s.yaml" 2>&1 | sed "s|$SCRATCH|DIR|g"
"$OCCAM" inspect profilers/kineto-h200.json --kernel split_kernel --as scenario -o "$SCRATCH/t.yaml" | sed "s|$SCRATCH|DIR|g"
sed "s|$SCRATCH|DIR|g" "$SCRATCH/t.yaml"
"$OCCAM" predict "$SCRATCH/t.yaml" -s iterations=20 -s bytes_per_turn=9344 | sed -n '1,6p'
"$OCCAM" predict "$SCRATCH/s.yaml" --format csv | cmp - "$SCRATCH/piped.csv" && echo "same"
# Several kernels, or no launch and no code; variants whose file names no architecture.
"$OCCAM" inspect . --kernel split_kernel --as scenario > "$SCRATCH/all.txt" || echo "exit $?"
"$OCCAM" inspect profilers/kineto-h200.json --as scenario
"$OCCAM" inspect profilers/kineto-h200.json --as loops
