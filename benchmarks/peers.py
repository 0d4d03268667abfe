"""The paired comparison with Numba: `python -m benchmarks.peers [--only a,b] [--budget seconds] [--skip-system] [--parallel]`.

Prints a table of the kernels (CPU time, ratio with its 95% interval, first calls, check against NumPy), then the system figures.
With `--parallel` both compile with `parallel=True` and use two threads; elapsed time is compared, and the kernels are those that
the suite has as parallel.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.suite import WORKLOADS, build

os.environ.setdefault("QUADRANTS_CACHE", "0")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

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


def kernels(names: list[str], budget: float, parallel: bool = False) -> list[float]:
    """Print a line a kernel; the ratios."""
    import numba

    import quadrants
    from benchmarks.pairing import paired

    options = {"parallel": True} if parallel else {}
    ours, theirs = build(quadrants, **options), build(numba, **options)
    if parallel:
        names = [name for name in names if WORKLOADS[name].par]
        quadrants.set_num_threads(THREADS)
        numba.set_num_threads(THREADS)
    ratios = []
    print(
        f"{'kernel':22s} {'ratio':>6s} {'95% interval':>15s} {'ours ms':>9s} {'numba ms':>9s} {'first calls ms':>15s}  check"
    )
    for name in names:
        workload = WORKLOADS[name]
        base = workload.make("full")
        firsts = []
        try:
            for functions in (ours, theirs):
                small = copied(workload.make("small"))
                start = time.process_time()
                functions[workload.func](*small)
                firsts.append((time.process_time() - start) * 1e3)
            args = copied(base)
            right, error = workload.check(ours[workload.func](*args), args, "full")
        except Exception as problem:  # noqa: BLE001 (a kernel outside of the surface is reported, the rest goes on)
            print(f"{name:22s} not covered: {type(problem).__name__}: {str(problem).splitlines()[0][:90]}")
            continue
        result = paired(
            caller(ours[workload.func], workload, base),
            caller(theirs[workload.func], workload, base),
            budget,
            clock=time.perf_counter if parallel else time.process_time,
        )
        ratios.append(result.ratio)
        verdict = "right" if right else f"WRONG ({error:.1e})"
        print(
            f"{name:22s} {result.ratio:6.2f} {f'{result.low:.2f} - {result.high:.2f}':>15s} {result.ours * 1e3:9.3f} "
            f"{result.theirs * 1e3:9.3f} {f'{firsts[0]:.0f} / {firsts[1]:.0f}':>15s}  {verdict}",
            flush=True,
        )
    if ratios:
        print(f"geometric mean {math.exp(statistics.fmean(map(math.log, ratios))):.2f} over {len(ratios)} kernels\n")
    return ratios


def system() -> None:
    """Print the figures around the kernels."""
    from benchmarks import system as figures

    print(f"{'':44s} {'ours':>9s} {'numba':>9s} {'ours/numba':>11s}")
    for unit, table in (("ns", figures.calls()), ("ms", figures.processes())):
        for name, (mine, other) in table.items():
            share = f"{mine / other:11.3f}" if other else f"{'-':>11s}"
            print(f"{name + ', ' + unit:44s} {mine:9.1f} {other:9.1f} {share}")


def main(argv: list[str]) -> int:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--only", default="", help="kernels, separated by commas")
    parser.add_argument("--budget", type=float, default=1.0, help="seconds a kernel")
    parser.add_argument("--skip-system", action="store_true")
    parser.add_argument("--parallel", action="store_true", help="compare with parallel=True, two threads, elapsed time")
    options = parser.parse_args(argv)
    kernels(options.only.split(",") if options.only else list(WORKLOADS), options.budget, options.parallel)
    if not options.skip_system:
        system()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
