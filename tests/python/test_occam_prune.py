# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of bindings/python/occam_prune.py: with the program under test ($OCCAM), a stand-in for triton.Config, and real
Triton where it is installed (no GPU is needed to prune)."""

import math
import os
import re
import stat
import sys
import tempfile
import types
import unittest
import unittest.mock
import warnings

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "bindings", "python"))
import occam_prune  # noqa: E402

try:
    import triton
except ImportError:
    triton = None


class Config:
    """What occam_prune uses of triton.Config."""

    def __init__(self, kwargs, num_warps=4, num_stages=3, num_ctas=1, maxnreg=None):
        self.kwargs, self.num_warps, self.num_stages = kwargs, num_warps, num_stages
        self.num_ctas, self.maxnreg = num_ctas, maxnreg

    def all_kwargs(self):
        return {**self.kwargs, "num_warps": self.num_warps, "num_stages": self.num_stages, "num_ctas": self.num_ctas}


def gemm_configs(make=Config, names=("BM", "BN", "BK")):
    return [make(dict(zip(names, (m, n, k)), GROUP_M=8), num_warps=w, num_stages=s)
            for m in (64, 128, 256) for n in (64, 128, 256) for k in (64, 128) for w in (4, 8) for s in (3, 5)]


class CountingPruner(occam_prune.Pruner):
    """Counts the calls of the program."""

    calls = 0

    def _run(self, *arguments, **more):
        self.calls += 1
        return super()._run(*arguments, **more)


SIZES = {"a_ptr": object(), "M": 4096, "N": 4096, "K": 4096}


class Pruning(unittest.TestCase):
    def setUp(self):
        self.configs = gemm_configs()

    def kept(self, **options):
        pruner = occam_prune.Pruner("triton-gemm", **options)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return pruner, pruner.early_config_prune(self.configs, SIZES)

    def test_only_what_cannot_be_launched_goes(self):
        pruner, kept = self.kept()
        predictions = pruner.predict(self.configs, SIZES)
        for config, prediction in zip(self.configs, predictions):
            self.assertEqual(config in kept, prediction.verdict == "feasible")
        self.assertTrue(0 < len(kept) < len(self.configs))
        too_large = predictions[self.configs.index(next(c for c in self.configs if c not in kept))]
        self.assertEqual(too_large.verdict, "infeasible")
        self.assertNotEqual(too_large.reason, "")
        self.assertIsNone(too_large.time_us)

    def test_keep_top_k_and_within_take_the_fastest_in_the_given_order(self):
        pruner, everything = self.kept()
        times = dict(zip(map(id, self.configs), (p.time_us for p in pruner.predict(self.configs, SIZES))))
        fastest = sorted((times[id(c)] for c in everything))
        for options, count in (({"top_k": 5}, 5), ({"keep": 0.1}, math.ceil(0.1 * len(self.configs))),
                               ({"keep": 1e-9}, 1), ({"within": 1.0}, fastest.count(fastest[0])),
                               ({"top_k": 10**6}, len(everything)), ({"keep": 0.5, "top_k": 2}, 2)):
            kept = self.kept(**options)[1]
            self.assertEqual(len(kept), count, options)
            self.assertEqual(sorted(times[id(c)] for c in kept), fastest[:count], options)
            self.assertEqual([c for c in self.configs if c in kept], kept, options)

    def test_one_call_for_a_list_and_none_for_the_next(self):
        pruner = CountingPruner("triton-gemm", top_k=3)
        first = pruner.early_config_prune(self.configs, SIZES)
        self.assertEqual(pruner.calls, 2)  # variables, list
        self.assertEqual(pruner.early_config_prune(self.configs, SIZES), first)
        for config in first:
            self.assertGreater(pruner.perf_model(**SIZES, **config.all_kwargs()), 0.0)
        self.assertEqual(pruner.calls, 2)
        pruner.early_config_prune(self.configs, {**SIZES, "M": 128})
        self.assertEqual(pruner.calls, 3)

    def test_the_size_of_the_problem_matters(self):
        pruner = occam_prune.Pruner("triton-gemm")
        large = pruner.predict(self.configs[:1], SIZES)[0]
        small = pruner.predict(self.configs[:1], {**SIZES, "M": 128})[0]
        self.assertGreater(large.time_us, 2 * small.time_us)
        self.assertTrue(large.time_lo_us < large.time_us < large.time_hi_us)

    def test_perf_model_alone(self):
        pruner = CountingPruner("triton-gemm", configs=self.configs)
        times = [pruner.perf_model(**SIZES, **config.all_kwargs()) for config in self.configs]
        self.assertEqual(pruner.calls, 2)
        expected = [p.time_us if p.verdict == "feasible" else math.inf
                    for p in occam_prune.Pruner("triton-gemm").predict(self.configs, SIZES)]
        self.assertEqual(times, expected)
        self.assertEqual(occam_prune.perf_model("triton-gemm")(**SIZES, **self.configs[0].all_kwargs()), times[0])

    def test_names_and_values(self):
        configs = gemm_configs(names=("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K"))
        names = {"BLOCK_SIZE_M": "BM", "BLOCK_SIZE_N": "BN", "BLOCK_SIZE_K": "BK"}
        sizes = types.SimpleNamespace(shape=(4096, 4096))
        prune = occam_prune.early_config_prune(
            "triton-gemm", names=names, top_k=4,
            values={"M": lambda arguments: arguments["a"].shape[0], "N": 4096, "K": 4096})
        kept = prune(configs, {"a": sizes})
        self.assertEqual([configs.index(c) for c in kept], [self.configs.index(c) for c in self.kept(top_k=4)[1]])

    def test_what_occam_cannot_judge_is_kept(self):
        odd = Config({"BM": 96, "BN": 128, "BK": 64}, num_warps=8)  # the rule of its SMEM knows powers of two
        self.configs.insert(3, odd)
        pruner, kept = self.kept(top_k=1)
        self.assertEqual(len(kept), 2)
        self.assertIn(odd, kept)
        self.assertEqual(pruner.predict([odd], SIZES)[0].verdict, "unknown")
        self.assertEqual(pruner.perf_model(**SIZES, **odd.all_kwargs()), 0.0)


class NeverBreaking(unittest.TestCase):
    def setUp(self):
        self.configs = gemm_configs()

    def assert_keeps_all(self, pattern, scenario="triton-gemm", configs=None, **options):
        pruner = occam_prune.Pruner(scenario, top_k=1, **options)
        configs = self.configs if configs is None else configs
        with self.assertWarnsRegex(occam_prune.OccamWarning, pattern):
            self.assertEqual(pruner.early_config_prune(configs, SIZES), configs)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # said once
            self.assertEqual(pruner.early_config_prune(configs, SIZES), configs)
        with self.assertWarnsRegex(occam_prune.OccamWarning, "no order"):
            pruner._warned.clear()
            self.assertEqual(pruner.perf_model(**SIZES), 0.0)

    def script(self, text):
        path = os.path.join(self.folder, "occam")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + text)
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        return path

    def test_missing_program_and_scenario(self):
        self.assert_keeps_all("there is no program /nowhere/occam", occam="/nowhere/occam")
        self.assert_keeps_all("no shipped scenario 'nothing-of-that-name'", scenario="nothing-of-that-name")
        self.assert_keeps_all("nothing-of-that-gpu", device="nothing-of-that-gpu")

    def test_a_named_program_that_is_missing_is_not_replaced(self):
        """$OCCAM that names no program: no other one is asked instead, even where one is on PATH."""
        with tempfile.TemporaryDirectory() as self.folder:
            self.script("exit 70\n")
            there = {"OCCAM": "/nowhere/occam", "PATH": self.folder + os.pathsep + os.environ["PATH"]}
            with unittest.mock.patch.dict(os.environ, there):
                self.assert_keeps_all(r"\$OCCAM names /nowhere/occam, which is no program")

    def test_programs_that_misbehave(self):
        with tempfile.TemporaryDirectory() as self.folder:
            self.assert_keeps_all("nothing is pruned", occam=self.script("echo hello\n"))
            self.assert_keeps_all("exit code 70", occam=self.script("exit 70\n"))
            self.assert_keeps_all("nothing is pruned", occam=self.script("cat > /dev/null; echo '{\"knobs\": 5}'\n"))
            self.assert_keeps_all("timed out", occam=self.script("exec sleep 5\n"), timeout=0.2)

    def test_names_that_match_nothing(self):
        configs = [Config({"X": 1}, num_warps=None, num_stages=None, num_ctas=None)]
        pruner = occam_prune.Pruner("triton-gemm")
        with self.assertWarnsRegex(occam_prune.OccamWarning, "names= says what is what"):
            self.assertEqual(pruner.early_config_prune(configs, {}), configs)

    def test_a_value_function_that_fails(self):
        pruner = occam_prune.Pruner("triton-gemm", values={"M": lambda arguments: arguments["none"]})
        with self.assertWarnsRegex(occam_prune.OccamWarning, "none"):
            self.assertEqual(pruner.early_config_prune(self.configs, SIZES), self.configs)

    def test_nothing_fits(self):
        configs = [Config({"BM": 128, "BN": 128, "BK": 128}, num_warps=8, num_stages=s) for s in (8, 9)]
        pruner = occam_prune.Pruner("triton-gemm")
        with self.assertWarnsRegex(occam_prune.OccamWarning, "none of 2 configurations would fit.*SMEM"):
            self.assertEqual(pruner.early_config_prune(configs, SIZES), configs)

    def test_wrong_options_are_the_callers_mistake(self):
        for options in ({"keep": 0.0}, {"keep": 1.5}, {"top_k": 0}, {"within": 0.5}):
            with self.assertRaises(ValueError):
                occam_prune.Pruner("triton-gemm", **options)


def readme_example():
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        return re.search(r"```python\n(.*?)```", file.read(), re.S).group(1)


class Readme(unittest.TestCase):
    def test_its_example_runs(self):
        """With stand-ins for triton and its language; the decorated kernel keeps what autotune was given."""
        language = types.SimpleNamespace(constexpr=int)

        def autotune(**options):
            return lambda function: (function, options)

        stand_in = types.ModuleType("triton")
        stand_in.Config, stand_in.autotune, stand_in.jit, stand_in.language = Config, autotune, lambda f: f, language
        saved = {name: sys.modules.get(name) for name in ("triton", "triton.language")}
        sys.modules["triton"], sys.modules["triton.language"] = stand_in, language
        try:
            scope = {}
            exec(compile(readme_example(), "README.md", "exec"), scope)
        finally:
            for name, module in saved.items():
                sys.modules.pop(name)
                if module is not None:
                    sys.modules[name] = module
        options = scope["matmul"][1]
        kept = options["prune_configs_by"]["early_config_prune"](options["configs"], SIZES)
        self.assertTrue(0 < len(kept) <= math.ceil(len(options["configs"]) / 4))


@unittest.skipIf(triton is None, "Triton is not installed")
class RealTriton(unittest.TestCase):
    def test_the_autotuner_prunes_with_it(self):
        from triton.runtime.autotuner import Autotuner

        def kernel(a_ptr, M, N, K, BM, BN, BK, GROUP_M):
            pass

        kernel.fn = None
        configs = gemm_configs(triton.Config)
        names = ["a_ptr", "M", "N", "K", "BM", "BN", "BK", "GROUP_M"]
        pruner = occam_prune.Pruner("triton-gemm", keep=0.25)
        for by in ({"early_config_prune": pruner.early_config_prune},
                   {"early_config_prune": pruner.early_config_prune, "perf_model": pruner.perf_model, "top_k": 3},
                   {"perf_model": occam_prune.perf_model("triton-gemm", configs=configs), "top_k": 3}):
            tuner = Autotuner(kernel, names, configs, ["M", "N", "K"], None, None, prune_configs_by=by)
            tuner.nargs = dict(SIZES)
            with warnings.catch_warnings():
                warnings.simplefilter("error", occam_prune.OccamWarning)
                kept = tuner.prune_configs({})
            count = 3 if "top_k" in by else math.ceil(0.25 * len(configs))
            self.assertEqual(len(kept), count)
            best = pruner.predict(kept, SIZES)
            self.assertTrue(all(p.verdict == "feasible" for p in best))
            everything = [p.time_us for p in pruner.predict(configs, SIZES) if p.time_us is not None]
            self.assertEqual(sorted(p.time_us for p in best), sorted(everything)[:count])


if __name__ == "__main__":
    unittest.main()
