# SPDX-License-Identifier: GPL-3.0-or-later
# Conflicts that engineers published, each with what is known of it.
short() {
    "$OCCAM" reconcile "$@" > "$SCRATCH/out"
    code=$?
    grep -E 'conflict|trusted|decides|both give|charged|note|SMEM  ' "$SCRATCH/out"
    echo "exit $code"
}
echo '# 81,920 against 61,440 B: 2 against 3 CTAs on sm_90, the same elsewhere'
for arch in sm_90 sm_80 sm_120; do
    short --device $arch --claim "smem_bytes=81920 regs=128 threads=128 source=trace" --claim "smem_bytes=61440 source=cache"
done
echo '# the trace decides the block size'
short --device sm_80 --claim "num_warps=8 source=autotune" --claim "block=32 regs=40 source=trace"
echo '# one KB here and there is the reserve'
short --claim "smem=0 source=ptxas arch=sm_121" --claim "shared=1024 source=cuobjdump arch=sm_121" \
    --claim "shared=20480 source=json arch=sm_121" --claim "driver=1024 source=ncu arch=sm_121"
echo '# or a real array'
short --claim "shared=1024 source=cuobjdump arch=sm_86" --claim "smem=1024 source=ptxas arch=sm_86" --claim "shared=20480 source=json arch=sm_86"
echo '# occupancy of Kineto beyond 48 KiB'
short --claim "shared=81920 est_occ=0 source=kineto" --device sm_90
echo '# megabytes with three decimals'
short --claim "dynamic=0.214MB threads=256 regs=36 source=nsys-table" --device b200
echo '# the grid: rounds of CTAs'
short --device rtx-pro-6000-blackwell-server --claim "grid=512 threads=128 regs=255 smem=80000 source=trace" --claim "grid=376 source=config"
