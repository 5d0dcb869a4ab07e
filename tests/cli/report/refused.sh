# SPDX-License-Identifier: GPL-3.0-or-later
# What a report needs, and that half a report is never left.
cd "$SCRATCH" || exit
try() {
    "$@"
    echo "exit $?"
}
{
    try "$OCCAM" report
    try "$OCCAM" report stream-copy
    try "$OCCAM" report stream-copy -o a.html --format pdf
    try "$OCCAM" report stream-copy -o no/such/a.html
    try "$OCCAM" report no-such-scenario -o a.html
    try env PATH="$SCRATCH" "$OCCAM" report stream-copy -o a.html
    printf '#!/bin/sh\nkill -9 $$\n' > gnuplot && chmod +x gnuplot
    try env PATH="$SCRATCH:$PATH" "$OCCAM" report stream-copy -o a.html
} 2>&1 | sed "s|; shipped are .*||"
ls # nothing but the stand-in
# A configuration that cannot run, and a GPU without figures, still have a report that says so.
"$OCCAM" report dsv4-flash-sparse-decode -s num_stages=3 -o b.md && sed -n '/^## Answer/,/^## Conf/p' b.md | grep '^\*\*' | cut -c1-70
"$OCCAM" report dsv4-flash-sparse-decode --device sm_90 -o c.md && grep -A3 '^Not drawn:' c.md
