#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# replay.sh FOLDER DOCUMENT: replays searches on measured spaces with the programs in FOLDER and writes the tables between
# the markers "<!-- replayed -->" and "<!-- /replayed -->" of DOCUMENT. REPEATS (100) and RUNS (100).
set -eu
cd "$(dirname "$0")/../.."
folder=$1 document=$2 repeats=${REPEATS:-100} runs=${RUNS:-100}
tuning=${OCCAM_SHARED:-../shared}/data/tuning measured=data/measurements/nvidia-h200
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
grep -q '^<!-- replayed -->$' "$document" && grep -q '^<!-- /replayed -->$' "$document" ||
    { echo "replay: $document has no markers <!-- replayed --> and <!-- /replayed -->" >&2; exit 1; }
{
    printf '`make replay` wrote this on %s: %s repeats of %s runs.\n\n' "$(date -u +%Y-%m-%d)" "$repeats" "$runs"
    for name in convolution_A100.json.gz dedispersion_MI250X.json.gz gemm_RTX_3090.json.gz=data/scenarios/cltune-xgemm.yaml \
        pnpoly_RTX_3090_T4.json.gz ktt_convolution_2080Ti.json.gz ktt_coulomb_2080.json; do
        if [ -r "$tuning/${name%%=*}" ]; then
            echo "replay: ${name%%=*}" >&2
            "$folder/search_replay" "$repeats" "$runs" "$tuning/$name"
        else
            echo "replay: skipped: ${name%%=*} is not here" >&2
            printf 'Left out, not here: %s.\n\n' "${name%%=*}"
        fi
    done
    printf 'Runs until within 1 %% and 5 %% of the best: median over the shapes (90th percentile).\n\n'
    printf '| kernel | shapes | configurations | first run, fraction of the best | 1 %%, calibrated prior | 5 %% | 1 %%, no prior | 5 %% | in 80 %% interval, %% | without prior |\n'
    printf '|---|---|---|---|---|---|---|---|---|---|\n'
    for kernel in sparse-decode gqa-decode gemm-tile; do
        echo "replay: $kernel" >&2
        "$folder/prior_replay" "occam-$kernel" 48 "$measured/$(echo $kernel | tr - _).csv"
    done
} > "$work/table"
awk -v table="$work/table" '
    /^<!-- \/replayed -->$/ { inside = 0 }
    !inside { print }
    /^<!-- replayed -->$/ { inside = 1; while ((getline text < table) > 0) print text }' "$document" > "$work/document"
cat "$work/document" > "$document"
