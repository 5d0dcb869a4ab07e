# SPDX-License-Identifier: GPL-3.0-or-later
# The promised keys, in order.
"$OCCAM" predict dsv4-flash-sparse-decode --format json | sed -n 's/^  "\([a-z0-9_]*\)":.*/\1/p'
