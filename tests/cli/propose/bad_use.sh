# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" propose
echo "exit $?"
"$OCCAM" propose occam-gqa-decode --objective speed
echo "exit $?"
"$OCCAM" propose dsv4-flash-sparse-decode --objective throughput@D=96
echo "exit $?"
"$OCCAM" propose dsv4-flash-sparse-decode --objective throughput@C=100001
echo "exit $?"
echo 'block_n,num_warps,num_stages,group,splits,time_us
64,4,2,8,4,0' > "$SCRATCH/zero.csv"
cd "$SCRATCH" || exit 1
"$OCCAM" propose occam-gqa-decode --measured zero.csv
echo "exit $?"
echo 'block_n,num_warps,time_us
64,4,70' > lacks.csv
"$OCCAM" propose occam-gqa-decode --measured lacks.csv
echo "exit $?"
echo 'block_n,num_warps,num_stages,group,splits,time_us
64,4,2,8,5000,70' > other.csv
"$OCCAM" propose occam-gqa-decode --measured other.csv
echo "exit $?"
"$OCCAM" propose occam-gqa-decode --where 'block_n > 1000'
echo "exit $?"
"$OCCAM" propose occam-gqa-decode --batch 1000
echo "exit $?"
