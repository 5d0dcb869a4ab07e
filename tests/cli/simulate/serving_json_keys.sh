# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" simulate serving dsv4-flash-sparse-decode --concurrency 2 --requests 4 --output-tokens 5 --format json |
    sed -n 's/^  "\([a-z0-9_]*\)":.*/\1/p'
"$OCCAM" simulate serving dsv4-flash-sparse-decode --concurrency 2 --requests 4 --output-tokens 5 --format csv | head -n 1
