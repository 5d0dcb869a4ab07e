# SPDX-License-Identifier: GPL-3.0-or-later
for format in text json csv; do
    "$OCCAM" predict dsv4-flash-sparse-decode --format $format >&-
    echo "exit $?"
done
