# SPDX-License-Identifier: GPL-3.0-or-later
for arguments in '--threads -1' '--threads 1e30' '--threads 1.5' '--threads nan' '--threads 0x20' '--smem -5' \
    '--carveout 101' '--cluster 0' '--carveout 33.3'; do
    # shellcheck disable=SC2086
    "$OCCAM" occupancy --device sm_120 --threads 128 --registers 32 $arguments
    echo "exit $?"
done
