# SPDX-License-Identifier: GPL-3.0-or-later
# Examples of the man page that need no file of the reader's do what they say; none has markup left in it.
sed -n 's/^\.Dl occam //p' docs/occam.1.in | sed 's/\\(dq/"/g' > "$SCRATCH/examples"
grep -c . "$SCRATCH/examples"
grep -n -e '\\' -e 'Qq' "$SCRATCH/examples"
grep -v -e '\.csv' -e '\.yaml' -e '\.json' -e '~' "$SCRATCH/examples" | while read -r line; do
    eval "\"\$OCCAM\" $line" > "$SCRATCH/out" 2>&1
    echo "exit $?: $line"
    grep '^occam' "$SCRATCH/out"
done
echo "all asked"
