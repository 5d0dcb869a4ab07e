#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# run.sh: the tests of bindings/python with $OCCAM; leaves no compiled files behind. Says so where there is no python3.
set -eu
cd "$(dirname "$0")/../.."
OCCAM=$(realpath "$OCCAM")
export OCCAM
if ! command -v python3 > /dev/null; then
    echo "python tests: SKIPPED, there is no python3"
    [ -z "${TEST_COUNTS:-}" ] || echo "0 0 0" >> "$TEST_COUNTS"
    exit 0
fi
status=0
output=$(python3 -B -m unittest discover -s tests/python -p 'test_*.py' 2>&1) || status=1
ran=$(echo "$output" | sed -n 's/^Ran \([0-9]*\) test.*/\1/p')
if [ $status = 0 ]; then
    echo "python tests: $ran, $(echo "$output" | tail -1)"
else
    echo "$output"
    [ -z "${TEST_FAILURES:-}" ] || echo "python tests: $(echo "$output" | tail -1)" >> "$TEST_FAILURES"
fi
[ -z "${TEST_COUNTS:-}" ] || echo "${ran:-1} $status 0" >> "$TEST_COUNTS"
exit $status
