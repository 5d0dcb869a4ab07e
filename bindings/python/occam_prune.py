# SPDX-License-Identifier: GPL-3.0-or-later
"""Prunes the configurations of triton.autotune with occam's predictions. Standard library only.

    pruner = Pruner("triton-gemm", device="nvidia-h200", keep=0.25)
    @triton.autotune(configs=..., key=[...], prune_configs_by={"early_config_prune": pruner.early_config_prune})

Names of a configuration's meta-parameters, its num_warps, num_stages, num_ctas and maxnreg, and numeric arguments of the
launch go to variables of the scenario with the same name; `names` says where they differ, `values` what is to be computed.
The `occam` program is called once for a list of configurations, and once per scenario for its variables; answers are kept.

Pruning never breaks an autotune: where occam is missing, fails or knows none of the names, there is one OccamWarning and
every configuration is kept. A configuration that occam cannot judge is kept, and so are all where none would fit.
"""

import csv
import io
import json
import math
import os
import shutil
import subprocess
import warnings

__all__ = ["OccamError", "OccamWarning", "Prediction", "Pruner", "early_config_prune", "perf_model"]

_ROWS_MAX = 100000


class OccamError(RuntimeError):
    """occam is missing or refused the question; its message says why. Raised by Pruner.predict alone."""


class OccamWarning(UserWarning):
    """Pruning did nothing, or less than asked, and why."""


class Prediction:
    """What occam says of one configuration. verdict: "feasible", "infeasible" or "unknown"; times in microseconds, None
    where there are none; reason "" for a feasible configuration."""

    __slots__ = ("verdict", "reason", "smem_bytes", "time_us", "time_lo_us", "time_hi_us", "extrapolating")

    def __init__(self, row):
        self.verdict = row["verdict"]
        self.reason = row["reason"]
        self.smem_bytes = _number(row["smem_bytes"])
        self.time_us = _number(row["kernel_time_us"])
        self.time_lo_us = _number(row["kernel_time_lo_us"])
        self.time_hi_us = _number(row["kernel_time_hi_us"])
        self.extrapolating = row["extrapolating"] == "true"

    def __repr__(self):
        return f"Prediction({self.verdict}, time_us={self.time_us}, reason={self.reason!r})"


def _number(text):
    return float(text) if text else None


def _is_number(value):
    return isinstance(value, (int, float)) and math.isfinite(value)


def _config_arguments(config):
    """Meta-parameters and launch options of a triton.Config, old or new."""
    arguments = dict(config.kwargs)
    for name in ("num_warps", "num_stages", "num_ctas", "maxnreg"):
        value = getattr(config, name, None)
        if value is not None:
            arguments[name] = value
    return arguments


def _find_occam(path):
    """Given, $OCCAM, PATH, or the build beside this file. A program that was named and is not there is no reason to ask
    another one, which may predict something else."""
    built = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "occam")
    for candidate in (path, os.environ.get("OCCAM"), shutil.which("occam"), built):
        if candidate and os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return candidate
        if candidate and candidate == path:
            raise OccamError(f"there is no program {path}")
        if candidate and candidate == os.environ.get("OCCAM"):
            raise OccamError(f"$OCCAM names {candidate}, which is no program; unset it to use the one on PATH")
    raise OccamError("the program occam is neither given, in $OCCAM, nor on PATH")


class Pruner:
    """Pruning functions for one kernel.

    scenario     YAML file, or name of one that is built in
    keep         share of the configurations to keep, 0 to 1, the fastest ones (at least one)
    top_k        how many to keep
    within       keep those predicted within this factor of the fastest, such as 1.5
                 (without any of the three, only what cannot be launched is dropped)
    device, calibration   as of `occam predict`; default: the scenario's
    names        {"BLOCK_SIZE_M": "BM"}: Triton's name -> the scenario's
    values       {"M": 4096} or {"M": lambda arguments: ...}: scenario variable -> number, or function of all arguments
    configs      the list given to triton.autotune; only perf_model without early_config_prune profits
    occam        path of the program; timeout in seconds for one call
    """

    def __init__(self, scenario, *, keep=None, top_k=None, within=None, device=None, calibration=None, names=None,
                 values=None, configs=None, occam=None, timeout=60.0):
        if keep is not None and not 0.0 < keep <= 1.0:
            raise ValueError(f"keep is {keep}, a share above 0 and up to 1 is expected")
        if top_k is not None and top_k < 1:
            raise ValueError(f"top_k is {top_k}, at least 1 is expected")
        if within is not None and within < 1.0:
            raise ValueError(f"within is {within}, a factor of at least 1 is expected")
        self.scenario = os.fspath(scenario)
        self.keep, self.top_k, self.within = keep, top_k, within
        self._options = ["--device", device] if device else []
        self._options += ["--calibration", calibration] if calibration else []
        self._names, self._values = dict(names or {}), dict(values or {})
        self._configs = list(configs) if configs else []
        self._occam, self._timeout = occam, timeout
        self._variables = None
        self._rows = {}  # assignments of variables -> Prediction
        self._failure = None  # why occam cannot be asked; then it is not asked again
        self._warned = set()

    # --- asking occam ---

    def _run(self, arguments, text=None):
        if self._failure is not None:
            raise OccamError(self._failure)
        try:
            program = _find_occam(self._occam)
            answer = subprocess.run([program, "predict", self.scenario, *self._options, *arguments], input=text,
                                    capture_output=True, text=True, encoding="utf-8", timeout=self._timeout, check=False)
        except (OSError, subprocess.TimeoutExpired, OccamError) as error:
            self._failure = str(error)
            raise OccamError(self._failure) from error
        if answer.returncode != 0:
            raise OccamError(answer.stderr.strip() or f"occam ended with exit code {answer.returncode}")
        return answer.stdout

    def variables(self):
        """Names of the scenario's knobs and workload variables."""
        if self._variables is None:
            answer = json.loads(self._run(["--format", "json"]))
            self._variables = [*answer["knobs"], *answer["workload"]]
        return self._variables

    def _assign(self, arguments):
        """Scenario variables from all arguments of a launch, as a sorted tuple of (variable, number)."""
        known = self.variables()
        assigned = {}
        for name, value in arguments.items():
            variable = self._names.get(name, name)
            if variable in known and _is_number(value):
                assigned[variable] = value
        for variable, value in self._values.items():
            assigned[variable] = value(arguments) if callable(value) else value
        if not assigned:
            raise OccamError(f"no argument has the name of a variable of {self.scenario} ({', '.join(known)}); names= says "
                             "what is what")
        return tuple(sorted((name, float(value)) for name, value in assigned.items()))

    def _ask(self, keys):
        """Predictions of the keys that are not known yet, by one call per set of variables (one, as a rule)."""
        if len(self._rows) > _ROWS_MAX:
            self._rows.clear()
        groups = {}
        for key in dict.fromkeys(keys):
            if key not in self._rows:
                groups.setdefault(tuple(name for name, _ in key), []).append(key)
        for header, group in groups.items():
            text = io.StringIO()
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow(header)
            writer.writerows([f"{value:.17g}" for _, value in key] for key in group)
            answer = self._run(["--configs", "-", "--free", "--format", "csv"], text.getvalue())
            rows = list(csv.DictReader(io.StringIO(answer)))
            if len(rows) != len(group):
                raise OccamError(f"occam answered {len(rows)} of {len(group)} configurations")
            for key, row in zip(group, rows):
                self._rows[key] = Prediction(row)

    def predict(self, configs, named_args=None, **kwargs):
        """Predictions of a list of configurations, in its order. Raises OccamError."""
        launch = {**(named_args or {}), **kwargs}
        keys = [self._assign({**launch, **_config_arguments(config)}) for config in configs]
        self._ask(keys)
        return [self._rows[key] for key in keys]

    def _warn(self, text):
        if text not in self._warned:
            self._warned.add(text)
            warnings.warn(f"occam: {text}", OccamWarning, stacklevel=4)

    # --- what Triton calls ---

    def _choose(self, configs, predictions):
        """Indices of the configurations to keep, in their order."""
        timed = [i for i, p in enumerate(predictions) if p.verdict == "feasible" and p.time_us is not None]
        timed.sort(key=lambda i: predictions[i].time_us)
        kept = len(timed)
        if self.keep is not None:
            kept = min(kept, max(1, math.ceil(self.keep * len(configs))))
        if self.top_k is not None:
            kept = min(kept, self.top_k)
        if self.within is not None and timed:
            limit = self.within * predictions[timed[0]].time_us
            kept = min(kept, sum(predictions[i].time_us <= limit for i in timed))
        chosen = set(timed[:kept])
        return [i for i, p in enumerate(predictions)
                if i in chosen or p.verdict == "unknown" or (p.verdict == "feasible" and p.time_us is None)]

    def early_config_prune(self, configs, named_args, **kwargs):
        """For prune_configs_by={"early_config_prune": ...}."""
        configs = list(configs)
        try:
            predictions = self.predict(configs, named_args, **kwargs)
            kept = self._choose(configs, predictions)
        except Exception as error:  # whatever it is, it must not end the user's autotune
            self._warn(f"nothing is pruned: {error}")
            return configs
        if not kept:
            self._warn(f"nothing is pruned: none of {len(configs)} configurations would fit; the first: "
                       f"{predictions[0].reason if predictions else ''}")
            return configs
        return [configs[i] for i in kept]

    def perf_model(self, **kwargs):
        """For prune_configs_by={"perf_model": ..., "top_k": ...}: microseconds, infinity for what cannot be launched, 0 for
        what occam cannot judge, so that it is measured."""
        try:
            key = self._assign(kwargs)
            if key not in self._rows:
                self._ask([key, *(self._assign({**kwargs, **_config_arguments(config)}) for config in self._configs)])
            prediction = self._rows[key]
        except Exception as error:
            self._warn(f"no order of configurations: {error}")
            return 0.0
        if prediction.verdict == "infeasible":
            return math.inf
        return prediction.time_us if prediction.time_us is not None else 0.0


def early_config_prune(scenario, **options):
    """A function for prune_configs_by={"early_config_prune": ...}; options as of Pruner."""
    return Pruner(scenario, **options).early_config_prune


def perf_model(scenario, **options):
    """A function for prune_configs_by={"perf_model": ..., "top_k": ...}; options as of Pruner."""
    return Pruner(scenario, **options).perf_model
