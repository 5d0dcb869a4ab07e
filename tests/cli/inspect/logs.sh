# SPDX-License-Identifier: GPL-3.0-or-later
"$OCCAM" inspect tests/recorded/profilers/ptxas-v.txt tests/recorded/profilers/cuobjdump-resource-usage.txt
"$OCCAM" inspect tests/recorded/nvcc-13.0/refused-sm_86.log tests/recorded/nvcc-13.0/nvrtc-sm_90.log
