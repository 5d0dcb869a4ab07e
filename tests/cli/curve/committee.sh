# SPDX-License-Identifier: GPL-3.0-or-later
# Points without a form: the committee, also by name; two concurrencies carry a line only. Then what is odd about points.
printf 'concurrency,step_ms\n4,10\n8,12\n12,14\n' > "$SCRATCH/three.csv"
for form in '' '--form committee' '--form auto'; do
    "$OCCAM" curve dsv4-flash-sparse-decode --measured "$SCRATCH/three.csv" --concurrency 8,16 $form | sed -n 2,6p
done
head -n 3 "$SCRATCH/three.csv" > "$SCRATCH/two.csv"
"$OCCAM" curve dsv4-flash-sparse-decode --measured "$SCRATCH/two.csv" --concurrency 8 --form committee | sed -n 2p
# Twenty run at once, whatever is offered: the fit is to the batch that ran.
awk 'BEGIN { print "concurrency,tok_s,itl_ms"; for (n = 1; n <= 64; n *= 2) { r = n < 20 ? n : 20; t = 18 + 1.05 * r
    printf "%d,%.6f,%.6f\n", n, 1000 * r / t, t } }' > "$SCRATCH/limit.csv"
"$OCCAM" curve dsv4-flash-sparse-decode --measured "$SCRATCH/limit.csv" --concurrency 16,24 | sed -n '4,7p;/The measured/,$p'
printf 'concurrency,step_ms\n1,10\n2,11\n4,12\n8,14\n16,17\n32,50\n' > "$SCRATCH/cliff.csv"
"$OCCAM" curve dsv4-flash-sparse-decode --measured "$SCRATCH/cliff.csv" --format json |
    sed -n '/"findings"/,$p' | grep -e kind -e from -e value
# A scenario may ask for it; the given line stays where nobody does.
sed 's/^  fixed_ms:.*/  form: committee/; /per_request_ms/d' data/scenarios/dsv4-flash-sparse-decode.yaml > "$SCRATCH/form.yaml"
"$OCCAM" predict "$SCRATCH/form.yaml" | grep 'step time:'
"$OCCAM" predict dsv4-flash-sparse-decode | grep 'step time:'
