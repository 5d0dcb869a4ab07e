# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" hypothesis "TARGET_CTAS=256 lowers throughput" --scenario dsv4-flash-sparse-decode --change TARGET_CTAS=256 \
    --concurrency 96 --ledger "$SCRATCH/l.sqlite" --format json | sed -n 's/^ *"\([a-z_]*\)":.*/\1/p' | sort -u | tr '\n' ' '
