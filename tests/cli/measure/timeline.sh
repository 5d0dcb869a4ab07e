# SPDX-License-Identifier: GPL-3.0-or-later
# Where and when every CTA of one launch ran: 80 CTAs on 37 SMs that take one at a time are two rounds and a tail.
cd "$SCRATCH" || exit
probe="measure wave_probe --device-backend fake"
"$OCCAM" $probe -s grid=80 -s hold_us=20 --timeline t.csv
head -2 t.csv
awk -F, 'NR > 1 { sms[$2]; ctas++; if ($4 > last) last = $4 } END { print ctas, "CTAs on", length(sms), "SMs until", last, "ns" }' t.csv
grep -E '"(device|configuration|rounds_count|tail_ctas)"' t.json
"$OCCAM" plot timeline t.csv -o t.svg && sed -n 's/.*<text>\(<tspan[^>]*>\)\{0,1\}\([^<]*\)<.*/\2/p' t.svg | grep -E 'CTAs' | sort -u
ls
rm t.*
{
    "$OCCAM" $probe -s grid=80,90 --timeline t.csv
    "$OCCAM" measure gqa_decode --device-backend fake --timeline t.csv
    "$OCCAM" $probe --timeline t.txt
    "$OCCAM" $probe --timeline t.csv --output rows
    "$OCCAM" $probe --timeline no/such/t.csv
    "$OCCAM" $probe -s grid=7 -s cluster=2 --timeline t.csv
    "$OCCAM" $probe --fake-fault wrong@1 --timeline t.csv
} 2>&1
ls
