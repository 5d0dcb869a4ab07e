# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" simulate serving dsv4-flash-sparse-decode --rate 1.5 --requests 500 --input-tokens 200 --output-tokens 50 \
    --lengths geometric --prefill-us-per-token 40 --token-budget 512 --kv-tokens 3000 --kv-block 16 --captured 1,2,4,8,16 \
    --draft-tokens 2 --acceptance 0.5 --slo itl_p99=60ms,ttft_p99.5=300ms,tpot_mean=20ms --queue "$SCRATCH/queue.csv"
head -n 3 "$SCRATCH/queue.csv"
