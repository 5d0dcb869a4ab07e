# SPDX-License-Identifier: GPL-3.0-or-later
# Every mistake is one line and the right exit code.
cd "$SCRATCH" || exit 1
say() { "$OCCAM" measure "$@"; echo "exit $?"; }
say
say launch_chian --out d
say nowhere/plan.yaml --out d
say triton-gemm --out d
say sparse_decode -s block_q=3 --out d
say sparse_decode -s block_t=3 --out d
say sparse_decode -s block_t=x --out d
say sparse_decode -s block_t --out d
say occam-sparse-decode -s block_t=17 --out d
say sparse_decode -s block_t=16,32,16 --out d
say sparse_decode -s splits=1..4,2 --out d
say occam-sparse-decode -s block_t=16,32,16 --out d
say sparse_decode --budget 600 --out d
say sparse_decode --budget soon --out d
say sparse_decode --arch banana --compile-only
say sparse_decode gqa_decode --compile-only
say sparse_decode --device-backend quantum --out d
say sparse_decode --fake-fault crash@2 --out d
say sparse_decode --device-backend fake --fake-fault crash --out d
say launch_chain -s launches=1..100 -s ctas=1..100 -s threads=32..256 --out d
printf 'measure:\n  - kernel: launch_chain\n    settings: {ctas: 0}\n' > bad.yaml
say bad.yaml --out d
printf 'measure:\n  - kernel: launch_chain\n    setting: {ctas: 1}\n' > bad.yaml
say bad.yaml --out d
printf 'measure:\n  - {kernel: launch_chain, settings: {ctas: {from: 4, to: 1}}}\n' > bad.yaml
say bad.yaml --out d
printf 'measure: 3\n' > bad.yaml
say bad.yaml --out d
say bad.yaml -s ctas=1 --out d
say sparse_decode -s max_registers=77 --compile-only --nvrtc none 2> /dev/null # its line says what is built in
say sparse_decode --shard 0/2 --out d
say sparse_decode --shard 2/2 --compile-only
say sparse_decode --code d --dry-run
say sparse_decode --arch sm_57 --dry-run
