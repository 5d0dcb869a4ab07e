# SPDX-License-Identifier: GPL-3.0-or-later
# What is not modelled, or what the build needs, is said; and nothing where nothing applies.
"$OCCAM" occupancy --device h200 --threads 128 --registers 64 --cluster 4 | grep Remark
"$OCCAM" occupancy --device h200 --threads 128 --registers 64 --cluster 16 --static-smem 49153 | grep Remark
"$OCCAM" occupancy --device h200 --threads 128 --registers 64 --cluster 16 --format json | sed -n '/remarks/,/\]/p'
"$OCCAM" occupancy --device h200 --threads 128 --registers 64 --static-smem 49152 --format json | grep remarks
"$OCCAM" occupancy --device h200 --threads 128 --registers 64 --static-smem 49152 | grep -c Remark
true
