# SPDX-License-Identifier: GPL-3.0-or-later
# The scenarios that docs/DATA.md prints work as printed: the least one, whose every line is needed, the longer one, and
# the longer one with the serving part below it. And its device file gives occupancy, not a time.
section() { sed -n '/^## Scenarios/,/^## Resource tables/p' docs/DATA.md; }
block() { section | awk -v wanted="$1" '/^```yaml$/ { inside = 1; number++; next } /^```$/ { inside = 0 } inside && number == wanted'; }
block 1 > "$SCRATCH/minimal.yaml"
block 2 > "$SCRATCH/longer.yaml"
{ block 2; block 3; } > "$SCRATCH/served.yaml"
echo "$(grep -c . "$SCRATCH/minimal.yaml") lines"
for name in minimal longer served; do
    "$OCCAM" predict "$SCRATCH/$name.yaml" --format json > "$SCRATCH/answer.json"
    echo "$name: exit $?, feasible $(sed -n 's/^  "feasible": \(.*\),/\1/p' "$SCRATCH/answer.json")," \
        "$(grep -c '^  "kernel_time_us": [0-9]' "$SCRATCH/answer.json") kernel time," \
        "$(grep -c '^  "step_time_ms": [0-9]' "$SCRATCH/answer.json") step time"
done
for line in 1 2 5 6 7 8 9; do
    sed "${line}d" "$SCRATCH/minimal.yaml" > "$SCRATCH/less.yaml"
    "$OCCAM" predict "$SCRATCH/less.yaml" 2>&1 > /dev/null | sed 's/.*less.yaml:[0-9]*:[0-9]*: //'
done
sed -n '/^# comment lines may stand/,/^```$/p' docs/DATA.md | sed '/^```/d' > "$SCRATCH/my-gpu.csv"
"$OCCAM" predict dsv4-flash-sparse-decode --device-file "$SCRATCH/my-gpu.csv" | grep -E 'occupancy|kernel time'
# Copied from the nearest built-in file, it does.
sed 's/^title,[^,]*/title,My GPU/' data/devices/geforce-rtx-5080.csv > "$SCRATCH/copied.csv"
"$OCCAM" predict dsv4-flash-sparse-decode --device-file "$SCRATCH/copied.csv" | grep -c -E 'kernel time +[0-9]'
