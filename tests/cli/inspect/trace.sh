# SPDX-License-Identifier: GPL-3.0-or-later
# A profiler's trace and a table of another profiler as one table; then as measurements.
cd tests/recorded/profilers
"$OCCAM" inspect kineto-h200.json ncu-raw-h200.csv --kernel split_kernel
"$OCCAM" inspect kineto-h200.json ncu-raw-h200.csv --kernel split_kernel --format csv | cut -d, -f1-12
"$OCCAM" inspect kineto-h200.json ncu-raw-h200.csv --kernel split_kernel --as measurements
