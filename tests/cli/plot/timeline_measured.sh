# SPDX-License-Identifier: GPL-3.0-or-later
# CTAs as a GPU ran them: no slots are known, so each takes the lowest that is free on its SM; wrong rows are named.
export SOURCE_DATE_EPOCH=1700000000
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
