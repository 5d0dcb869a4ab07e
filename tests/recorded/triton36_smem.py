#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints triton36_smem.csv again: reads its configurations, compiles each with Triton 3.6.0 (no GPU needed).

usage: TRITON_CACHE_DIR=/tmp/cache python3 triton36_smem.py < triton36_smem.csv > again.csv
"""
import csv
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

ELEMENTS = {1: "fp8e4nv", 2: "fp16", 4: "fp32"}


@triton.jit
def gemm(a, b, c, m, n, k, sam, sak, sbk, sbn, scm, scn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    at = a + rows[:, None] * sam + depth[None, :] * sak
    bt = b + depth[:, None] * sbk + columns[None, :] * sbn
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, tl.cdiv(k, BK)):
        x = tl.load(at)
        y = tl.load(bt)
        acc = tl.dot(x, y, acc)
        at += BK * sak
        bt += BK * sbk
    ct = c + rows[:, None] * scm + columns[None, :] * scn
    tl.store(ct, acc.to(c.dtype.element_ty), mask=(rows[:, None] < m) & (columns[None, :] < n))


@triton.jit
def attention(q, k, v, o, length, sq, sk, sv, so, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    step = tl.arange(0, BN)
    dims = tl.arange(0, D)
    qt = tl.load(q + rows[:, None] * sq + dims[None, :])
    top = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, length, BN):
        mask = (start + step) < length
        kt = tl.load(k + (start + step)[:, None] * sk + dims[None, :], mask=mask[:, None], other=0.0)
        s = tl.where(mask[None, :], tl.dot(qt, tl.trans(kt)) * scale, float("-inf"))
        new_top = tl.maximum(top, tl.max(s, 1))
        shrink = tl.exp2(top - new_top)
        p = tl.exp2(s - new_top[:, None])
        total = total * shrink + tl.sum(p, 1)
        vt = tl.load(v + (start + step)[:, None] * sv + dims[None, :], mask=mask[:, None], other=0.0)
        acc = acc * shrink[:, None] + tl.dot(p.to(vt.dtype), vt)
        top = new_top
    tl.store(o + rows[:, None] * so + dims[None, :], (acc / total[:, None]).to(o.dtype.element_ty))


def compile_row(row):
    number = {name: int(row[name] or 0) for name in row if name != "kernel"}
    element, out = ELEMENTS[number["element_bytes"]], ELEMENTS[number["element_bytes_out"]]
    constants = {"BM": number["block_m"], "BN": number["block_n"]}
    if row["kernel"] == "gemm":
        function, names = gemm, "a b c m n k sam sak sbk sbn scm scn".split()
        pointers = {"a": element, "b": element, "c": out}
        # fp8 operands lie along k, as its tensor instructions want them; others are row-major
        constants.update(BK=number["block_k"], sak=1, scn=1, **{"sbk" if element == "fp8e4nv" else "sbn": 1})
        aligned = set(names)
    else:
        function, names = attention, "q k v o length sq sk sv so scale".split()
        pointers = {"q": "bf16", "k": "bf16", "v": "bf16", "o": out}
        constants.update(D=number["head_dim"])
        aligned = set(names) - {"length", "scale"}
    signature = {name: "i32" for name in names}
    signature.update({name: "*" + kind for name, kind in pointers.items()})
    signature.update({"scale": "fp32"} if "scale" in names else {})
    signature.update({name: "constexpr" for name in constants})
    attributes = {(i,): [["tt.divisibility", 16]] for i, n in enumerate(names) if n in aligned and n not in constants}
    compiled = triton.compile(
        ASTSource(fn=function, signature=signature, constexprs=constants, attrs=attributes),
        target=GPUTarget("cuda", number["compute_capability"], 32),
        options={"num_warps": number["num_warps"], "num_stages": number["num_stages"]},
    )
    return compiled.metadata.shared


def main():
    lines = sys.stdin.read().splitlines()
    for line in (text for text in lines if text.startswith("#")):
        print(line)
    reader = csv.DictReader(text for text in lines if not text.startswith("#"))
    print(",".join(reader.fieldnames))
    for row in reader:
        row["smem_bytes"] = compile_row(row)
        print(",".join(str(row[name]) for name in reader.fieldnames), flush=True)


main()
