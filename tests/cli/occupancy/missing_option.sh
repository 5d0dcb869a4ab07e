# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" occupancy --device sm_120 --registers 32
