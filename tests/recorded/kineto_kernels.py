#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints kineto_kernels.tsv again: launches alike of a trace, by Python's own JSON reader and statistics.

usage: python3 kineto_kernels.py < profilers/kineto-h200.json > kineto_kernels.tsv
"""
import json
import statistics
import sys

trace = json.load(sys.stdin)
groups = {}
for ordinal, event in enumerate(trace["traceEvents"], 1):
    if event.get("cat") != "kernel":
        continue
    arguments = event["args"]
    key = (event["name"], *arguments["grid"], *arguments["block"], arguments["registers per thread"],
           arguments["shared memory"], arguments["device"])
    groups.setdefault(key, []).append((event["ts"], event["dur"], ordinal))
print("grid_x grid_y grid_z block_x block_y block_z registers smem_bytes device launches median_us mean_us minimum_us "
      "maximum_us deviation_us last_us event name".replace(" ", "\t"))
for key, launches in groups.items():
    times = [time for _, time, _ in launches]
    print(*key[1:], len(times), statistics.median(times), statistics.fmean(times), min(times), max(times),
          statistics.stdev(times) if len(times) > 1 else "nan", max(launches)[1], launches[0][2], key[0], sep="\t")
