# SPDX-License-Identifier: GPL-3.0-or-later
# Names and files of the command line that cannot be meant are refused; a record of tune and a ledger become figures
# without taking any other away.
rows=$PWD/data/measurements/nvidia-h200/gqa_decode.csv
cd "$SCRATCH" || exit
try() {
    "$OCCAM" report dsv4-flash-sparse-decode -o a.html "$@"
    echo "exit $?"
}
echo "a,b" > other.csv
{
    try --x num_warp
    try --y unknown
    try --x num_warps --y num_warps
    try --variant num_warps=9
    try --variant num_warp=8
    try --measured other.csv
    try -o -
} 2>&1
ls
"$OCCAM" tune occam-gqa-decode --calibration none --replay "$rows" --runs 4 --record rec.csv --ledger l.sqlite > /dev/null
"$OCCAM" report dsv4-flash-sparse-decode --measured rec.csv --measured l.sqlite -o r.html
grep -o '<figure id="[^"]*"' r.html
