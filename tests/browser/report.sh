#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Opens a report with every figure in a headless Chromium: nothing on the console, no request but for the file itself; at
# 1000 and at 400 pixels, light and dark, all figures are seen, letters are large enough to be read, tables are plain and
# whole, and the page does not scroll sideways. OCCAM names the program, BROWSER a browser.
set -u
cd "$(dirname "$0")/../.." || exit 1
OCCAM=${OCCAM:-build/occam}
browser=${BROWSER-}
for name in chromium-headless-shell chromium chromium-browser google-chrome; do
    [ -n "$browser" ] || browser=$(command -v $name) || browser=
done
if [ -z "$browser" ]; then
    echo "browser test: skipped, there is no Chromium (.ci/install browser)"
    exit 0
fi
case $browser in
*headless-shell) headless=--headless ;;
*) headless=--headless=new ;;
esac
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export HOME="$work"
failed=0
fail() {
    echo "browser test: $*"
    failed=1
}
browse() { # OUTPUT OPTIONS... URL
    out=$1
    shift
    timeout 60 "$browser" $headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-background-networking \
        --disable-component-update --no-first-run --user-data-dir="$work/profile" --enable-logging=stderr "$@" \
        > "$out" 2> "$out.log"
}

data=data/measurements/nvidia-h200
printf 'method,runs,fraction\nrandom,1,0.5\nrandom,10,0.8\n' > "$work/runs.csv"
"$OCCAM" tune occam-gqa-decode --calibration none --replay $data/gqa_decode.csv --runs 4 --ledger "$work/l.sqlite" > /dev/null
"$OCCAM" report dsv4-flash-sparse-decode -s num_warps=8 -o "$work/report.html" --measured $data/gqa_decode.csv \
    --measured $data/bandwidth_stream.csv --measured $data/bandwidth_gather.csv --measured "$work/runs.csv" \
    --measured "$work/l.sqlite" || exit 1
figures=$(grep -c '<figure ' "$work/report.html")
[ "$figures" -eq 14 ] || fail "$figures figures, not all 14"

browse "$work/dom" --log-net-log="$work/net.json" --dump-dom "file://$work/report.html"
if ! grep -q '</html>' "$work/dom"; then
    sed 's/^/  /' "$work/dom.log" | tail -5
    fail "the page did not open"
    exit 1
fi
grep 'CONSOLE' "$work/dom.log" && fail "the console is not empty"
# The browser asks its maker's hosts for things of its own; what a page asks for is logged with the page's site.
grep -o -E '_dk_file://[^"]* https?://[^"]*|site=file://[^"]*","url":"https?://[^"]*' "$work/net.json" &&
    fail "the page asked for these"

# A copy that may run one script, in a frame of each width, tells what can be seen.
sed -e 's|<meta http-equiv="Content-Security-Policy"[^>]*/>||' -e 's|</body>|<script>\
onload = function () {\
  var drawn = 0, small = 99, cut = 0, wide = document.documentElement.clientWidth;\
  document.querySelectorAll("figure").forEach(function (figure) { figure.querySelectorAll("svg").forEach(function (svg) {\
    var box = svg.getBoundingClientRect(), inside = true;\
    if (box.width === 0) return;\
    svg.querySelectorAll("text").forEach(function (text) { var own = text.getBoundingClientRect();\
      if (own.width > 0) { small = Math.min(small, parseFloat(getComputedStyle(text).fontSize) * box.width / svg.viewBox.baseVal.width);\
        if (own.left < box.left - 3 \|\| own.right > box.right + 3) inside = false; } });\
    if (!inside) cut++;\
    if (box.width > 200 \&\& box.height > 100 \&\& box.right <= wide \&\& svg.querySelectorAll("path, polygon, use, rect").length > 10) drawn++; }); });\
  var tables = 0, outside = 0;\
  document.querySelectorAll("table").forEach(function (table) { tables++;\
    if (!table.tHead \|\| !table.caption \|\| table.parentElement.getBoundingClientRect().right > wide + 1) outside++; });\
  parent.postMessage(innerWidth + " wide: " + drawn + " figures, " + cut + " with cut texts, letters of " +\
    (small < 8 ? small.toFixed(1) + " pixels" : "8 pixels and more") + ", " + outside + " of " + (tables > 0 ? "the" : "no") + " tables stand out, " +\
    (document.documentElement.scrollWidth > innerWidth ? "scrolls sideways" : "fits"), "*");\
};</script></body>|' "$work/report.html" > "$work/copy.html"
sed 's|(prefers-color-scheme:dark)|all|' "$work/copy.html" > "$work/dark.html"
for page in copy dark; do
    cat > "$work/frames.html" << END
<!DOCTYPE html><body><p id="told"></p>
<iframe width="1000" height="600" style="border:0" src="$page.html"></iframe>
<iframe width="400" height="600" style="border:0" src="$page.html"></iframe>
<script>onmessage = function (event) { document.getElementById("told").append(event.data, "; "); };</script>
END
    browse "$work/frames" --virtual-time-budget=10000 --window-size=1100,1400 --dump-dom "file://$work/frames.html"
    for width in 1000 400; do
        grep -q "$width wide: $figures figures, 0 with cut texts, letters of 8 pixels and more, 0 of the tables stand out, fits" \
            "$work/frames" || fail "$page at $width pixels: $(sed -n 's/.*<p id="told">\(.*\)<.p>.*/\1/p' "$work/frames")"
    done
done
[ $failed = 0 ] && echo "browser test: $figures figures seen at 1000 and 400 pixels, light and dark, console empty, nothing loaded (${browser##*/})"
exit $failed
