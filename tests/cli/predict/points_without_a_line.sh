# SPDX-License-Identifier: GPL-3.0-or-later
# Measured points alone: the law is fitted, and every command uses it.
data=data/scenarios/dsv4-flash-sparse-decode.yaml
grep -v -e fixed_ms -e per_request_ms "$data" > "$SCRATCH/points.yaml"
"$OCCAM" predict "$SCRATCH/points.yaml" | grep -e 'step time' -e throughput
"$OCCAM" whatif "$SCRATCH/points.yaml" -s num_warps=8 --format csv | cut -d, -f1-4
"$OCCAM" curve "$SCRATCH/points.yaml" --format csv | head -n 2 | cut -d, -f1-3
"$OCCAM" sweep "$SCRATCH/points.yaml" --vary num_warps --objective throughput@C=96 --format csv | wc -l
"$OCCAM" predict "$data" --form power | grep -e 'step time:'
sed 's/^  fixed_ms:.*/  form: sqrt/; /per_request_ms/d' "$data" > "$SCRATCH/form.yaml"
"$OCCAM" predict "$SCRATCH/form.yaml" | grep -e 'step time:'
"$OCCAM" predict "$SCRATCH/points.yaml" --form given
echo "exit $?"
