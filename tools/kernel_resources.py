#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of data/resources from `kernel-runner compile` output: kernel_resources.py NVRTC-VERSION OUT-FOLDER CSV..."""
import csv
import sys

RUN_TIME = set("splits concurrency heads tokens pool batch kv_heads length m n k warps ctas_per_sm iterations threads ctas "
               "row_count groups".split())
FIGURES = ["registers", "spill_store_bytes", "spill_load_bytes", "local_bytes", "static_smem_bytes", "barriers"]


def main():
    version, folder, tables = sys.argv[1], sys.argv[2], {}
    for path in sys.argv[3:]:
        with open(path, newline="") as stream:
            for row in csv.DictReader(stream):
                kernel, *words = row["config"].split()
                if row["outcome"] != "ok":
                    continue
                keys = {"compute_capability": row["compute_capability"], "entry": row["entry"]}
                keys.update(word.split("=") for word in words if word.split("=")[0] not in RUN_TIME)
                figures = {name.replace("registers", "registers_per_thread"): row[name] for name in FIGURES}
                tables.setdefault(kernel, {})[tuple(keys.values())] = (list(keys), {**keys, **figures})
    for kernel, rows in tables.items():
        with open(f"{folder}/{kernel.replace('_', '-')}.csv", "w", newline="") as stream:
            stream.write(f"# source: kernels/{kernel}.cu compiled by NVRTC {version} for each compute capability "
                         "(make kernel-resources), assembler log.\n"
                         "# spill_*_bytes and local_bytes are per thread; dynamic SMEM is a formula of the settings "
                         f"(kernels/case_{kernel}.c).\n")
            first = next(iter(rows.values()))[1]
            writer = csv.DictWriter(stream, list(first), lineterminator="\n")
            writer.writeheader()
            writer.writerows(row for _, row in rows.values())


main()
