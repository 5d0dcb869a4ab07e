# SPDX-License-Identifier: GPL-3.0-or-later
# What one number implies; and one that nothing gives.
"$OCCAM" reconcile --scenario dsv4-flash-sparse-decode --claim "smem=60KB threads=128 source=cache" | sed -n '/implies/,/^  note/p'
"$OCCAM" reconcile --scenario dsv4-flash-sparse-decode --claim "smem=70000 threads=128 source=trace" | sed -n '/implies/,/CTAs/p'
"$OCCAM" reconcile --scenario dsv4-flash-sparse-decode --claim "registers=255 source=trace" | sed -n '/implies/,/known/p'
