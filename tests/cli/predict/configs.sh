# SPDX-License-Identifier: GPL-3.0-or-later
# A list of configurations: every row has a verdict of its own, and the times are those of single questions.
cd "$SCRATCH" || exit
printf 'BM,BN,num_warps,num_stages,M\n128,128,8,3,4096\n256,256,8,3,4096\n128,128,8,5,128\n128,128,8,9,4096\n' > list.csv
"$OCCAM" predict triton-gemm --configs list.csv -s BK=128 | cut -c1-15
"$OCCAM" predict triton-gemm --configs list.csv -s BK=128 --format csv | cut -d, -f1,11 | cut -c1-60
"$OCCAM" predict triton-gemm --configs - --format csv < list.csv | head -n 1
"$OCCAM" predict triton-gemm --configs - --format csv < list.csv | awk -F, 'NR == 2 { print $15 }' > many
"$OCCAM" predict triton-gemm -s BM=128 -s BN=128 -s M=4096 --format json | sed -n 's/^  "kernel_time_us": \(.*\),/\1/p' > one
cmp many one && echo same
# Knobs that the scenario does not list, and values for which its expressions fail.
printf 'BM\n0\n96\n' | "$OCCAM" predict triton-gemm --configs - --free --format csv | cut -d, -f1,10,11
# A row that cannot be timed or told leaves the others alone; lists of the production case have kernel times too.
printf 'block_h,num_stages\n32,2\n32,3\n16,3\n' | "$OCCAM" predict dsv4-flash-sparse-decode --configs - --format csv | cut -d, -f1,12
"$OCCAM" predict triton-gemm --configs list.csv --format json | sed -n 's/^  "\([a-z_]*\)":.*/\1/p'
for text in 'BM,other\n1,2\n' 'BM\n64\nx\n' 'BM\n64,2\n' 'BM,BM\n1,2\n' ''; do
    printf "$text" | "$OCCAM" predict triton-gemm --configs -
    echo "exit $?"
done
"$OCCAM" predict triton-gemm --configs none.csv
echo "exit $?"
