# SPDX-License-Identifier: GPL-3.0-or-later
# What tuners tried, as a table and as measurements that a calibration learns from.
cd tests/recorded
"$OCCAM" inspect profilers/triton-print-autotuning.txt triton-3.6-cache/ERQUX52T3WZ36PZHGNKPKQOZWO3GR7LCL2WC6PXPKHCR6GVC3GDQ
cd "$SCRATCH"
# Made from the documented fields: twelve candidates, one that did not run.
awk 'BEGIN {
    printf "{\"key\": [4096], \"configs_timings\": ["
    for (i = 0; i < 12; i++)
        printf "%s[{\"kwargs\": {\"TM\": %d, \"TN\": %d, \"BK\": 64}, \"num_warps\": %d, \"num_ctas\": 1, \"num_stages\": 3}, [%s]]", (i > 0) ? ", " : "",
            (i % 2) ? 128 : 64, (i % 3) ? 128 : 64, (i % 4 < 2) ? 4 : 8, (i == 7) ? "Infinity, Infinity, Infinity" : sprintf("%.4f, 0.2, 0.9", 0.3 + i / 100)
    print "]}"
}' > mm.autotune.json
"$OCCAM" inspect mm.autotune.json --as measurements --column M=4096 --column N=4096 --column K=4096 --column BM=TM --column BN=TN -o rows.csv
cut -d, -f1-16 rows.csv
"$OCCAM" calibrate rows.csv --scenario triton-gemm --device nvidia-h200 -o mm.json | head -n 3
for arguments in "--as table --column M=1" "--as measurements --column M" "--as measurements --column time_us=3" "--as curve"; do
    "$OCCAM" inspect mm.autotune.json $arguments
    echo "exit $?"
done
