# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" devices sm_90 --format json | grep -E '"(name|compute_capability|max_warps_per_sm|smem_per_sm_bytes|has_wgmma)"'
