# SPDX-License-Identifier: GPL-3.0-or-later
# No room is an answer, as it is for predict.
"$OCCAM" simulate cta dsv4-flash-sparse-decode -s num_stages=3 | tail -1
"$OCCAM" simulate cta dsv4-flash-sparse-decode -s BLOCK_T=8 | tail -1
"$OCCAM" simulate cta dsv4-flash-sparse-decode -s num_stages=3 --format csv | tr , '\n' | grep -c .
