# SPDX-License-Identifier: GPL-3.0-or-later
# Which target wins moves with the time model; that each concurrency has its ranking and a reason does not.
"$OCCAM" sweep dsv4-flash-sparse-decode --vary TARGET_CTAS | grep '^C='
"$OCCAM" sweep dsv4-flash-sparse-decode --vary TARGET_CTAS | grep -c '^Best: .* CTAs on 188 SMs are .* waves: .* full'
"$OCCAM" sweep dsv4-flash-sparse-decode --vary TARGET_CTAS --by none | grep -c '^Best'
"$OCCAM" sweep dsv4-flash-sparse-decode --vary num_warps | grep -c '^Best'
"$OCCAM" sweep dsv4-flash-sparse-decode --vary TARGET_CTAS --by C --where 'TARGET_CTAS == 512' |
    sed -n '/^C=64/,/^C=80/s/^Best: \([^;]*full\).*/\1/p'
