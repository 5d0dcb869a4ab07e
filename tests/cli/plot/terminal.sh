# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" plot throughput dsv4-flash-sparse-decode --terminal | awk '/#/ { rows++ } END { print (rows >= 10 ? "the curve crosses the window" : rows) }'
"$OCCAM" plot throughput dsv4-flash-sparse-decode --columns 60 --rows 15 | awk '{ if (length($0) > wide) wide = length($0) } END { print wide, NR }'
# Only printable characters, no padding.
"$OCCAM" plot throughput dsv4-flash-sparse-decode | LC_ALL=C grep -c '[^ -~]'
"$OCCAM" plot throughput dsv4-flash-sparse-decode | grep -c ' $'
true
