# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" occupancy --device sm_90 --threads 256 --registers 128 --smem 0 --format csv
