# SPDX-License-Identifier: GPL-3.0-or-later
# One layer or the whole step: said where the scenario has layers, and whether both rank the same first.
"$OCCAM" sweep dsv4-flash-sparse-decode | grep -c '^time is that of one layer'
"$OCCAM" sweep triton-gemm --vary BM | grep -c '^time is that of one layer'
"$OCCAM" sweep dsv4-flash-sparse-decode --format json > "$SCRATCH/time.json"
"$OCCAM" sweep dsv4-flash-sparse-decode --objective throughput --top 384 --format json > "$SCRATCH/step.json"
"$OCCAM" sweep triton-gemm --vary BM --format json | grep step_winner
# The first entry's knobs under both, and whether the answer says the same.
knobs() { sed -n '/"entries"/,$p' "$1" | sed -n '/"knobs"/,/}/p' | sed '/}/q' | tr -d ' \n'; }
if [ "$(knobs "$SCRATCH/time.json")" = "$(knobs "$SCRATCH/step.json")" ]; then differs=false; else differs=true; fi
grep -q "\"step_winner_differs\": $differs" "$SCRATCH/time.json" && echo agrees
"$OCCAM" sweep dsv4-flash-sparse-decode | grep -q 'The whole step ranks another first' && said=true || said=false
[ "$said" = "$differs" ] && echo 'said where it differs'
