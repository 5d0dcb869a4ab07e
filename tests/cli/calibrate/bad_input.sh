# SPDX-License-Identifier: GPL-3.0-or-later
# Each mistake is one line that names the place; no file is written.
cd "$SCRATCH" || exit
head='kernel,splits,BN,num_warps,num_stages,B,kv_heads,seq_len,time_us'
rows='x,8,64,4,2,1,8,8192,60
x,8,64,4,3,1,8,8192,61
x,8,64,4,1,1,8,8192,90
x,4,64,4,2,1,8,8192,80'
try() {
    what=$1
    shift
    echo "== $what"
    "$OCCAM" calibrate "$@" --scenario "${scenario:-gqa-split-decode}" --output out.json > answer 2>&1
    code=$?
    sed "s/; shipped are.*//" answer
    echo "exit $code"
}
printf '%s\n%s\n' "$head" "$rows" > few.csv
try 'too few rows' few.csv
{ echo "$head"; for i in 1 2 3 4 5 6; do echo "x,8,64,4,2,1,8,8192,6$i"; done; } > one.csv
try 'one row repeated' one.csv
{ echo "$head,outcome"; echo 'x,8,64,4,2,1,8,8192,,infeasible'; echo 'x,8,64,4,3,1,8,8192,,infeasible'; } > none.csv
try 'all infeasible' none.csv
{ echo "$head"; echo "$rows"; echo 'x,2,64,4,2,1,8,8192,0'; } > zero.csv
try 'zero time' zero.csv
{ echo "$head"; echo "$rows"; echo 'x,2,64,4,2,1,8,8192,-3'; } > negative.csv
try 'negative time' negative.csv
{ echo "$head"; echo "$rows" | sed 's/,\([0-9]*\)$/,0.0\1/'; } > unit.csv
try 'milliseconds called microseconds' unit.csv
{ echo "$head,device"; echo 'x,8,64,4,2,1,8,8192,60,NVIDIA H200'; echo 'x,4,64,4,2,1,8,8192,80,NVIDIA A100'; } > mixed.csv
try 'two devices' mixed.csv
{ echo "$head,device"; echo 'x,8,64,4,2,1,8,8192,60,RTX 4090'; } > other.csv
try 'rows of another device' other.csv
{ echo 'splits,BN,warps,num_stages,B,kv_heads,seq_len,time_us'; echo '8,64,4,2,1,8,8192,60'; } > column.csv
try 'a knob without a column' column.csv
{ echo "$head"; echo 'x,8,48,4,2,1,8,8192,60'; } > value.csv
try 'a value outside the list' value.csv
{ echo "$head"; echo 'x,8,64,4,2,1,8'; } > short.csv
try 'a cut-off line' short.csv
try 'more rows than there are' few.csv --train 10
try 'missing file' nowhere.csv
scenario=no-such-scenario try 'unknown scenario' few.csv
try 'two ways to choose' few.csv --train 5 --design 5
try 'no measurements'
echo '8,64' > list.csv
try 'a list without columns' few.csv --train-rows list.csv
{ echo 'splits,BN'; echo '8,64'; echo '2,64'; } > list.csv
try 'a listed row that was not measured' few.csv --train-rows list.csv
echo "== written"
ls | grep json || echo nothing
