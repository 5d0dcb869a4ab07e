#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# run_all.sh UNIT_RUNNER PROPERTY_RUNNER GOLDEN_PROGRAM REPLAY_FOLDER: runs every kind of test, goes on after a failure, and
# closes with one line over all of them in Check's form. OCCAM names the program that the command-line tests call.
set -u
cd "$(dirname "$0")/.." || exit 1
TEST_COUNTS=$(mktemp)
TEST_FAILURES=$(mktemp)
export TEST_COUNTS TEST_FAILURES
trap 'rm -f "$TEST_COUNTS" "$TEST_FAILURES"' EXIT
broken=0

# A runner that dies without writing its counts is one error.
run() {
    lines_before=$(wc -l < "$TEST_COUNTS")
    printf '== %s\n' "$1"
    shift
    "$@" || broken=1
    [ "$(wc -l < "$TEST_COUNTS")" -gt "$lines_before" ] || echo '1 0 1' >> "$TEST_COUNTS"
}

run 'unit tests' tests/run_suites.sh "$1"
run 'property tests' tests/run_suites.sh "$2"
run 'golden predictions' tests/golden/compare.sh "$3"
run 'inputs of the fuzz targets' tests/fuzz/replay.sh "$4"
run 'command-line tests' tests/cli/run.sh
run 'tests of the Python file' tests/python/run.sh

[ ! -s "$TEST_FAILURES" ] || { echo '== what failed'; head -60 "$TEST_FAILURES"; }
awk '{ checks += $1; failures += $2; errors += $3 }
     END { good = checks ? int(100 * (checks - failures - errors) / checks) : 0
           printf "%d%%: Checks: %d, Failures: %d, Errors: %d\n", good, checks, failures, errors }' "$TEST_COUNTS"
[ $broken = 0 ] && awk '$2 + $3 > 0 { bad = 1 } END { exit bad }' "$TEST_COUNTS"
