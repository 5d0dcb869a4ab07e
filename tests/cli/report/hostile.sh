# SPDX-License-Identifier: GPL-3.0-or-later
# Texts that try to be markup, commands or links are text, in the page and in its figures.
export SOURCE_DATE_EPOCH=1700000000
check=$PWD/tests/cli/report/well_formed.awk
cd "$SCRATCH" || exit
cat > scenario.sed << 'END'
s|^title:.*|title: '<script>alert(1)</script> `touch pwned` $(touch pwned) " \| @x \\ \&amp; [a](http://x)'|
s|why: "a Triton dot.*"|why: '<img src=x> `touch pwned` ''''; system(''touch pwned'') {/Bold a}_b^c @x $0 \\n'|
s|^name: .*|name: evil|
END
cat > device.sed << 'END'
s|^title,[^,]*|title,"<b>x</b> `touch pwned` '; system('touch pwned'); ' ""y"" [z](http://z)"|
END
sed -f scenario.sed "$OLDPWD/data/scenarios/dsv4-flash-sparse-decode.yaml" > evil.yaml
sed -f device.sed "$OLDPWD/data/devices/rtx-pro-6000-blackwell-server.csv" > gpu.csv
for input in "" "--device-file gpu.csv"; do
    # shellcheck disable=SC2086 # two words
    "$OCCAM" report evil.yaml $input -o evil.html --keep kept
    awk -f "$check" evil.html
    grep -c '<script\|<img\|<b>' evil.html
    grep -c 'touch pwned' evil.html
done
sed -n 's/.*<h1>\(.*\)<.h1>.*/\1/p' evil.html
for script in kept/*.gp; do (cd kept && gnuplot -d "${script#kept/}" > drawn 2>&1) || echo "$script is refused"; done
"$OCCAM" report evil.yaml --device-file gpu.csv -o evil.md
sed -n '1p;3p' evil.md
[ -e pwned ] || [ -e kept/pwned ] || echo "nothing was executed"
