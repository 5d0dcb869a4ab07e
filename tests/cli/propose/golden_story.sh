# SPDX-License-Identifier: GPL-3.0-or-later
# After the refuted eight warps: another CTA target is proposed, a third stage at block_h=32 never (it does not fit).
cd "$SCRATCH" || exit 1
cat > measured.csv <<'CSV'
block_h,BLOCK_T,num_warps,num_stages,TARGET_CTAS,split_floor,C,throughput_tokens_per_s,outcome
32,16,4,2,188,0,96,790,ok
32,16,8,2,188,0,96,735,ok
CSV
"$OCCAM" propose dsv4-flash-sparse-decode --objective throughput@C=96 --measured measured.csv --batch 8 > proposals.txt
echo "exit $?"
echo "proposals with another CTA target: $(grep -E '^[0-9]+ ' proposals.txt | grep -v -c TARGET_CTAS=188)"
echo "proposals that cannot be launched: $(grep -E '^[0-9]+ ' proposals.txt | grep -c 'block_h=32.*num_stages=3')"
grep -c 'limit\|Stop rule' proposals.txt
grep 'Again' proposals.txt | sed 's/ (.*//'
