#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# run.sh [--accept] [SUITE/CASE...]: runs tests/cli/SUITE/CASE.sh (patterns allowed; default all) from the repository
# root and compares with the files beside it:
#   CASE.stdout  CASE.stderr  exact text; without the file the stream must be empty
#   CASE.stdout.glob  CASE.stderr.glob  the same by lines: * stands for any text in a line, a line "..." for any lines
#   CASE.exit  the exit code; without it 0
# The case gets $OCCAM (the program, absolute) and $SCRATCH (an empty folder). --accept writes what came out as the
# expectation, except where a .glob file stands.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
cd "$root" || exit 1
accept=0
if [ "${1-}" = --accept ]; then
    accept=1
    shift
fi
OCCAM=${OCCAM:-build/occam}
case $OCCAM in /*) ;; *) OCCAM=$root/$OCCAM ;; esac
export OCCAM
if [ ! -x "$OCCAM" ]; then
    echo "tests/cli: $OCCAM is not there; build it first" >&2
    exit 1
fi
# Cases do not know of each other: one run of this script for each processor takes every n-th of them.
jobs=$(nproc 2>/dev/null || echo 1)
if [ $accept = 0 ] && [ "$jobs" -gt 1 ] && [ -z "${SHARD-}" ]; then
    said=$(mktemp -d)
    trap 'rm -rf "$said"' EXIT
    shard=0
    while [ $shard -lt "$jobs" ]; do
        SHARD=$shard SHARDS=$jobs sh "$root/tests/cli/run.sh" "$@" > "$said/$shard" 2>&1 &
        shard=$((shard + 1))
    done
    wait
    grep -h -v '^command-line tests: ' "$said"/*
    awk '/^command-line tests: / { passed += $3; failed += $5 }
         END { if (passed + failed == 0) exit 1
               printf "command-line tests: %d passed, %d failed\n", passed, failed
               exit failed > 0 }' "$said"/*
    exit
fi
SHARD=${SHARD-0} SHARDS=${SHARDS-1}
# What a user's surroundings could change is pinned.
export COLUMNS=80 LINES=24 LC_ALL=C TERM=dumb NO_COLOR=1
unset OCCAM_DEVICE_DIR XDG_CONFIG_HOME
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME="$work/home"
mkdir "$HOME"
passed=0
failed=0

# compare_stream NAME BASE: actual text in $work/NAME, expectation beside the case.
compare_stream() {
    if [ -f "$2.$1.glob" ]; then
        awk -f tests/cli/glob_match.awk "$2.$1.glob" "$work/$1" || return 1
    elif [ $accept = 1 ]; then
        if [ -s "$work/$1" ]; then cp "$work/$1" "$2.$1"; else rm -f "$2.$1"; fi
    else
        expected=$2.$1
        [ -f "$expected" ] || expected=/dev/null
        diff -u --label "expected $1" --label "actual $1" "$expected" "$work/$1" || return 1
    fi
}

run_case() {
    base=${1%.sh}
    SCRATCH=$work/scratch
    export SCRATCH
    rm -rf "$SCRATCH"
    mkdir "$SCRATCH"
    timeout 180 sh "$1" > "$work/stdout" 2> "$work/stderr" < /dev/null
    code=$?
    good=1
    compare_stream stdout "$base" || good=0
    compare_stream stderr "$base" || good=0
    if [ $accept = 1 ]; then
        if [ $code -ne 0 ]; then echo $code > "$base.exit"; else rm -f "$base.exit"; fi
    else
        wanted=0
        [ ! -f "$base.exit" ] || wanted=$(cat "$base.exit")
        if [ "$code" != "$wanted" ]; then
            echo "exit code $code, expected $wanted"
            good=0
        fi
    fi
    if [ $good = 1 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $base"
    fi
}

[ $# -gt 0 ] || set -- '*/*'
seen=0
for pattern in "$@"; do
    for case_file in tests/cli/${pattern%.sh}.sh; do
        [ -f "$case_file" ] || continue
        seen=$((seen + 1))
        [ $((seen % SHARDS)) = "$SHARD" ] || continue
        run_case "$case_file"
    done
done
[ -z "${TEST_COUNTS-}" ] || echo "$((passed + failed)) $failed 0" >> "$TEST_COUNTS"
if [ $seen = 0 ]; then
    echo "tests/cli: no case matches $*" >&2
    exit 1
fi
echo "command-line tests: $passed passed, $failed failed"
[ $failed = 0 ]
