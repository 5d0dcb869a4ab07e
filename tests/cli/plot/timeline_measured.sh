# SPDX-License-Identifier: GPL-3.0-or-later
# CTAs as a GPU ran them: no slots are known, so each takes the lowest that is free on its SM; wrong rows are named.
export SOURCE_DATE_EPOCH=1700000000
data=$PWD/data/measurements/nvidia-h200
cd "$SCRATCH" || exit
printf 'cta,smid,start_ns,stop_ns\n0,3,0,1000\n1,3,32,900\n2,3,900,2000\n3,5,0,1500\n4,3,1000,1800\n' > t.csv
"$OCCAM" plot timeline t.csv -o t.svg --keep kept && cat kept/t.csv
try() {
    "$OCCAM" plot timeline t.csv -o none.svg
    echo "exit $?"
}
{
    printf 'cta,smid,start_ns\n0,3,0\n' > t.csv && try
    printf 'cta,smid,start_ns,stop_ns\n0,3,10,5\n' > t.csv && try
    printf 'cta,smid,start_ns,stop_ns\n0,-1,10,15\n' > t.csv && try
    printf 'cta,smid,start_ns,stop_ns\n0,3,x,15\n' > t.csv && try
    { echo cta,smid,start_ns,stop_ns; seq 1 65 | sed 's/$/,3,0,10/'; } > t.csv && try
    printf 'cta,smid,start_ns,stop_ns\n' > t.csv && try
} 2>&1
[ -e none.svg ] || echo "no file"
# Launches of wave_probe on an H200: all CTAs are there, as many at a time on an SM as fit, and the tail is told.
for name in wave_timeline wave_timeline_one_cta wave_timeline_launch_rate; do
    "$OCCAM" plot timeline "$data/$name.csv" -o $name.svg --keep kept
    awk -F, 'NR > 1 { boxes++; slots[$(NF - 4) - int($(NF - 4))] = 1; sms[int($(NF - 4))] = 1 }
        END { print boxes, "CTAs on", length(sms), "SMs,", length(slots), "at a time" }' kept/$name.csv
    sed -n 's/.*<text>\(<tspan[^>]*>\)\{0,1\}\([^<]*\)<.*/\2/p' $name.svg | grep -o 'Of .*\|Measured on.*'
done
