# SPDX-License-Identifier: GPL-3.0-or-later
# Without measurements: the configuration asked for.
"$OCCAM" compare stream-copy --calibration none --format csv | cut -d, -f1-3 | head -n 1
"$OCCAM" compare stream-copy --calibration none --format json | sed -n 's/^  "\(configurations\|supports_formula\|formula_median_error_fraction\)"/\1/p'
