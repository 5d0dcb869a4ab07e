# SPDX-License-Identifier: GPL-3.0-or-later
# Clusters stay in a GPC: what the device file says of them, what is asked for, and that nothing is known.
work=$(mktemp -d)
sed 's/^    threads: threads/    threads: 1024\n    cluster: 8/; s/^    grid: .*/    grid: 128/' data/scenarios/stream-copy.yaml > "$work/clustered.yaml"
for more in '--device h200' '--device h200 --sms-per-gpc 18' '--device h100-sxm5-80gb'; do
    "$OCCAM" simulate cta "$work/clustered.yaml" $more | grep -E 'GPCs|  CTAs|  feasible'
done
"$OCCAM" devices h200 | grep -c '  gpc_sms  '
rm -rf "$work"
