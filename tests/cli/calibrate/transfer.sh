# SPDX-License-Identifier: GPL-3.0-or-later
# The golden scenario on sm_120 by the calibration of our own sparse decode on an H200 (docs/VALIDATION.md "Transfer"):
# said to be carried over, the sign of the measured change, and the measured changes inside the intervals.
"$OCCAM" whatif dsv4-flash-sparse-decode -s num_warps=8 --calibration nvidia-h200-sparse-decode --format csv |
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { c = $at["concurrency"]
          lo = 100 * $at["throughput_change_fraction.lo"]; hi = 100 * $at["throughput_change_fraction.hi"]
          change = c == 1 ? -14 : (c == 8 ? -18 : (c == 96 ? -7 : 1))   # measured; 1: not published
          text = ""
          if (change < 1) text = (change >= lo && change <= hi) ? ", measured inside" : ", MEASURED OUTSIDE"
          print c " " $at["verdict"] text }'
