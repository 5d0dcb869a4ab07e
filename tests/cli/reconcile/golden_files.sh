# SPDX-License-Identifier: GPL-3.0-or-later
# The same out of a trace and a cache, made from the documented fields.
mkdir -p "$SCRATCH/cache/KEY"
printf '{"name": "mma_sparse_decode_split", "shared": 61568, "num_warps": 4, "num_stages": 2, "target": {"backend": "cuda", "arch": 120, "warp_size": 32}}' > "$SCRATCH/cache/KEY/mma_sparse_decode_split.json"
cat > "$SCRATCH/trace.json" <<'END'
{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA RTX PRO 6000 Blackwell Server Edition", "computeMajor": 12, "computeMinor": 0, "numSms": 188}],
"traceEvents": [
{"ph": "X", "cat": "kernel", "name": "mma_sparse_decode_split", "pid": 0, "tid": 7, "ts": 10.0, "dur": 95.5, "args": {"device": 0, "stream": 7, "registers per thread": 255, "shared memory": 80000, "blocks per SM": 2.7, "warps per SM": 10.9, "grid": [96, 6, 1], "block": [128, 1, 1], "est. achieved occupancy %": 0}},
{"ph": "X", "cat": "kernel", "name": "mma_sparse_decode_split", "pid": 0, "tid": 7, "ts": 210.0, "dur": 96.5, "args": {"device": 0, "stream": 7, "registers per thread": 255, "shared memory": 80000, "blocks per SM": 2.7, "warps per SM": 10.9, "grid": [96, 6, 1], "block": [128, 1, 1], "est. achieved occupancy %": 0}}
]}
END
"$OCCAM" reconcile "$SCRATCH/trace.json" "$SCRATCH/cache" --scenario dsv4-flash-sparse-decode | sed "s|$SCRATCH|DIR|g" |
    sed -E 's/^(  predicted time +)[0-9.]+ us +by/\1T us by/; s/(predicted kernel time: )[0-9.]+ (times.*) \([0-9.]+ to [0-9.]+\)/\1R \2 (LO to HI)/'
"$OCCAM" reconcile "$SCRATCH/trace.json" "$SCRATCH/cache" --device sm_120 > /dev/null
echo "alone on sm_120: exit $?"
"$OCCAM" reconcile "$SCRATCH/trace.json" "$SCRATCH/cache" --scenario dsv4-flash-sparse-decode --format json |
    grep -E '"(verdict|matters|trusted_source|block_h|knob|fits_trusted|fits_other|smem_over_limit_bytes_trusted|changes_a_conclusion)"'
# An entry that was written after the trace may be a later version.
touch -d '2026-01-01' "$SCRATCH/trace.json"
"$OCCAM" reconcile "$SCRATCH/trace.json" "$SCRATCH/cache" --device sm_120 | grep 'written after' | sed "s|$SCRATCH|DIR|g"
