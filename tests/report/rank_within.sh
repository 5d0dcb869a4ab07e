#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# rank_within.sh PROGRAM: rank correlation within single workloads, as a Markdown table of docs/VALIDATION.md: trained on
# 96 rows of all workloads, and on 96 rows of the others. Rows of tests/report/validate.table; SEEDS (default 6).
set -eu
cd "$(dirname "$0")/../.."
program=$1 seeds=${SEEDS:-6}
shared=${OCCAM_SHARED:-../shared}
LC_ALL=C
export LC_ALL
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# within NAMES < PREDICTIONS: "median (10th to 90th percentile)" over workloads of 8 rows and more, "all" over whole
# splits; then the standard deviations of ln(time), medians.
within() {
    awk -F, -v names="$1" '
        function rank(set, value, n, mine,    i, r) {
            r = 0.5
            for (i = 1; i <= n; i++) r += value[set, i] < mine ? 1 : value[set, i] == mine ? 0.5 : 0
            return r
        }
        function judge(set, n,    i, mine, x, y, sx, sy, sxx, syy, sxy, l, sl, sll) {
            for (i = 1; i <= n; i++) {
                mine = measured[set, i]
                x = rank(set, predicted, n, predicted[set, i]); y = rank(set, measured, n, mine)
                sx += x; sy += y; sxx += x * x; syy += y * y; sxy += x * y
                l = log(mine); sl += l; sll += l * l
            }
            rho = (sxy - sx * sy / n) / sqrt((sxx - sx * sx / n) * (syy - sy * sy / n))
            print kind, rho, sqrt(sll / n - sl * sl / n / n)
        }
        NR == 1 { count = split(names, name, " "); for (i = 1; i <= NF; i++) at[$i] = i; next }
        { keys["all," $at["split"]] = "all"; add("all," $at["split"])
          key = "one," $at["split"]; for (i = 1; i <= count; i++) key = key "," $at[name[i]]
          keys[key] = "one"; add(key) }
        function add(key) { rows[key]++; predicted[key, rows[key]] = $at["predicted_us"] + 0
                            measured[key, rows[key]] = $at["measured_us"] + 0 }
        END { for (key in keys) if (rows[key] >= 8) { kind = keys[key]; judge(key, rows[key]) } }'
}
# figures KIND COLUMN < judged
figures() {
    awk -v kind="$1" -v column="$2" '$1 == kind { print $column }' | sort -n | awk '
        { value[NR] = $1 }
        function at(p,    place, low) { place = 1 + p * (NR - 1); low = int(place)
            return value[low] + (place - low) * (value[low < NR ? low + 1 : low] - value[low]) }
        END { printf "%.2f %.3f %.3f %.3f", at(0.5), at(0.5), at(0.1), at(0.9) }'
}
row() {
    set -- $(figures "$1" 2 < "$work/judged") $(figures "$1" 3 < "$work/judged")
    printf ' %s (%s to %s) | %s |' "$2" "$3" "$4" "$5"
}

echo '| kernel | all rows together | sd of ln(time) | one workload, trained on it too | sd of ln(time) | one workload, not trained on | sd of ln(time) |'
echo '|---|---|---|---|---|---|---|'
grep -v '^#' tests/report/validate.table | while IFS='|' read -r title scenario file options; do
    title=$(echo "$title" | sed 's/ *$//')
    file=$(echo $file | sed "s|^shared:|$shared/|")
    [ -r "$file" ] || { echo "rank_within: skipped: $title: $file is not here" >&2; continue; }
    names=$("$program" predict $scenario --format json |
        awk '/"workload": \{/ { inside = 1; next } inside && /\}/ { exit } inside { gsub(/[",:]/, " "); print $1 }' | tr '\n' ' ')
    printf '| %s |' "$title"
    for mode in '' '--hold-out workload'; do
        # shellcheck disable=SC2086 # options are words
        "$program" validate "$file" --scenario $scenario $options --train 96 $mode --seeds "$seeds" --no-choice \
            --no-baselines --predictions "$work/predictions" > /dev/null
        within "$names" < "$work/predictions" > "$work/judged"
        [ -n "$mode" ] || row all
        row one
    done
    echo
done
