# SPDX-License-Identifier: GPL-3.0-or-later
cd "$SCRATCH"
echo 'just words' > a.txt
: > empty.json
mkdir folder
try() {
    "$OCCAM" reconcile "$@" 2> err
    echo "exit $?"
    sed "s|near names: .*|near names: ...|; s|shipped are .*|shipped are ...|" err >&2
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
try --claim "regs=4" --device sm_7
try --claim "regs=4" --scenario gone.yaml
try --claim "regs=4 kernel=a" --kernel b
try --claim "regs=4 kernel=a" --claim "regs=5 kernel=b" --claim "smem=5"
