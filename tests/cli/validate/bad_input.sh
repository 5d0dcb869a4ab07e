# SPDX-License-Identifier: GPL-3.0-or-later
printf 'block_n,num_warps,num_stages,group,splits,batch,length,time_us\n64,4,2,8,4,16,4096,80\n32,4,2,8,4,16,4096,90\n' > "$SCRATCH/two.csv"
cd "$SCRATCH" || exit
try() {
    "$OCCAM" validate "$@"
    echo "exit $?"
}
try two.csv
try none.csv --scenario occam-gqa-decode
try two.csv --scenario occam-gqa-decode
try two.csv --scenario occam-gqa-decode --train 4
try two.csv --scenario occam-gqa-decode --train 24.5
try two.csv --scenario occam-gqa-decode --require median_ape_percent
try two.csv --scenario occam-gqa-decode --require 'medianape_percent<=3'
try two.csv --scenario occam-gqa-decode --design --hold-out workload
try two.csv --scenario occam-gqa-decode --hold-out nothing
try two.csv --scenario occam-gqa-decode --predictions /nonexistent/p.csv
# rows of another GPU
sed '1s/^/device,/; 2,$s/^/NVIDIA H200,/' two.csv > h200.csv
try h200.csv --scenario occam-gqa-decode --device geforce-rtx-3090
