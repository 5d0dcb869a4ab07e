#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# fuzz.sh FOLDER NAME...: fuzzes each target of FOLDER for FUZZ_SECONDS (default 60), from what earlier runs found and
# tests/fuzz/corpus/NAME. What breaks a target goes to FOLDER/findings; what is new to FOLDER/corpus/NAME.
set -eu
cd "$(dirname "$0")/../.."
folder=$1
shift
broken=0
for name in "$@"; do
    mkdir -p "$folder/corpus/$name" "$folder/findings" "tests/fuzz/corpus/$name"
    dictionary=tests/fuzz/dictionary/$name
    if [ ! -f "$dictionary" ]; then dictionary=; fi
    log=$folder/$name.log
    # A text of 64 KiB takes each reader well under a second; 25 s leaves room for the sanitizers on a busy machine.
    if "$folder/fuzz_$name" "$folder/corpus/$name" "tests/fuzz/corpus/$name" -max_total_time="${FUZZ_SECONDS:-60}" \
        -max_len=65536 -timeout=25 -rss_limit_mb=1024 -print_final_stats=1 -artifact_prefix="$folder/findings/$name-" \
        ${dictionary:+-dict="$dictionary"} > "$log" 2>&1; then
        grep -E 'DONE' "$log" | tail -1 | sed "s|^|fuzz_$name: |"
        sed -n "s|^stat::number_of_executed_units: *|fuzz_$name: inputs tried: |p" "$log"
    else
        broken=1
        echo "fuzz_$name: FAILED, see $log and $folder/findings"
        grep -E 'ERROR|SUMMARY|must hold' "$log" | head -5
    fi
done
exit $broken
