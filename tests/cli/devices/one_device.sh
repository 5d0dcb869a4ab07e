# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" devices 'NVIDIA RTX PRO 6000 Blackwell Server' | grep -E '^RTX|^compute|sm_count|smem_per_cta_optin'
"$OCCAM" devices rtx-pro-6000-blackwell-server --format csv | sed -n '1p;/^sm_count/p'
