# SPDX-License-Identifier: GPL-3.0-or-later
# Markdown: the same sections, figures as links into the kept folder.
export SOURCE_DATE_EPOCH=1700000000
mkdir "$SCRATCH/out"
"$OCCAM" report gqa-split-decode -o "$SCRATCH/out/r.md" --keep "$SCRATCH/out/fig ures"
grep -E '^#|^!\[' "$SCRATCH/out/r.md"
for link in $(sed -n 's/^!\[.*](\(.*\))$/\1/p' "$SCRATCH/out/r.md" | sed 's/%20/ /g' | tr ' ' '?'); do
    ls "$SCRATCH/out/"$link > /dev/null || echo "no $link"
done
"$OCCAM" report gqa-split-decode -o "$SCRATCH/r.txt" --format md && grep -c 'draws it into a file' "$SCRATCH/r.txt"
