#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Opens a report with every figure in headless Chromium: nothing on the console, no request but for the file itself, and
# at 1000 and at 400 pixels all figures have a size and the page does not scroll sideways. OCCAM names the program.
set -u
cd "$(dirname "$0")/../.." || exit 1
OCCAM=${OCCAM:-build/occam}
for name in chromium chromium-browser google-chrome; do
    browser=$(command -v $name) && break
done
if [ -z "${browser-}" ]; then
    echo "browser test: skipped, there is no Chromium (.ci/install browser)"
    exit 0
fi
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
    timeout 120 "$browser" --headless=new --no-sandbox --disable-gpu --disable-background-networking \
        --disable-component-update --no-first-run --user-data-dir="$work/profile" --enable-logging=stderr "$@" \
        > "$out" 2> "$out.log"
}

data=data/measurements/nvidia-h200
printf 'method,runs,fraction\nrandom,1,0.5\nrandom,10,0.8\n' > "$work/runs.csv"
"$OCCAM" report dsv4-flash-sparse-decode -s num_warps=8 -o "$work/report.html" --measured $data/gqa_decode.csv \
    --measured $data/bandwidth_stream.csv --measured $data/bandwidth_gather.csv --measured "$work/runs.csv" || exit 1
figures=$(grep -c '<figure ' "$work/report.html")

browse "$work/dom" --log-net-log="$work/net.json" --dump-dom "file://$work/report.html"
grep -q '</html>' "$work/dom" || fail "the page did not open"
grep 'CONSOLE' "$work/dom.log" && fail "the console is not empty"
# The browser asks its maker's hosts for things of its own; what a page asks for is logged with the page's site.
grep -o -E '_dk_file://[^"]* https?://[^"]*|site=file://[^"]*","url":"https?://[^"]*' "$work/net.json" &&
    fail "the page asked for these"

# A copy that may run one script, in a frame of each width, tells its sizes.
sed -e 's|<meta http-equiv="Content-Security-Policy"[^>]*/>||' -e 's|</body>|<script>\
onload = function () {\
  var drawn = 0, all = document.querySelectorAll("figure svg");\
  all.forEach(function (svg) { var box = svg.getBoundingClientRect();\
    if (box.width > 200 \&\& box.height > 100 \&\& svg.querySelectorAll("path, polygon, use, rect").length > 10) drawn++; });\
  parent.postMessage(innerWidth + " wide: " + drawn + " of " + all.length + " figures, " +\
    (document.documentElement.scrollWidth > innerWidth ? "scrolls sideways" : "fits"), "*");\
};</script></body>|' "$work/report.html" > "$work/copy.html"
cat > "$work/frames.html" << 'END'
<!DOCTYPE html><body><p id="told"></p>
<iframe width="1000" height="600" style="border:0" src="copy.html"></iframe>
<iframe width="400" height="600" style="border:0" src="copy.html"></iframe>
<script>onmessage = function (event) { document.getElementById("told").append(event.data, "; "); };</script>
END
browse "$work/frames" --virtual-time-budget=10000 --window-size=1100,1400 --dump-dom "file://$work/frames.html"
for width in 1000 400; do
    grep -q "$width wide: $figures of $figures figures, fits" "$work/frames" ||
        fail "at $width pixels: $(sed -n 's/.*<p id="told">\(.*\)<.p>.*/\1/p' "$work/frames")"
done
[ $failed = 0 ] && echo "browser test: $figures figures drawn at 1000 and 400 pixels, console empty, nothing loaded"
exit $failed
