# SPDX-License-Identifier: GPL-3.0-or-later
# What one run would be warned of is counted over the seeds.
"$OCCAM" simulate serving dsv4-flash-sparse-decode --rate 40 --requests 20000 --output-tokens 100 --max-batch 96 --horizon 5m \
    --seeds 3 | grep -E 'Prompts|runs:'
