# SPDX-License-Identifier: GPL-3.0-or-later
# Where the time of a launch gives no turns of its loop, the question stays open and the scenario says why: shorter than
# any prediction, no time at all, a GPU of which only the limits are known. A launch under Nsight Compute is fitted too.
trace() {
    printf '{"deviceProperties": [{"id": 0, "name": "%s", "computeMajor": 9, "computeMinor": 0, "numSms": 132}],\n' "$2"
    printf '"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "ts": 1, %s "args": {"device": 0, ' "$1"
    printf '"registers per thread": 32, "shared memory": 0, "grid": [64, 1, 1], "block": [128, 1, 1]}}]}\n'
}
cd "$SCRATCH" || exit 1
trace '"dur": 0.5,' 'NVIDIA H200' > short.json
trace '' 'NVIDIA H200' > timeless.json
trace '"dur": 20,' 'NVIDIA H999' > unknown.json
for name in short timeless unknown; do
    "$OCCAM" inspect "$name.json" --as scenario | sed -n -e '/^device/p' -e '/iterations:/p' -e '/not fitted/p' -e '/^notes/,$p'
    "$OCCAM" inspect "$name.json" --as scenario | "$OCCAM" predict - > answer 2>&1 || { echo "exit $?"; cat answer; }
done
cd - > /dev/null || exit 1
"$OCCAM" inspect tests/recorded/profilers/ncu-raw-h200.csv --as scenario | "$OCCAM" predict - |
    grep -e '^split' -e 'kernel time  ' -e measured -e Note
