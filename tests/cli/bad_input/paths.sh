# SPDX-License-Identifier: GPL-3.0-or-later
mkdir "$SCRATCH/folder"
: > "$SCRATCH/empty.yaml"
printf '\000\001\002' > "$SCRATCH/binary.yaml"
cd "$SCRATCH" || exit
for path in none.yaml folder empty.yaml binary.yaml /dev/null ''; do
    "$OCCAM" predict "$path"
    echo "exit $?"
done
