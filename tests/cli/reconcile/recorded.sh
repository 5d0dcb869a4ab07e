# SPDX-License-Identifier: GPL-3.0-or-later
# A trace, tables, reports and the cache of the same kernels agree.
cd tests/recorded
"$OCCAM" reconcile profilers/kineto-h200.json profilers/ncu-raw-h200.csv profilers/ptxas-v.txt profilers/cuobjdump-resource-usage.txt \
    triton-3.6-cache --kernel split_kernel
"$OCCAM" reconcile profilers/kineto-h200.json triton-3.6-cache --kernel combine_kernel
