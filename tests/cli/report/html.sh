# SPDX-License-Identifier: GPL-3.0-or-later
# A report with every figure: sections, figures, tables; well-formed, one id each, nothing loaded.
export SOURCE_DATE_EPOCH=1700000000
data=$PWD/data/measurements/nvidia-h200 check=$PWD/tests/cli/report/well_formed.awk
cd "$SCRATCH" || exit
printf 'method,runs,fraction\nrandom,1,0.5\nrandom,10,0.8\n' > runs.csv
"$OCCAM" report dsv4-flash-sparse-decode -s num_warps=8 -o r.html --measured "$data/gqa_decode.csv" \
    --measured "$data/bandwidth_stream.csv" --measured "$data/bandwidth_gather.csv" --measured runs.csv --keep kept
awk -f "$check" r.html
grep -o '<figure id="[^"]*"' r.html
grep -o '<h2 id="[^"]*">[^<]*' r.html
grep -o '<caption>[^<]*' r.html
grep -c '<svg [^>]*role="img" aria-labelledby=' r.html
grep -c 'class="answer"' r.html
grep -o '<html lang="en"\|<meta name="viewport"\|<main id="content">\|<nav aria-label\|prefers-color-scheme:dark\|@media print' r.html | sort -u
ls kept | wc -l | tr -d ' '
# Made again, it is the same.
"$OCCAM" report dsv4-flash-sparse-decode -s num_warps=8 -o again.html --measured "$data/gqa_decode.csv" \
    --measured "$data/bandwidth_stream.csv" --measured "$data/bandwidth_gather.csv" --measured runs.csv
cmp r.html again.html && echo same
