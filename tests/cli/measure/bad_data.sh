# SPDX-License-Identifier: GPL-3.0-or-later
# A damaged row is named and nothing is lost; a prediction changed afterwards is noticed; a full disk ends the run.
cd "$SCRATCH" || exit 1
run() { "$OCCAM" measure launch_chain -s launches=2 -s ctas=1..3 --out rows --device-backend fake --sample-time 1ms "$@" | sed 's/[0-9.]* s$/T s/'; }
run
echo 'launch_chain,2,5' >> rows/launch_chain.csv
cp rows/launch_chain.csv before
"$OCCAM" measure launch_chain --out rows --resume --device-backend fake
echo "exit $?"
cmp before rows/launch_chain.csv && echo kept
sed -i '$d' rows/launch_chain.csv
printf 'launch_chain,2,5' >> rows/launch_chain.csv
run --resume
sed -i '2s/ctas=./ctas=9/' rows/predictions.csv
"$OCCAM" measure launch_chain --out rows --resume --device-backend fake
echo "exit $?"
mkdir full
ln -s /dev/full full/launch_chain.csv
"$OCCAM" measure launch_chain --out full --device-backend fake --sample-time 1ms
echo "exit $?"
