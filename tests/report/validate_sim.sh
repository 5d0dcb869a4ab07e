#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# validate_sim.sh PROGRAM DOCUMENT: formula, simulator and measurement over the measured rows of our own kernels, with the
# uncalibrated parameters, with those of a calibration on 24 rows and with the built-in ones; writes the table between the markers
# "<!-- simulated -->" and "<!-- /simulated -->" of DOCUMENT.
set -eu
cd "$(dirname "$0")/../.."
program=$1 document=$2
LC_ALL=C
export LC_ALL
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
grep -q '^<!-- simulated -->$' "$document" && grep -q '^<!-- /simulated -->$' "$document" ||
    { echo "validate-sim: $document has no markers <!-- simulated --> and <!-- /simulated -->" >&2; exit 1; }

# line TITLE PARAMETERS: one table row from the JSON on stdin.
line() {
    sed -n 's/^  "\([a-z_]*\)": \([-0-9.e]*\),$/\1 \2/p' | awk -v title="$1" -v parameters="$2" '
        { value[$1] = $2 }
        END { printf "| %s | %s | %d | %.1f | %.1f | %d | %d | %d | %d |\n", title, parameters, value["configurations"],
                  100 * value["formula_median_error_fraction"], 100 * value["simulator_median_error_fraction"],
                  value["over_budget"], value["supports_formula"], value["supports_simulator"], value["supports_neither"] }'
}

for kernel in sparse_decode gqa_decode gemm_tile; do
    name=$(echo $kernel | tr _ -)
    scenario=occam-$name
    rows=data/measurements/nvidia-h200/$kernel.csv
    echo "validate-sim: $kernel" >&2
    "$program" calibrate "$rows" --scenario "$scenario" --train 24 --seed 1 -o "$work/$kernel.json" > /dev/null
    "$program" compare "$scenario" "$rows" --calibration none --format json | line $kernel uncalibrated
    "$program" compare "$scenario" "$rows" --calibration "$work/$kernel.json" --format json | line $kernel 'fitted to 24 rows'
    builtin=data/calibrations/nvidia-h200-$name.json
    fitted=$(sed -n 's/^ *"rows": \([0-9]*\),$/\1/p' "$builtin" | head -n 1)
    "$program" compare "$scenario" "$rows" --calibration "$builtin" --format json | line $kernel "built in, fitted to $fitted rows"
done > "$work/rows"
{
    printf '`make validate-sim` wrote this on %s with %s.\n' "$(date -u +%Y-%m-%d)" "$("$program" version | head -n 1)"
    printf '\n| kernel | parameters | rows | formula, median error %% | simulator, median error %% | more than 15 %% apart | '
    printf 'of these nearer to the formula | to the simulator | both more than 15 %% off |\n|---|---|---|---|---|---|---|---|---|\n'
    cat "$work/rows"
} > "$work/table"
awk -v table="$work/table" '
    /^<!-- \/simulated -->$/ { inside = 0 }
    !inside { print }
    /^<!-- simulated -->$/ { inside = 1; while ((getline text < table) > 0) print text }' "$document" > "$work/document"
cat "$work/document" > "$document"
