"""`python -m demo`: run the three programs, check them, write the plots. The exit status is 1 if a check failed."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

import quadrants as qd
from demo import plot
from demo.report import period
from demo.runs import RUNS, Run

OUT = Path(__file__).resolve().parent / "out" / "demo.png"


def main(arguments: list[str]) -> int:
    """Everything; gives the exit status."""
    parser = argparse.ArgumentParser(prog="python -m demo", description=__doc__)
    parser.add_argument("--scale", type=int, default=1, help="divide the numbers of steps, for a quick look")
    parser.add_argument("--out", type=Path, default=OUT, help="the PNG file to write")
    chosen = parser.parse_args(arguments)
    if chosen.scale < 1:
        parser.error("--scale is a whole number of at least 1")
    start = time.perf_counter()
    print(f"Quadrants {qd.__version__}, Python {sys.version.split()[0]}, NumPy {np.__version__}\n", flush=True)
    runs: list[Run] = []
    for title, run in RUNS:
        print(title, flush=True)
        runs.append(run(chosen.scale))
        print(flush=True)
    passed = all(run.timing.passed for run in runs)
    _summary(runs)
    _plot(runs, chosen.out)
    print(f"{'all checks passed' if passed else 'A CHECK FAILED'}, in {period(time.perf_counter() - start)}")
    return 0 if passed else 1


def _summary(runs: list[Run]) -> None:
    """The times of all programs in one table."""
    print(f"{'':<28}{'steps':>12}{'plain Python*':>16}{'compiled':>12}{'speed-up':>11}{'checks':>9}")
    for run in runs:
        t = run.timing
        verdict = "ok" if t.passed else "FAILED"
        print(
            f"{t.title:<28}{t.steps:>12,}{period(t.extrapolated):>16}{period(t.seconds):>12}{t.speedup:>10,.0f}x{verdict:>9}"
        )
    print("* extrapolated from a few steps of the same function\n", flush=True)


def _plot(runs: list[Run], path: Path) -> None:
    try:
        plot.save(runs, path)
    except ImportError as error:
        print(f"no plots: {error} (pip install matplotlib)")
    else:
        print(f"plots: {path}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
