# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" plot
echo "exit $?"
"$OCCAM" plot througput dsv4-flash-sparse-decode
echo "exit $?"
"$OCCAM" plot throughput dsv4-flash-sparse-decode -o a.gif
echo "exit $?"
"$OCCAM" plot throughput dsv4-flash-sparse-decode -o a.png --terminal
echo "exit $?"
"$OCCAM" plot throughput dsv4-flash-sparse-decode -o "/no/such/directory/a.png"
echo "exit $?"
