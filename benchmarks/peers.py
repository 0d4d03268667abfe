"""The paired comparison with others: `python -m benchmarks.peers [--only a,b] [--budget seconds] [--skip-system] [--parallel]`.

Prints a table of the kernels (CPU time, the ratio to each rival with its 95% interval, first calls, check against NumPy), then the
system figures. Rivals that are not there are named. With `--parallel` loops run on two threads; elapsed time is compared, and the
kernels are those that the suite has as parallel. The results are kept in `benchmarks/results`, for `make dashboard`.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import math
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.pairing import paired
from benchmarks.rivals import Rival, rivals
from benchmarks.suite import WORKLOADS, build

#: What has to be known before NumPy is loaded: one thread of its BLAS, and every compilation is a new one.
ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "QUADRANTS_CACHE": "0"}

RESULTS = Path(__file__).resolve().parent / "results"
#: Of a parallel comparison.
THREADS = 2


def copied(args: list[Any]) -> list[Any]:
    """The arguments with their own arrays."""
    return [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]


def caller(function: Callable[..., Any], workload: Any, base: list[Any]) -> Callable[[], Any]:
    """A call without arguments; kernels that change their input start afresh each time (the copy counts for both sides)."""
    if workload.inplace:
        return lambda: function(*copied(base))
    args = copied(base)
    return lambda: function(*args)


def first_call(function: Callable[..., Any], workload: Any) -> float:
    """CPU milliseconds of a call on the small input."""
    small = copied(workload.make("small"))
    start = time.process_time()
    function(*small)
    return (time.process_time() - start) * 1e3


def call_memory(run: Callable[[], object]) -> float | None:
    """MiB that the process has at most during a call beyond what it had before; None where the system does not tell."""

    def resident(field: str) -> float:
        found = re.search(rf"^{field}:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
        assert found
        return int(found[1]) / 1024

    try:
        Path("/proc/self/clear_refs").write_text("5")  # the highest mark starts afresh
        before = resident("VmRSS")
    except OSError:
        return None
    run()
    return max(0.0, resident("VmHWM") - before)


def measure(name: str, ours: Callable[..., Any], columns: list[Rival], budget: float, clock: Any) -> dict[str, Any]:
    """The record of one kernel: our figures, and those of each rival that has it, with the ratio and its interval."""
    workload = WORKLOADS[name]
    base = workload.make("full")
    record: dict[str, Any] = {"kernel": name, "first_ms": first_call(ours, workload), "peers": {}}
    args = copied(base)
    right, error = workload.check(ours(*args), args, "full")
    record.update(right=right, error=error)
    call = caller(ours, workload, base)
    for rival in columns:
        if name not in rival.functions:
            continue
        theirs = rival.functions[name]
        first = first_call(theirs, workload) if rival.compiles else None
        result = paired(call, caller(theirs, workload, base), budget, clock=clock)
        record.setdefault("ms", result.ours * 1e3)
        figures = {"ms": result.theirs * 1e3, "ratio": result.ratio, "low": result.low, "high": result.high}
        record["peers"][rival.name] = {**figures, "first_ms": first}
    if "ms" not in record:
        record["ms"] = paired(call, call, budget, clock=clock).ours * 1e3
    record["call_mb"] = call_memory(call)
    return record


def line(record: dict[str, Any], names: list[str]) -> str:
    """A record as a line of the table."""
    shown = f"{record['kernel']:20s} {record['ms']:9.3f} {record['first_ms']:7.0f}"
    for name in names:
        peer = record["peers"].get(name)
        shown += f"{'{ratio:.2f} ({low:.2f} - {high:.2f})'.format(**peer) if peer else '-':>24s}"
    firsts = [peer["first_ms"] for peer in record["peers"].values() if peer["first_ms"] is not None]
    shown += "".join(f"{first:9.0f}" for first in firsts)
    return f"{shown}  {'right' if record['right'] else 'WRONG ({error:.1e})'.format(**record)}"


def geometric_means(records: list[dict[str, Any]], names: list[str]) -> dict[str, float]:
    """Of the ratios to each rival."""
    ratios = {name: [r["peers"][name]["ratio"] for r in records if name in r["peers"]] for name in names}
    return {name: math.exp(statistics.fmean(map(math.log, found))) for name, found in ratios.items() if found}


def kernels(names: list[str], budget: float, parallel: bool = False) -> list[dict[str, Any]]:
    """Print a line a kernel; the records. A ratio is a rival's time by ours: above 1 we are faster."""
    import quadrants

    if parallel:
        names = [name for name in names if WORKLOADS[name].par]
        quadrants.set_num_threads(THREADS)
    ours = build(quadrants, **({"parallel": True} if parallel else {}))
    every = rivals(parallel, THREADS)
    columns = [rival for rival in every if not rival.absent]
    heads = [rival.name for rival in columns]
    for rival in every:
        if rival.absent:
            print(f"not compared: {rival.name} {rival.absent}")
    print(
        f"{'kernel':20s} {'ours ms':>9s} {'first':>7s}" + "".join(f"{head + ' / ours':>24s}" for head in heads), end=""
    )
    print("".join(f"{rival.name + ' 1st':>9s}" for rival in columns if rival.compiles) + "  check")
    records = []
    for name in names:
        clock = time.perf_counter if parallel else time.process_time
        try:
            record = measure(name, ours[WORKLOADS[name].func], columns, budget, clock)
        except Exception as problem:  # noqa: BLE001 (a kernel outside of the surface is reported, the rest goes on)
            print(f"{name:20s} not covered: {type(problem).__name__}: {str(problem).splitlines()[0][:90]}")
            continue
        records.append(record)
        print(line(record, heads), flush=True)
    for name, mean in geometric_means(records, heads).items():
        count = sum(name in record["peers"] for record in records)
        print(f"geometric mean of {name} / ours: {mean:.2f} over {count} kernels")
    return records


def system() -> dict[str, dict[str, tuple[float, float]]]:
    """Print the figures around the kernels, ours and Numba's; they are the result too, by unit."""
    from benchmarks import system as figures

    found = {"ns": figures.calls(), "ms": figures.processes()}
    print(f"\n{'':44s} {'ours':>9s} {'numba':>9s} {'ours/numba':>11s}")
    for unit, table in found.items():
        for name, (mine, other) in table.items():
            share = f"{mine / other:11.3f}" if other else f"{'-':>11s}"
            print(f"{name + ', ' + unit:44s} {mine:9.1f} {other:9.1f} {share}")
    return found


def commit() -> str:
    """The commit that is measured, with a `+` if the working tree differs from it."""
    git = ["git", "-C", str(Path(__file__).resolve().parent)]
    name = subprocess.run([*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=False)
    changed = subprocess.run([*git, "status", "--porcelain"], capture_output=True, text=True, check=False)
    return (name.stdout.strip() or "unknown") + ("+" if changed.stdout.strip() else "")


def save(folder: Path, records: list[dict[str, Any]], figures: dict[str, Any], parallel: bool) -> Path:
    """Write the results to a file of the folder, for `benchmarks.dashboard`."""
    now = datetime.datetime.now(datetime.UTC)
    data = {"commit": commit(), "date": now.isoformat(timespec="seconds"), "machine": platform.machine()}
    data.update(parallel=parallel, kernels=records, system=figures)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{now:%Y%m%d-%H%M%S}-{data['commit']}.json"
    path.write_text(json.dumps(data, indent=1))
    return path


def main(argv: list[str]) -> int:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--only", default="", help="kernels, separated by commas")
    parser.add_argument("--budget", type=float, default=1.0, help="seconds a kernel")
    parser.add_argument("--skip-system", action="store_true")
    parser.add_argument("--parallel", action="store_true", help="compare with parallel=True, two threads, elapsed time")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder for the results")
    options = parser.parse_args(argv)
    records = kernels(options.only.split(",") if options.only else list(WORKLOADS), options.budget, options.parallel)
    alone = options.skip_system or importlib.util.find_spec("numba") is None
    save(options.results, records, {} if alone else system(), options.parallel)
    return 0


if __name__ == "__main__":
    if any(name not in os.environ for name in ENVIRONMENT):
        os.execve(
            sys.executable, [sys.executable, "-m", "benchmarks.peers", *sys.argv[1:]], {**ENVIRONMENT, **os.environ}
        )
    sys.exit(main(sys.argv[1:]))
