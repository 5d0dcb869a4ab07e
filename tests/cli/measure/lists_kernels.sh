# SPDX-License-Identifier: GPL-3.0-or-later
# Every kernel with its settings; the CSV has a row per setting.
"$OCCAM" measure --list | grep -E '^(gqa_decode|  block_n)'
"$OCCAM" measure --list --format csv | grep -E '^(kernel|gemm_tile),' | cut -d, -f1,3-7
"$OCCAM" measure --list --format json | head -4
