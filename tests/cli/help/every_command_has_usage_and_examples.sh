# SPDX-License-Identifier: GPL-3.0-or-later
for command in $("$OCCAM" help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
    "$OCCAM" help "$command" > "$SCRATCH/help" || echo "help $command failed"
    grep -q "^Usage: occam $command" "$SCRATCH/help" || echo "$command: no usage"
    grep -q '^Examples:' "$SCRATCH/help" || echo "$command: no examples"
    awk 'length($0) > 120 && !/^Usage/' "$SCRATCH/help"
    "$OCCAM" "$command" --help | cmp - "$SCRATCH/help"
    # Every option that the synopsis names is explained.
    grep -o -e '--[a-z-]*' "$SCRATCH/help" | sort -u | while read -r option; do
        sed 1,4d "$SCRATCH/help" | grep -q -e "$option" || echo "$command: $option is not explained"
    done
done
echo 'all asked'
