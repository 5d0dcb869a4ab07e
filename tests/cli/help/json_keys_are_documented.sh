# SPDX-License-Identifier: GPL-3.0-or-later
# Every key of JSON output stands in docs/DATA.md. Variables of scenarios are the scenarios' own, not keys of ours.
root=$(pwd)
S=dsv4-flash-sparse-decode
export OCCAM_LEDGER=$SCRATCH/l.sqlite
variables=" block_h BLOCK_T num_warps num_stages TARGET_CTAS split_floor C heads tokens context "
keys_of() {
    name=$1
    shift
    "$OCCAM" "$@" --format json > "$SCRATCH/out.json" 2> "$SCRATCH/errors" || [ $? -le 1 ] || cat "$SCRATCH/errors"
    grep -o '"[A-Za-z_0-9.]*":' "$SCRATCH/out.json" | tr -d '":' | sort -u > "$SCRATCH/keys"
    [ -s "$SCRATCH/keys" ] || echo "$name: no keys"
    while read -r key; do
        case $variables in *" $key "*) continue ;; esac
        base=${key%_most} # documented as an ending
        base=${base#variant_} # and as a beginning
        base=$(echo "$base" | sed 's/_[0-9][0-9]_/_N_/')
        grep -q -w -e "$key" "$root/docs/DATA.md" || grep -q -w -e "$base" "$root/docs/DATA.md" || echo "$name: $key is not in docs/DATA.md"
    done < "$SCRATCH/keys"
}
keys_of devices devices
keys_of "devices NAME" devices h200
keys_of occupancy occupancy --device h200 --threads 128 --registers 64
keys_of inspect inspect tests/recorded/triton-3.6-cache tests/recorded/profilers --kernel split_kernel
keys_of reconcile reconcile --scenario $S --claim "smem_bytes=80000 registers=255 threads=128 source=trace" \
    --claim "smem_bytes=61568 source=cache"
keys_of predict predict $S
keys_of "predict, infeasible" predict $S -s num_stages=3
keys_of curve curve $S -s num_warps=8
keys_of sweep sweep $S --vary num_warps,block_h
keys_of whatif whatif $S -s num_warps=8
keys_of propose propose $S --vary num_warps,TARGET_CTAS --batch 1
printf 'num_warps,time_us\n4,10\n8,12\n' > "$SCRATCH/table.csv"
keys_of tune tune $S --vary num_warps --replay "$SCRATCH/table.csv" --runs 1
printf 'concurrency,tokens_per_s\n8,281\n96,845\n' > "$SCRATCH/base.csv"
printf 'concurrency,tokens_per_s\n8,230\n96,785\n' > "$SCRATCH/variant.csv"
keys_of hypothesis hypothesis "num_warps=8 raises throughput" --scenario $S --change num_warps=8 --concurrency 8,96
keys_of judge judge "$SCRATCH/base.csv" "$SCRATCH/variant.csv" --hypothesis 1
keys_of "judge --power" judge --power
keys_of ledger ledger
keys_of "ledger show" ledger show 1
keys_of "ledger check" ledger check
keys_of "ledger export" ledger export
keys_of "ledger scorecard" ledger scorecard
echo "all asked"
