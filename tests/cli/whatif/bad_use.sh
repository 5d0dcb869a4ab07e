# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" whatif dsv4-flash-sparse-decode
echo "exit $?"
"$OCCAM" whatif dsv4-flash-sparse-decode -s num_warps=4
echo "exit $?"
"$OCCAM" whatif dsv4-flash-sparse-decode -s num_warps=5
echo "exit $?"
"$OCCAM" whatif dsv4-flash-sparse-decode -s TARGET_CTAS=512 --explain 13..6
echo "exit $?"
"$OCCAM" whatif dsv4-flash-sparse-decode --explain 6..13
echo "exit $?"
"$OCCAM" whatif dsv4-flash-sparse-decode -s TARGET_CTAS=512 --explain 6..13 --across C
echo "exit $?"
"$OCCAM" whatif dsv4-flash-sparse-decode -s num_warps=8 --across split_floor
echo "exit $?"
