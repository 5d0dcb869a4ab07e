# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" predcit
echo "exit $?"
"$OCCAM"
echo "exit $?"
"$OCCAM" help nothing
