#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Short tables of a campaign folder: outcomes per kernel, residency against prediction and driver, best figures."""
import csv
import os
import sys
from collections import Counter

csv.field_size_limit(1 << 30)


def rows_of(folder):
    for base, _, files in sorted(os.walk(folder)):
        for name in sorted(files):
            if not name.endswith(".csv"):
                continue
            with open(os.path.join(base, name), newline="") as stream:
                reader = csv.DictReader(stream)
                if "outcome" in (reader.fieldnames or []):  # not predictions, resources, the environment
                    yield os.path.basename(base), name[:-4], list(reader)


def figures(row):
    pairs = (item.split("=", 1) for item in row["figures"].split(";") if "=" in item)
    return {name: float(value) for name, value in pairs if value}


def settings(row):
    names = list(row)
    return " ".join(f"{n}={row[n]}" for n in names[1:names.index("outcome")])


def waves(rows):
    bad_model = bad_driver = bad_rounds = good = 0
    for row in rows:
        if row["outcome"] != "ok":
            continue
        seen = figures(row)
        good += 1
        if "rounds_count" not in seen:
            continue
        enough = float(row["grid_ctas"]) >= 132 * float(row["predicted_ctas_per_sm"] or 0)
        if enough and seen["resident_ctas_per_sm"] != float(row["predicted_ctas_per_sm"] or -1):
            bad_model += 1
            print("  model:", settings(row), "predicted", row["predicted_ctas_per_sm"], row["predicted_limiters"],
                  "seen", seen["resident_ctas_per_sm"], "least", seen["least_resident_ctas_per_sm"],
                  "driver", row["driver_ctas_per_sm"])
        if row["driver_ctas_per_sm"] != row["predicted_ctas_per_sm"]:
            bad_driver += 1
            print("  driver:", settings(row), "predicted", row["predicted_ctas_per_sm"], "driver",
                  row["driver_ctas_per_sm"], "registers", row["registers"])
        if row["hold_us"] != "1" and (seen["rounds_count"] != float(row["predicted_rounds"] or 0)
                                      or seen["tail_ctas"] != float(row["predicted_tail_ctas"] or 0)):
            bad_rounds += 1
            if bad_rounds <= 12:
                print("  rounds:", settings(row), "predicted", row["predicted_rounds"], row["predicted_tail_ctas"],
                      "seen", seen["rounds_count"], seen["tail_ctas"], "residents", row["predicted_ctas_per_sm"])
    print(f"  {good} ran; residency differs from the model in {bad_model}, the driver from the model in {bad_driver}, "
          f"rounds or tail in {bad_rounds}")


def warps_table(rows):
    """8 against 4 warps at block_h 32, block_t 16, 512 tokens, two stages: time ratio, below 1 = 8 warps are faster."""
    times = {}
    for row in rows:
        key = (row["block_h"], row["block_t"], row["num_stages"], row["tokens"], row.get("wide_tiles", "1"),
               row["max_registers"], row["outcome"])
        if key == ("32", "16", "2", "512", "1", "0", "ok"):
            times[int(row["concurrency"]), int(row["splits"]), int(row["num_warps"])] = row
    print("  concurrency splits grid CTAs/SM(4w) CTAs/SM(8w) time4_us time8_us ratio")
    for concurrency, splits, warps in sorted(times):
        four, eight = times[concurrency, splits, warps], times.get((concurrency, splits, 8))
        if warps == 4 and eight:
            print("  ", concurrency, splits, four["grid_ctas"], four["driver_ctas_per_sm"], eight["driver_ctas_per_sm"],
                  f'{float(four["time_us"]):.1f} {float(eight["time_us"]):.1f}',
                  f'{float(eight["time_us"]) / float(four["time_us"]):.3f}')


def main():
    for phase, kernel, rows in rows_of(sys.argv[1]):
        outcomes = Counter(row["outcome"] for row in rows)
        worst = max((float(row["relative_error"]) for row in rows if row["relative_error"]), default=0.0)
        print(f"{phase}/{kernel}: {len(rows)} rows {dict(outcomes)}, worst relative error {worst:.2g}")
        for row in rows:
            if row["outcome"] not in ("ok", "infeasible"):
                print("  ", row["outcome"], settings(row), row["reason"])
        if kernel == "wave_probe" and phase != "check":
            waves(rows)
        elif phase != "check":
            timed = [row for row in rows if row["outcome"] == "ok"]
            timed.sort(key=lambda row: float(row["time_us"] or 0))
            shown = timed if kernel not in ("sparse_decode", "gqa_decode", "gemm_tile") else timed[:12]
            if phase == "sparse":
                warps_table(rows)
            for row in shown[:40]:
                values = " ".join(f"{k}={v:.5g}" for k, v in figures(row).items())
                print("  ", settings(row), "time_us", row["time_us"][:8], values)


main()
