# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" help | grep -E '^(Usage|Commands)|^  (predict|help) '
"$OCCAM" help > "$SCRATCH/help"
"$OCCAM" --help | cmp - "$SCRATCH/help" && echo same
