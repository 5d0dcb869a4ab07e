# SPDX-License-Identifier: GPL-3.0-or-later
# Every scenario that is built in is answered, with a time and shares that sum to one.
for path in data/scenarios/*.yaml; do
    name=$(basename "$path" .yaml)
    "$OCCAM" predict "$name" --format json > "$SCRATCH/answer.json" || echo "$name: exit $?"
    sed -n '/"limiter_shares"/,/}/p' "$SCRATCH/answer.json" | grep -o '[0-9.e-]*,*$' | tr -d , |
        awk -v name="$name" '{ sum += $1 } END { if (sum < 0.999999 || sum > 1.000001) print name, "shares sum to", sum }'
    grep -q '"kernel_time_us": [0-9]' "$SCRATCH/answer.json" || echo "$name: no kernel time"
    # A file is read as the built-in one is.
    "$OCCAM" predict "$path" --format json | cmp - "$SCRATCH/answer.json"
done
echo 'all asked'
