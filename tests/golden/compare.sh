#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# compare.sh GOLDEN_PROGRAM: runs it and compares with predictions.csv beside this script, digit for digit. A wanted change
# is taken over by `make golden-accept`, reviewed, and its reason given in the commit.
set -u
here=$(dirname "$0")
actual=$(mktemp)
trap 'rm -f "$actual"' EXIT
checks=0
failures=0
errors=0
if ! "$1" > "$actual"; then
    echo 'golden: the program failed' >&2
    checks=1
    errors=1
else
    checks=$(($(wc -l < "$actual") - 1))
    if ! diff -u --label golden --label now "$here/predictions.csv" "$actual" > "$actual.diff"; then
        failures=$(grep -c '^[-+][^-+]' "$actual.diff")
        head -40 "$actual.diff"
    fi
    rm -f "$actual.diff"
fi
[ -z "${TEST_COUNTS-}" ] || echo "$checks $failures $errors" >> "$TEST_COUNTS"
if [ $((failures + errors)) = 0 ]; then
    echo "golden predictions: $checks equal"
else
    echo "golden predictions: $failures lines differ (make golden-accept, if that is meant)"
    exit 1
fi
