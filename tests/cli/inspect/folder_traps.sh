# SPDX-License-Identifier: GPL-3.0-or-later
# A copied cache: stale paths, links that turn in circles, locks, broken files, and what is left is read.
cache=$SCRATCH/cache
mkdir -p "$cache"
cp -r tests/recorded/triton-3.6-cache/S5SMIEUX7XAWR5AMUEUQCW4FF5J4KQCPWYVN3Q2JVSXLAQH2LD5A tests/recorded/triton-3.6-cache/ERQUX52T3WZ36PZHGNKPKQOZWO3GR7LCL2WC6PXPKHCR6GVC3GDQ "$cache"
rm "$cache"/S5SM*/gqa_kernel.ptx
ln -s .. "$cache/circle"
ln -s /etc/hostname "$cache/elsewhere.cubin"
mkdir -p "$cache/tmp.pid_7_x" "$cache/BROKEN"
cp "$cache"/S5SM*/gqa_kernel.cubin "$cache/tmp.pid_7_x/half.cubin"
head -c 1000 "$cache/tmp.pid_7_x/half.cubin" > "$cache/BROKEN/half.cubin"
echo '{"name": "../../up", "shared": 4, "num_warps": 2}' > "$cache/BROKEN/up.json"
touch "$cache/lock"
mkfifo "$cache/BROKEN/pipe.ptx"
"$OCCAM" inspect "$cache" | sed "s|$SCRATCH|DIR|g"
