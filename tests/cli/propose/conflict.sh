# SPDX-License-Identifier: GPL-3.0-or-later
# Forms of the model that disagree: one line is the run that tells them apart best, both predictions are named; what is
# unsettled is a form and not searched; runs speak against forms.
cd "$SCRATCH" || exit 1
propose() { "$OCCAM" propose "$@"; }
propose dsv4-flash-sparse-decode --unsettled split_floor > out
echo "exit $?"
grep -c -E '^[0-9]+ .* conflict ' out
grep -c 'split_floor=[01] *[0-9]' out
sed -n 's/^Conflict: .* (listed) is where \(.*\) and \(.*\) are told apart best: [0-9.]* against [0-9.]* us, moved to agree about the \(.*\)\.$/\1 | \2 | \3/p' out
propose dsv4-flash-sparse-decode --unsettled split_floor --format json > json
sed -n 's/^ *"form": //p' json | head -n 3
grep -c '"other_best": ' json
# the run of the conflict is the listed one, with the predictions of both
config=$(sed -n '/"conflict": {/,$ s/^ *"config": "\(.*\)",/\1/p' json)
[ "$(grep -c -F "\"config\": \"$config\"" json)" = 2 ] && echo listed
sed -n '/"conflict": {/,$ p' json | grep -c '"time_us": [0-9]'
# a batch of one stays the best run; the budget holds
propose dsv4-flash-sparse-decode --unsettled split_floor --batch 1 | grep -c -E '^1 .* exploit |Conflict: .*(not listed)'
# runs as the simulator of another world has them: every form but the one they follow is spoken against
rows=$OLDPWD/data/measurements/nvidia-h200/gqa_decode.csv
propose occam-gqa-decode --calibration nvidia-h200-gqa-decode --measured "$rows" | grep 'speak against'
# mistakes
for wrong in '--unsettled block_h --vary block_h' '--unsettled none' '--unsettled C' '--unsettled split_floor,split_floor'; do
    propose dsv4-flash-sparse-decode $wrong
    echo "exit $?"
done
