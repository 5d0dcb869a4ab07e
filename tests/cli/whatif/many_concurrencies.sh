# SPDX-License-Identifier: GPL-3.0-or-later
# A list of a scenario that is longer than what is compared or drawn is never cut in silence.
list() { seq -s, 33 $((32 + $1)); }
scenario() {
    sed "s/^  C: .*/  C: [$(list "$1")]/" data/scenarios/dsv4-flash-sparse-decode.yaml > "$SCRATCH/many.yaml"
}
scenario 65
"$OCCAM" whatif "$SCRATCH/many.yaml" -s num_warps=8
echo "exit $?"
"$OCCAM" whatif "$SCRATCH/many.yaml" -s num_warps=8 --concurrency "$(list 65)"
echo "exit $?"
scenario 64
"$OCCAM" whatif "$SCRATCH/many.yaml" -s num_warps=8 --format csv | wc -l
scenario 513
"$OCCAM" curve "$SCRATCH/many.yaml"
echo "exit $?"
