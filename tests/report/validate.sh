#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# validate.sh PROGRAM DOCUMENT: validates every row of tests/report/validate.table in several modes and writes the
# tables between the markers "<!-- calibrated -->" and "<!-- /calibrated -->" of DOCUMENT. SEEDS (default 20).
set -eu
cd "$(dirname "$0")/../.."
program=$1 document=$2 seeds=${SEEDS:-20}
shared=${OCCAM_SHARED:-../shared}
LC_ALL=C
export LC_ALL
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
grep -q '^<!-- calibrated -->$' "$document" && grep -q '^<!-- /calibrated -->$' "$document" ||
    { echo "validate: $document has no markers <!-- calibrated --> and <!-- /calibrated -->" >&2; exit 1; }

# pick TITLE MODE: one table row from the CSV on stdin, columns by name.
pick() {
    awk -F, -v title="$1" -v mode="$2" -v baselines="$3" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        function f(key, digits) { return $at[key] == "" ? "-" : sprintf("%." digits "f", $at[key]) }
        function percent(key) { return sprintf("%.1f", 100 * $at[key]) }
        function base(name) { return f("baselines." name ".median_ape_percent", 1) }
        { printf "| %s | %s | %d | %s (%s to %s) | %s (%s to %s) | %s | %s (%s to %s) | %s | %s | %s | %s | %s |\n", title, mode,
            $at["test_rows"], f("median_ape_percent", 1), f("median_ape_lo_percent", 1), f("median_ape_hi_percent", 1),
            f("p90_ape_percent", 1), f("p90_ape_lo_percent", 1), f("p90_ape_hi_percent", 1), f("bias_percent", 1),
            f("spearman", 3), f("spearman_lo", 3), f("spearman_hi", 3), percent("coverage_fraction"),
            f("half_width_percent", 1), f("top1_regret_percent", 1), f("after_8_runs_regret_percent", 1),
            f("best_baseline_median_ape_percent", 1)
          printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", title, mode, base("roofline"), base("waves"),
            base("nearest"), base("linear"), base("gp_knobs"), base("gp_derived"), base("constant") > baselines }'
}

grep -v '^#' tests/report/validate.table | while IFS='|' read -r title scenario file options; do
    title=$(echo "$title" | sed 's/ *$//')
    file=$(echo $file | sed "s|^shared:|$shared/|")
    if [ ! -r "$file" ]; then
        echo "validate: skipped: $title: $file is not here" >&2
        echo "$title" >> "$work/skipped"
        continue
    fi
    for mode in '--train 24' '--train 24 --design' '--train 96' '--train 96 --hold-out workload'; do
        case $mode in
        *design) name='24 designed' ;;
        *workload) name='96, whole workloads held out' ;;
        *) name="${mode#--train } random" ;;
        esac
        echo "validate: $title, $name" >&2
        # shellcheck disable=SC2086 # options are words
        "$program" validate "$file" --scenario $scenario --seeds "$seeds" $mode $options --format csv > "$work/answer" ||
            { echo "validate: $title, $name: failed" >&2; exit 1; }
        pick "$title" "$name" "$work/line" < "$work/answer" >> "$work/errors"
        cat "$work/line" >> "$work/baselines"
    done
done
{
    printf '`make validate` wrote this on %s with %s: %s splits each, medians over the splits (10th to 90th\n' \
        "$(date -u +%Y-%m-%d)" "$("$program" version | head -n 1)" "$seeds"
    printf 'percentile). Rows trained on are never judged. Data: the files of tests/report/validate.table.\n'
    [ ! -s "$work/skipped" ] || printf 'Left out, not here: %s.\n' "$(tr '\n' ';' < "$work/skipped" | sed 's/;$//')"
    printf '\n| kernel | trained on | judged | median error %% | 90th percentile %% | bias %% | rank correlation | in 90 %% interval, %% | half width %% | regret of choice %% | after 8 runs %% | best of six baselines, median %% |\n'
    printf '|---|---|---|---|---|---|---|---|---|---|---|---|\n'
    cat "$work/errors"
    printf '\nMedian error in %% of the baselines on the same splits:\n\n'
    printf '| kernel | trained on | roofline | waves | nearest | linear | process on knobs | process, derived too | constant |\n'
    printf '|---|---|---|---|---|---|---|---|---|\n'
    cat "$work/baselines"
} > "$work/section"
awk -v section="$work/section" '
    /^<!-- \/calibrated -->$/ { inside = 0 }
    !inside { print }
    /^<!-- calibrated -->$/ { inside = 1; while ((getline line < section) > 0) print line }' "$document" > "$work/document"
cat "$work/document" > "$document"
