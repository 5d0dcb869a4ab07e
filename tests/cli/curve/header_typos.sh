# SPDX-License-Identifier: GPL-3.0-or-later
cd "$SCRATCH" || exit
printf 'concurency,tok_s\n1,50\n8,280\n' > typo.csv
printf 'tok_s,"Concurrency"\n50,1\n' > case.csv
printf 'concurrency;tok_s\n1;50\n8;280\n' > semicolons.csv
printf '1,50\n8,280\n' > no_header.csv
printf 'a,b\n1,50\n' > other.csv
printf 'nothing\n' > text.csv
for file in typo case semicolons no_header other text; do "$OCCAM" curve --measured $file.csv 2>&1; done
