# SPDX-License-Identifier: GPL-3.0-or-later
# What cannot be launched names the limit; no kernel has 0 registers.
for what in "--threads 1025 --registers 32" "--threads 128 --registers 256" "--threads 1024 --registers 255" \
    "--threads 128 --registers 32 --cluster 17" "--threads 128 --registers 32 --smem 300000" "--threads 0 --registers 32" \
    "--threads 128 --registers 32 --barriers 100" "--threads 128 --registers 0"; do
    # shellcheck disable=SC2086
    "$OCCAM" occupancy --device h200 $what 2>&1 | sed -n 1p
done
"$OCCAM" occupancy --device a100-pcie-80gb --threads 128 --registers 32 --cluster 2 | sed -n 1p
