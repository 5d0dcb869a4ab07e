# SPDX-License-Identifier: GPL-3.0-or-later
# A trace says 80,000 B, an old cache entry 61,568 B: the same occupancy on sm_120, but it decides whether a third stage fits.
"$OCCAM" reconcile --scenario dsv4-flash-sparse-decode --claim "smem_bytes=80000 registers=255 threads=128 source=trace" \
    --claim "smem_bytes=61568 source=cache"
