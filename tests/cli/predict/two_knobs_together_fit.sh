# SPDX-License-Identifier: GPL-3.0-or-later
# No single knob makes it fit, two together do; the nearest pair comes first. And nothing fits where nothing can.
write_scenario() {
    cat > "$SCRATCH/$1.yaml" <<YAML
name: $1
device: nvidia-h200
knobs: {tile: [128, 256], depth: [2, 3, 4], width: [1, 2]}
base: {tile: 128, depth: 2, width: 1}
kernels:
  load:
    grid: 132
    threads: 128
    registers: {value: 64, source: assumed}
    smem_bytes: $2
    loop:
      iterations: 8
      stream: {rows: 1, row_bytes: 4096, alignment_bytes: 16, pipelined: 1}
YAML
}
write_scenario pairs 'tile * depth * width * 256'
for format in text json; do
    "$OCCAM" predict "$SCRATCH/pairs.yaml" -s tile=256 -s depth=4 -s width=2 --format $format > "$SCRATCH/answer" || exit
    sed -n '/reason/p; /feasible  /p; /Smallest/,$p; /would_fit/,$p' "$SCRATCH/answer"
done
write_scenario never '300000 + tile'
"$OCCAM" predict "$SCRATCH/never.yaml" | sed -n '/feasible/,$p'
