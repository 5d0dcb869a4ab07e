# SPDX-License-Identifier: GPL-3.0-or-later
# One line each, and the exit code.
try() {
    "$OCCAM" compare "$@" 2>&1
    echo "exit $?"
}
try
try stream-copy --budget 0
try occam-gqa-decode data/measurements/nvidia-h200/gqa_decode.csv --device geforce-rtx-3090
try stream-copy --device sm_120
try stream-copy "$SCRATCH/none.csv" 2>&1 | sed "s|$SCRATCH|FOLDER|"
try dsv4-flash-sparse-decode -s BLOCK_T=8
try dsv4-flash-sparse-decode -s num_stages=3
try occam-sparse-decode data/measurements/nvidia-h200/sparse_decode.csv -s splits=2
