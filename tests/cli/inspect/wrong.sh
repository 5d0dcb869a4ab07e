# SPDX-License-Identifier: GPL-3.0-or-later
cd "$SCRATCH"
"$OCCAM" inspect gone.cubin
echo 'nothing of the kind' > a.txt
"$OCCAM" inspect a.txt
mkdir empty
"$OCCAM" inspect empty
printf '\120\355\125\272' > fat
"$OCCAM" inspect fat
head -c 500 "$OLDPWD/tests/recorded/nvcc-13.0/probe-sm_90.cubin" > cut.cubin
"$OCCAM" inspect cut.cubin
echo '{"key": [], "configs_timings": []}' > k.autotune.json
"$OCCAM" inspect k.autotune.json
cp "$OLDPWD/tests/recorded/nvcc-13.0/probe-sm_80.cubin" good.cubin
"$OCCAM" inspect . --kernel plain
truncate -s 104857600 huge.ptx # 100 MiB
"$OCCAM" inspect huge.ptx
mkdir mixed
cp "$OLDPWD/tests/recorded/nvcc-13.0/probe-sm_80.cubin" "$OLDPWD/tests/recorded/nvcc-13.0/probe-sm_90.cubin" huge.ptx mixed
"$OCCAM" inspect mixed --kernel plain --as scenario
"$OCCAM" inspect mixed --kernel plain --arch sm_90 | sed -n '1,2p;/huge/p'
"$OCCAM" inspect good.cubin --kernel none
"$OCCAM" inspect good.cubin --arch gfx942
"$OCCAM" inspect good.cubin --as poem
"$OCCAM" inspect good.cubin --as scenario --output k.yaml
"$OCCAM" inspect
"$OCCAM" inspect good.cubin --output k.csv
