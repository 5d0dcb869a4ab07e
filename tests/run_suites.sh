#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# run_suites.sh RUNNER: every suite of a test program in a process of its own, as many at once as there are processors, and
# the output of each in one piece. Short-lived processes also keep the sanitizers' heaps small.
set -u
runner=$1
jobs=$(nproc 2>/dev/null || echo 2)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export runner folder

names=$("$runner" --list) && [ -n "$names" ] || exit 1
# shellcheck disable=SC2016 # expanded by the inner shells
echo "$names" | xargs -P "$jobs" -I NAME sh -c '
    "$runner" NAME > "$folder/NAME" 2>&1
    result=$?
    [ $result = 0 ] || echo "NAME" >> "$folder/.failed"
    # One cat is one piece unless it is long; suites that passed say three lines.
    cat "$folder/NAME"
    [ $result -lt 2 ] || echo "suite NAME: ended with status $result"'
if [ -s "$folder/.failed" ]; then
    # Once more where they are all together, and for the closing lines of run_all.sh.
    while read -r name; do
        grep -E ':[FE]:|ERROR|rror:|ended with' "$folder/$name" | head -20 || tail -5 "$folder/$name"
    done < "$folder/.failed" | tee -a "${TEST_FAILURES:-/dev/null}"
    exit 1
fi
