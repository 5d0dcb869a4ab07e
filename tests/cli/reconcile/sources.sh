# SPDX-License-Identifier: GPL-3.0-or-later
# The source decides whom to trust: a misspelt one is refused, a missing one named; what cannot be launched says why.
try() {
    "$OCCAM" reconcile "$@" 2>&1
    echo "exit $?"
}
try --claim "smem_bytes=80000 source=nuc" --claim "smem_bytes=61568 source=trcae" --device sm_120
try --claim "smem_bytes=80000 source=trcae" --device sm_120
try --claim "smem_bytes=80000 source=hearsay" --device sm_120
try --claim "smem_bytes=80000 source=trace source=ncu" --device sm_120
try --claim "smem_bytes=80000" --claim "smem_bytes=61568 source=cache" --device sm_120
for what in "registers=300 threads=128" "threads=99999" "smem_bytes=300000 threads=128" "registers=255 threads=1024" "cluster=17 threads=128"; do
    "$OCCAM" reconcile --claim "$what arch=sm_90 source=trace" | grep 'CTAs per SM'
done
try --claim "registers=300 source=trace arch=sm_90" --claim "registers=100 source=cache"
"$OCCAM" reconcile --claim "registers=300 source=trace arch=sm_90" --format json | grep '"reason": "300'
