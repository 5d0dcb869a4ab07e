# SPDX-License-Identifier: GPL-3.0-or-later
cd "$SCRATCH"
echo 'just words' > a.txt
: > empty.json
mkdir folder
try() {
    "$OCCAM" reconcile "$@"
    echo "exit $?"
}
try
try a.txt
try empty.json
try folder
try gone.json
try --claim "smem_bytes"
try --claim "smem_bytes=lots source=trace"
try --claim "colour=4"
try --claim "regs=4" -s block_h=16
try --claim "regs=4" --device no-such-gpu
try --claim "regs=4" --scenario no-such-scenario
try --claim "regs=4 kernel=a" --kernel b
try --claim "regs=4 kernel=a" --claim "regs=5 kernel=b" --claim "smem=5"
