# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" predict dsv4-flash-sparse-decode --fromat json
echo "exit $?"
"$OCCAM" predict dsv4-flash-sparse-decode -x
echo "exit $?"
"$OCCAM" predict dsv4-flash-sparse-decode --format
echo "exit $?"
"$OCCAM" predict dsv4-flash-sparse-decode --format yaml
echo "exit $?"
"$OCCAM" predict dsv4-flash-sparse-decode --free=yes
echo "exit $?"
"$OCCAM" predict dsv4-flash-sparse-decode extra
echo "exit $?"
"$OCCAM" predict
echo "exit $?"
