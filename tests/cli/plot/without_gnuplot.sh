# SPDX-License-Identifier: GPL-3.0-or-later
PATH="$SCRATCH" "$OCCAM" plot throughput dsv4-flash-sparse-decode -o "$SCRATCH/a.png"
code=$?
ls "$SCRATCH"
exit $code
