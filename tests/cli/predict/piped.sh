# SPDX-License-Identifier: GPL-3.0-or-later
# A scenario from standard input that carries its table: also where it is read twice (--device), by another command, and
# wrong ones.
scenario() {
    printf 'name: t\ndevice: nvidia-h200\ntables:\n  a.csv: |\n    # source: made up\n    x,registers\n    1,40\n    2,%s\n' "$1"
    printf 'knobs: {x: [1, 2]}\nbase: {x: 1}\nkernels:\n  k:\n    grid: 8\n    threads: 64\n'
    printf '    registers: {from: %s, column: registers, keys: {x: x}}\n    smem_bytes: 0\n' "$2"
    printf '    loop: {iterations: 4, stream: {row_bytes: 64}}\n'
}
scenario 168 a.csv | "$OCCAM" predict - -s x=2 | grep -e '^t on' -e registers
scenario 168 a.csv | "$OCCAM" predict - --device a100-sxm4-80gb -s x=1 | grep -e '^t on' -e registers
scenario 168 a.csv | "$OCCAM" sweep - --format csv | sed -n '1,3p' | cut -d, -f1-4
scenario '168,3' a.csv | "$OCCAM" predict - || echo "exit $?"
scenario 168 b.csv | "$OCCAM" predict - || echo "exit $?"
printf 'name: t\ndevice: nvidia-h200\ntables: {a.csv: [1]}\nkernels: {}\n' | "$OCCAM" predict - || echo "exit $?"
"$OCCAM" predict - < /dev/null || echo "exit $?"
"$OCCAM" predict - < tests/recorded/nvcc-13.0/probe-sm_90.cubin || echo "exit $?"
