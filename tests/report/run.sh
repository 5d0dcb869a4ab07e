#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# run.sh FOLDER: runs the report programs in FOLDER over the reference data in $OCCAM_SHARED (default ../shared) and
# prints the tables of docs/VALIDATION.md as Markdown; says which it leaves out.
set -eu
cd "$(dirname "$0")/../.."
shared=${OCCAM_SHARED:-../shared}
# section PROGRAM TITLE FILE [ARGUMENT...]: the last argument handed on is the file.
section() {
    program=$1 title=$2 file=$shared/$3
    shift 3
    if [ ! -r "$file" ]; then
        echo "skipped: $title: $file is not here"
        return
    fi
    printf '### %s\n\n' "$title"
    "$program" "$@" "$file"
    echo
}
section "$1/serving_report" "Serving curves" data/serving_curves.csv
section "$1/committee_report" "Serving curves: committee" data/serving_curves.csv
section "$1/kernel_report" "Kernel time, uncalibrated: Triton split-KV GQA decode on an H200" \
    data/h200_triton_gqa_decode.csv gqa-split-decode
