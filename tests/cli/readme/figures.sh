# SPDX-License-Identifier: GPL-3.0-or-later
# Every line that README.md shows as output of its tour is what the program prints today ("..." stands for any text).
awk '/^\$ build\/occam /{ command = substr($0, 15); next } /^```/{ command = "" }
     command != "" && NF && $1 != "..." { sub(/ *# .*/, ""); sub(/ *\.\.\.$/, ""); print command "\t" $0 }' README.md > "$SCRATCH/lines"
tab=$(printf '\t')
missing=0
while IFS=$tab read -r command line; do
    # shellcheck disable=SC2086 # the command's words
    "$OCCAM" $command > "$SCRATCH/out" 2>&1
    grep -q -F -- "$(echo "$line" | sed 's/^ *//')" "$SCRATCH/out" || { echo "$command: not printed: $line"; missing=1; }
done < "$SCRATCH/lines"
[ "$(wc -l < "$SCRATCH/lines")" -gt 15 ] || echo "README.md has lost its tour"
echo "README's figures: $([ $missing = 0 ] && echo 'all printed' || echo 'not today'"'"'s')"
