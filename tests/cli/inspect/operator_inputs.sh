# SPDX-License-Identifier: GPL-3.0-or-later
# A trace with the shapes of operators' inputs (made from the documented fields): sides as workload of the launch's scenario,
# nothing where launches differ or come from a CUDA graph; a prediction works with it. Names do not steer the terminal.
cd "$SCRATCH" || exit 1
operator() {
    printf '{"ph": "X", "cat": "cpu_op", "name": "%s", "pid": 1, "tid": 1, "ts": %s, "dur": 1, "args": {"External id": %s, "Input type": ["c10::BFloat16", "c10::BFloat16"], "Concrete Inputs": ["", ""], "Input Dims": %s}},\n' "$1" "$2" "$2" "$3"
}
launch() {
    printf '{"ph": "X", "cat": "kernel", "name": "%s", "pid": 0, "tid": 7, "ts": 100, "dur": 24.5, "args": {"External id": %s, "device": 0, "registers per thread": 168, "shared memory": 213188, "grid": [%s, 1, 1], "block": [384, 1, 1]%s}}%s\n' "$1" "$2" "$3" "$4" "${5-,}"
}
{
    echo '{"deviceProperties": [{"id": 0, "name": "NVIDIA H200", "computeMajor": 9, "computeMinor": 0, "numSms": 132, "maxThreadsPerMultiprocessor": 2048}], "record_shapes": 1, "traceEvents": ['
    operator aten::mm 1 '[[8192, 4096], [4096, 6144]]'
    operator aten::mm 2 '[[8192, 4096], [4096, 6144]]'
    operator aten::bmm 3 '[[16, 64, 128], [16, 128, 32]]'
    operator aten::mm 4 '[[8192, 2048], [2048, 6144]]'
    launch gemm 1 128 ''
    launch gemm 2 128 ''
    launch batched 3 16 ''
    launch mixed 1 64 ''
    launch mixed 4 64 ''
    launch 'a\nb\u001b[31m' 9 4 ''
    launch graphed 1 4 ', "graph node id": 77' ''
    echo ']}'
} > shapes.json
"$OCCAM" inspect shapes.json --format text | cut -c 1-24 | cat -v
"$OCCAM" inspect shapes.json | grep note
for kernel in gemm batched mixed graphed; do
    echo "-- $kernel"
    "$OCCAM" inspect shapes.json --kernel $kernel --as scenario > s.yaml
    sed -n '/^  distinct/,/^kernels/p' s.yaml
    "$OCCAM" predict s.yaml | sed -n 2p
done
"$OCCAM" inspect shapes.json --kernel gemm --format json | sed -n '/"operator"/,/}/p'
