# SPDX-License-Identifier: GPL-3.0-or-later
# More refuted conditions than the model is asked at once: 40 concurrencies with two contexts each.
cd "$SCRATCH" || exit 1
export OCCAM_LEDGER=$SCRATCH/ledger.sqlite
"$OCCAM" hypothesis "num_warps=8 raises throughput" --scenario dsv4-flash-sparse-decode --change num_warps=8 \
    --concurrency "$(seq -s, 1 40)" > /dev/null
echo "exit $?"
awk -v OFS=, 'BEGIN { print "concurrency,context,tokens_per_s"; for (c = 1; c <= 40; c++) for (k = 1; k < 3; k++) print c, k, 100 + c }' > base.csv
awk -F, -v OFS=, 'NR > 1 { $3 /= 2 } 1' base.csv > variant.csv
"$OCCAM" judge base.csv variant.csv --hypothesis 1 > out
echo "exit $?"
grep -c 'cannot be asked' out
sed -n '1,2p' out
grep '=64\|num_warps=16\|num_stages' out
