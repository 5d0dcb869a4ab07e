#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# replay.sh FOLDER: tries every input of tests/fuzz/corpus with the replay programs of FOLDER (one per fuzz target). Writes
# the counts of run_all.sh.
set -u
cd "$(dirname "$0")/../.." || exit 1
checks=0
failures=0
for program in "$1"/fuzz_*; do
    case $program in *.*) continue ;; esac
    name=${program##*/fuzz_}
    checks=$((checks + 1))
    if said=$("$program" "tests/fuzz/corpus/$name" 2>&1); then
        echo "fuzz_$name: $said without a crash"
    else
        failures=$((failures + 1))
        echo "fuzz_$name: FAILED"
        echo "$said" | tail -40
    fi
done
[ -z "${TEST_COUNTS-}" ] || echo "$checks $failures 0" >> "$TEST_COUNTS"
echo "$((checks - failures)) of $checks corpora passed"
[ $failures = 0 ] && [ $checks -gt 0 ]
