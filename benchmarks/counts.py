"""Instructions of the suite's kernels, which do not depend on how busy a machine is: `python -m benchmarks.counts`.

    python -m benchmarks.counts [--quick] [--only a,b] [--scale full] [--update]

Counts by Valgrind's `callgrind` what one more call of each compiled kernel executes: neither imports nor compilation, which
happens in an earlier process that leaves its code in a cache. The instruction set is pinned, so that the figures are those of the
committed baseline on every x86-64 machine. Prints a table, and fails if a kernel has grown by more than 5%. `--update` writes the
baseline anew: for kernels that are to be slower, or have become faster.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import callgrind

ISA = "x86-64-v3"
ROOT = Path(__file__).resolve().parent.parent
BASELINE = Path(__file__).resolve().parent / f"counts-{ISA}.json"
#: What a kernel may grow by.
TOLERANCE = 0.05
#: One or two of each kind, for every run of continuous integration.
QUICK = (
    "saxpy_f32",
    "argmax_f32",
    "histogram",
    "vec3_integrate_f64",
    "array_expr",
    "matmul_f64",
    "chol_solve_6",
    "jacobi2d",
    "nbody_f64",
    "fk_quat",
    "sinexp_f64",
    "mandelbrot",
    "merge_sort",
)
#: Calls in the shorter and in the longer of the two counted stretches: what both have in common falls out of the difference.
_SHORT, _LONG = 1, 3


@dataclass(frozen=True)
class Row:
    """A kernel's count.

    Args:
        name: of the kernel.
        count: instructions of a call; None if it could not be counted.
        before: those of the baseline; None if it has none.
    """

    name: str
    count: int | None
    before: int | None

    @property
    def ratio(self) -> float | None:
        """Count by baseline."""
        return self.count / self.before if self.count is not None and self.before else None

    @property
    def verdict(self) -> str:
        if self.count is None:
            return "NOT COUNTED" if self.before else "not covered"
        if self.ratio is None:
            return "new"
        if self.ratio > 1 + TOLERANCE:
            return "REGRESSION"
        return "better: update the baseline" if self.ratio < 1 - TOLERANCE else ""

    @property
    def fails(self) -> bool:
        return self.verdict.isupper()


def run(names: list[str], scale: str, counted: bool) -> None:
    """In the child process: call the kernels, so that their code is in the cache; or count calls of them."""
    import quadrants
    from benchmarks.peers import copied
    from benchmarks.suite import WORKLOADS, build

    kernels = build(quadrants)
    counter = callgrind.Counter() if counted else None
    gc.disable()
    for name in names:
        workload = WORKLOADS[name]
        kernel = kernels[workload.func]
        base = workload.make(scale)
        try:
            kernel(*copied(base))
        except quadrants.QuadrantsError:
            continue  # outside of the surface: has no count
        for calls in (_SHORT, _LONG) if counter else ():
            stretch(kernel, [copied(base)])  # CPython rewrites the byte code of the first runs
            batch = [copied(base) for _ in range(calls)]
            with counter.counting(f"{name} {calls}"):
                stretch(kernel, batch)


def stretch(kernel: Any, batch: list[list[Any]]) -> None:
    """A call for each list of arguments."""
    for args in batch:
        kernel(*args)


def counts(names: list[str], scale: str = "small") -> dict[str, int]:
    """Instructions of one call of each kernel. RuntimeError if a process fails."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder, "counts")
        results.mkdir()
        environment = dict(os.environ, QUADRANTS_ISA=ISA, QUADRANTS_CACHE="1", QUADRANTS_CACHE_DIR=f"{folder}/cache")
        # The same order of sets, and one thread for the libraries too: each count is the same in every run.
        environment.update(PYTHONHASHSEED="0", OPENBLAS_NUM_THREADS="1", QUADRANTS_NUM_THREADS="1")
        child = [sys.executable, "-m", "benchmarks.counts", "--scale", scale, "--only", ",".join(names)]
        for command in ([*child, "--child", "fill"], [*callgrind.command(results), *child, "--child", "count"]):
            done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
            if done.returncode:
                raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
        found = callgrind.dumps(results)
    difference = _LONG - _SHORT
    pairs = {name: (found.get(f"{name} {_SHORT}"), found.get(f"{name} {_LONG}")) for name in names}
    return {
        name: round((long - short) / difference)
        for name, (short, long) in pairs.items()
        if short is not None and long is not None
    }


def baseline(path: Path = BASELINE) -> dict[str, dict[str, int]]:
    """The committed counts: scale -> kernel -> instructions."""
    return json.loads(path.read_text()) if path.exists() else {}


def updated(before: dict[str, dict[str, int]], scale: str, found: dict[str, int]) -> str:
    """The text of the baseline with new counts for some kernels of a scale."""
    sections = {**before, scale: {**before.get(scale, {}), **found}}
    return json.dumps({name: dict(sorted(sections[name].items())) for name in sorted(sections)}, indent=1) + "\n"


def rows(names: list[str], found: dict[str, int], before: dict[str, int]) -> list[Row]:
    """A row a kernel."""
    return [Row(name, found.get(name), before.get(name)) for name in names]


def table(lines: list[Row]) -> str:
    """The rows as text, with the geometric mean of the ratios."""
    shown = [f"{'kernel':22s} {'instructions':>13s} {'baseline':>13s} {'ratio':>7s}"]
    for row in lines:
        numbers = [f"{value:13,d}" if value is not None else f"{'-':>13s}" for value in (row.count, row.before)]
        ratio = f"{row.ratio:7.3f}" if row.ratio is not None else f"{'-':>7s}"
        shown.append(f"{row.name:22s} {' '.join(numbers)} {ratio}  {row.verdict}".rstrip())
    logs = [math.log(row.ratio) for row in lines if row.ratio]
    if logs:
        shown.append(f"geometric mean {math.exp(sum(logs) / len(logs)):.3f} over {len(logs)} kernels")
    return "\n".join(shown)


def main(argv: list[str]) -> int:
    """Count, print, and compare with the baseline or update it."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.counts", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help=f"only {len(QUICK)} kernels, one or two of each kind")
    parser.add_argument("--only", default="", help="kernels, separated by commas")
    parser.add_argument("--scale", choices=("small", "full"), default="small", help="size of the inputs")
    parser.add_argument("--update", action="store_true", help="write the baseline anew")
    parser.add_argument("--child", choices=("fill", "count"), help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.child:
        run(options.only.split(","), options.scale, options.child == "count")
        return 0
    if reason := callgrind.missing():
        print(f"instructions are not counted: {reason}")
        return 0
    from benchmarks.suite import WORKLOADS

    names = options.only.split(",") if options.only else list(QUICK if options.quick else WORKLOADS)
    found = counts(names, options.scale)
    before = baseline()
    lines = rows(names, found, before.get(options.scale, {}))
    print(table(lines))
    if options.update:
        BASELINE.write_text(updated(before, options.scale, found))
        print(f"written: {BASELINE.relative_to(ROOT)}")
        return 0
    return int(any(row.fails for row in lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
