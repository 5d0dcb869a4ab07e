# SPDX-License-Identifier: GPL-3.0-or-later
# Predictions of recorded rows and of a fake device stand by themselves; "all" is of what was measured afterwards.
rows=$PWD/data/measurements/nvidia-h200/gqa_decode.csv
cd "$SCRATCH" || exit 1
export OCCAM_LEDGER=$SCRATCH/l.sqlite
groups() { "$OCCAM" ledger scorecard --format csv | tail -n +2 | sed 's/,.*,/: /'; }
"$OCCAM" tune occam-gqa-decode --calibration none --replay "$rows" --runs 3 --ledger l.sqlite > /dev/null
groups
"$OCCAM" ledger scorecard | sed -n '5,$p'
"$OCCAM" tune occam-gqa-decode -s batch=1 -s length=256 -s kv_heads=2 --stop-gain 0 --device-backend fake --sample-time 1ms --runs 3 > /dev/null 2>&1
"$OCCAM" hypothesis "num_warps=8 raises throughput" --scenario dsv4-flash-sparse-decode --change num_warps=8 --concurrency 8 > /dev/null
printf 'concurrency,tokens_per_s\n8,281\n' > base.csv
printf 'concurrency,tokens_per_s\n8,230\n' > variant.csv
"$OCCAM" judge base.csv variant.csv --hypothesis 1 > /dev/null
"$OCCAM" tune triton-gemm --vary num_warps --run 'echo $(({num_warps} * 100))' --unit us --runs 2 --ledger l.sqlite > /dev/null
groups
"$OCCAM" ledger scorecard | sed -n '/^$/,$p' | tail -n 3
"$OCCAM" ledger scorecard --format csv | cut -d, -f1,2 | sed -n '2p'
