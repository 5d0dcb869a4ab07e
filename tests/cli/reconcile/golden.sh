# SPDX-License-Identifier: GPL-3.0-or-later
# Predicted times move with the model: masked here.
# A trace says 80,000 B, an old cache entry 61,568 B: the same occupancy on sm_120, but it decides whether a third stage fits.
"$OCCAM" reconcile --scenario dsv4-flash-sparse-decode --claim "smem_bytes=80000 registers=255 threads=128 source=trace" \
    --claim "smem_bytes=61568 source=cache" |
    sed -E 's/^(  predicted time +)[0-9.]+ us +by/\1T us by/; s/(predicted kernel time: )[0-9.]+ (times.*) \([0-9.]+ to [0-9.]+\)/\1R \2 (LO to HI)/'
"$OCCAM" reconcile --scenario dsv4-flash-sparse-decode --claim "smem=80KB registers=255 threads=128 source=trace" --claim "smem=60KB source=cache" > /dev/null
echo "exit $?"
