#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of data/resources from `kernel-runner compile` output, with `kernel-runner list` as standard input:
kernel_resources.py NVRTC-VERSION OUT-FOLDER CSV..."""
import csv
import re
import sys

FIGURES = ["registers_per_thread", "spill_store_bytes", "spill_load_bytes", "local_bytes", "static_smem_bytes",
           "dynamic_smem_bytes", "barriers"]
# Dynamic SMEM that settings of the launch decide: no column.
AT_LAUNCH = {"wave_probe", "latency_chase", "smem_bandwidth"}
INDEX_BYTES = 4  # sparse_decode keeps the index list of its tokens in SMEM


def compiled_settings(listing):
    names, kernel = {}, None
    for line in listing:
        if not line.startswith(" "):
            kernel = line.split(":")[0]
            names[kernel] = set()
        elif re.match(r" +\w+ +-?\d+ \(-?\d+ to -?\d+\) compiled ", line):
            names[kernel].add(line.split()[0])
    return names


def figures_of(kernel, settings, row):
    figures = {name: row[name if name in row else "registers"] for name in FIGURES}
    if kernel in AT_LAUNCH:
        del figures["dynamic_smem_bytes"]
    if kernel == "sparse_decode":
        is_main = row["entry"] == kernel
        if is_main:
            tile, splits = int(settings["block_t"]), int(settings["splits"])
            tiles = -(-int(settings["tokens"]) // tile)
            figures["dynamic_smem_bytes"] = int(row["dynamic_smem_bytes"]) - INDEX_BYTES * -(-tiles // splits) * tile
        figures["dynamic_smem_bytes_per_token"] = INDEX_BYTES if is_main else 0
    return figures


def note_of(kernel):
    if kernel in AT_LAUNCH:
        return f"dynamic SMEM is a setting of the launch (kernels/case_{kernel}.c)."
    if kernel == "sparse_decode":
        return ("a launch asks for\n# dynamic_smem_bytes + dynamic_smem_bytes_per_token x the tokens of one split, "
                "rounded up to whole tiles (the index list).")
    return "dynamic_smem_bytes is what the launch asks for."


def main():
    version, folder, tables = sys.argv[1], sys.argv[2], {}
    compiled = compiled_settings(sys.stdin)
    for path in sys.argv[3:]:
        with open(path, newline="") as stream:
            for row in csv.DictReader(stream):
                kernel, *words = row["config"].split()
                if row["outcome"] != "ok":
                    continue
                settings = dict(word.split("=") for word in words)
                keys = {"compute_capability": row["compute_capability"], "entry": row["entry"]}
                keys.update((name, value) for name, value in settings.items() if name in compiled[kernel])
                tables.setdefault(kernel, {})[tuple(keys.values())] = {**keys, **figures_of(kernel, settings, row)}
    for kernel, rows in tables.items():
        with open(f"{folder}/{kernel.replace('_', '-')}.csv", "w", newline="") as stream:
            stream.write(f"# source: kernels/{kernel}.cu compiled by NVRTC {version} for each compute capability "
                         "(make kernel-resources), assembler log.\n"
                         f"# spill_*_bytes and local_bytes are per thread; {note_of(kernel)}\n")
            writer = csv.DictWriter(stream, list(next(iter(rows.values()))), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows.values())


main()
