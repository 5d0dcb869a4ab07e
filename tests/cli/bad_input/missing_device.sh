# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" predict dsv4-flash-sparse-decode --device h2000
echo "exit $?"
"$OCCAM" predict dsv4-flash-sparse-decode --device-file none.csv
echo "exit $?"
