# SPDX-License-Identifier: GPL-3.0-or-later
for kind in png svg pdf; do
    "$OCCAM" plot throughput dsv4-flash-sparse-decode -s num_warps=8 -o "$SCRATCH/a.$kind" --keep "$SCRATCH"
    head -c 5 "$SCRATCH/a.$kind" | tr -dc 'A-Za-z%<?'
    echo
done
grep -c -E '>(base|num_warps=8|measured)<' "$SCRATCH/a.svg"
ls "$SCRATCH"
# The folder is made, but not its parents.
"$OCCAM" plot throughput dsv4-flash-sparse-decode -o "$SCRATCH/b.svg" --keep "$SCRATCH/kept" && ls "$SCRATCH/kept"
"$OCCAM" plot throughput dsv4-flash-sparse-decode -o "$SCRATCH/c.svg" --keep "$SCRATCH/no/such" 2> /dev/null
echo "exit $?"; [ -e "$SCRATCH/c.svg" ] || echo "no figure"
