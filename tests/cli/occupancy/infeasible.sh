# SPDX-License-Identifier: GPL-3.0-or-later
# By how much, in text and JSON; an answered question: exit code 0.
"$OCCAM" occupancy --device sm_120 --threads 128 --registers 255 --smem 101568 || echo "exit $?"
"$OCCAM" occupancy --device sm_120 --threads 128 --registers 255 --smem 101568 --format json |
    grep -E 'ctas_per_sm|over_limit|feasible|reason'
