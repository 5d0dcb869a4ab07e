#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# replay.sh PROGRAMS DOCUMENT [TABLES]: replays searches on measured and invented spaces with the programs in the folder
# PROGRAMS and writes the results between the markers "<!-- replayed -->" and "<!-- /replayed -->" of DOCUMENT. What a
# space that is not here said there before stays. With TABLES (a folder, made if need be) one CSV a space, for `occam plot
# regret`. REPEATS (100), RUNS (100), JOBS (all processors; they do not change the results), OCCAM_SHARED (../shared),
# SECONDS_MOST (none): no space is begun after so long.
set -eu
programs=$(cd "$1" && pwd)
document=$(realpath "$2")
tables=-
if [ -n "${3-}" ]; then
    mkdir -p "$3"
    tables=$(realpath "$3")
fi
repeats=${REPEATS:-100} runs=${RUNS:-100}
if [ -n "${JOBS-}" ]; then
    export OMP_NUM_THREADS="$JOBS"
fi
begun=$(date +%s)
cd "$(dirname "$0")/../.."
shared=${OCCAM_SHARED:-../shared}
tuning=$shared/data/tuning measured=data/measurements/nvidia-h200
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
grep -q '^<!-- replayed -->$' "$document" && grep -q '^<!-- /replayed -->$' "$document" ||
    { echo "replay: $document has no markers <!-- replayed --> and <!-- /replayed -->" >&2; exit 1; }

# What the document says of a space so far: from its bold name to the next one, or to the table of priors.
said_before() {
    awk -v name="**$1**" '
        /^<!-- replayed -->$/ { inside = 1 }
        /^<!-- \/replayed -->$/ || /^Runs until within/ || /^\*\*/ { shown = 0 }
        inside && index($0, name) == 1 { shown = 1 }
        shown { print }' "$document"
}

# replay NAME FILE SOURCE: NAME as the program prints it, FILE what must be here (empty: nothing).
replay() {
    if [ "$(($(date +%s) - begun))" -ge "${SECONDS_MOST:-1000000}" ]; then
        echo "replay: $1: no time is left: what the document says of it stays" >&2
        said_before "$1"
    elif [ -z "$2" ] || [ -r "$2" ]; then
        echo "replay: $1" >&2
        "$programs/search_replay" "$repeats" "$runs" "$tables" "$3"
    else
        echo "replay: $1 is not here: what the document says of it stays" >&2
        said_before "$1"
    fi
}

for kernel in sparse-decode gqa-decode gemm-tile; do
    echo "replay: $kernel, calibrated" >&2
    "$programs/prior_replay" "occam-$kernel" 48 "$measured/$(echo $kernel | tr - _).csv"
done > "$work/priors"
{
    printf '`make replay` wrote this on %s, by default 100 repeats of 100 runs.\n\n' "$(date -u +%Y-%m-%d)"
    for name in convolution_A100.json.gz dedispersion_MI250X.json.gz \
        gemm_RTX_3090.json.gz=data/scenarios/cltune-xgemm.yaml pnpoly_RTX_3090_T4.json.gz \
        ktt_convolution_2080Ti.json.gz ktt_coulomb_2080.json; do
        replay "${name%%=*}" "$tuning/${name%%=*}" "$tuning/$name"
    done
    replay h200_triton_gqa_decode.csv "$shared/data/h200_triton_gqa_decode.csv" \
        "$shared/data/h200_triton_gqa_decode.csv:B,kv_heads,seq_len:splits,BN,num_warps,num_stages"
    replay sparse_decode.csv "$measured/sparse_decode.csv" \
        "$measured/sparse_decode.csv:concurrency,heads,tokens,pool:block_t,block_h,num_warps,num_stages,wide_tiles,max_registers,splits"
    replay gqa_decode.csv "$measured/gqa_decode.csv" \
        "$measured/gqa_decode.csv:batch,kv_heads,length,group:block_n,num_warps,num_stages,max_registers,splits"
    replay gemm_tile.csv "$measured/gemm_tile.csv" \
        "$measured/gemm_tile.csv:m,n,k:block_m,block_n,block_k,num_warps,warps_m,num_stages,max_registers"
    replay triton_gemm.csv "$measured/triton_gemm.csv" \
        "$measured/triton_gemm.csv:M,N,K:BM,BN,BK,num_warps,num_stages=data/scenarios/triton-gemm.yaml"
    replay tiled_sgemm.csv "$measured/tiled_sgemm.csv" \
        "$measured/tiled_sgemm.csv:m,n,k,KWG,KWI:MWG,NWG,MDIMC,NDIMC,MDIMA,NDIMB,VWM,VWN,SA,SB=data/scenarios/cltune-xgemm.yaml@nvidia-h200"
    # Invented ones say more by their number than by repeats: ten instances each, at most 40 searches.
    [ "$repeats" -le 40 ] || repeats=40
    for kind in separable waves bounds switches cliffs needle noise tiled stencil split; do
        replay "$kind, made" '' "made:$kind"
    done
    printf 'Runs until within 1 %% and 5 %% of the best: median over the shapes (90th percentile).\n\n'
    printf '| kernel | shapes | configurations | first run, fraction of the best | 1 %%, calibrated prior | 5 %% | 1 %%, no prior | 5 %% | in 80 %% interval, %% | without prior | stop rule, calibrated prior: after runs (shapes) | left then, %%, at most |\n'
    printf '|---|---|---|---|---|---|---|---|---|---|---|---|\n'
    cat "$work/priors"
} > "$work/table"
awk -v table="$work/table" '
    /^<!-- \/replayed -->$/ { inside = 0 }
    !inside { print }
    /^<!-- replayed -->$/ { inside = 1; while ((getline text < table) > 0) print text }' "$document" > "$work/document"
cat "$work/document" > "$document"
