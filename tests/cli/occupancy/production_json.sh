# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" occupancy --device sm_120 --threads 128 --registers 255 --smem 80000 --format json
