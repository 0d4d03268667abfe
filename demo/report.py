"""What the programs of the demonstration have in common: times, progress, checks.

Progress is one line that changes on a terminal, and a line for every tenth elsewhere.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

PERIODS = ((60.0, 1.0, "s"), (3600.0, 60.0, "min"), (86400.0, 3600.0, "hours"), (float("inf"), 86400.0, "days"))


def period(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    unit, name = next((unit, name) for limit, unit, name in PERIODS if seconds < limit)
    return f"{seconds / unit:.1f} {name}"


@dataclass(slots=True)
class Check:
    """One comparison with a reference."""

    name: str
    found: float
    expected: float
    tolerance: float

    @property
    def passed(self) -> bool:
        return abs(self.found - self.expected) <= self.tolerance

    def __str__(self) -> str:
        verdict = "ok" if self.passed else "FAILED"
        values = f"{self.found:.9g}   reference {self.expected:.9g} (to {self.tolerance:.1g})"
        return f"{verdict:<6} {self.name}: {values}"


@dataclass(slots=True)
class Timing:
    """The same work as plain Python (some steps) and compiled (all steps)."""

    title: str
    steps: int
    plain_steps: int = 0
    plain_seconds: float = 0.0
    compile_seconds: float = 0.0
    seconds: float = 0.0
    checks: list[Check] = field(default_factory=list)

    @property
    def extrapolated(self) -> float:
        """The time that plain Python would take for all steps."""
        return self.plain_seconds / self.plain_steps * self.steps

    @property
    def speedup(self) -> float:
        return self.extrapolated / self.seconds

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)

    def check(self, name: str, found: float, expected: float, tolerance: float) -> None:
        """Compare with a reference, and print the comparison."""
        self.checks.append(Check(name, float(found), float(expected), tolerance))
        print(f"  {self.checks[-1]}", flush=True)

    def print_plain(self) -> None:
        print(
            f"  plain Python: {self.plain_steps:,} steps in {period(self.plain_seconds)}; "
            f"{self.steps:,} would take {period(self.extrapolated)} (extrapolated)",
            flush=True,
        )

    def print_compiled(self) -> None:
        print(
            f"  compiled:     {self.steps:,} steps in {period(self.seconds)}, {self.speedup:,.0f} times as fast "
            f"(and {period(self.compile_seconds)} to compile or to load from the cache)",
            flush=True,
        )


def timed(work: Callable[[], object]) -> float:
    """How long some work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def chunks(steps: int, count: int, what: str) -> Iterator[int]:
    """The steps in about `count` parts, showing how far they are."""
    size = max(1, steps // count)
    start, done = time.perf_counter(), 0
    while done < steps:
        part = min(size, steps - done)
        yield part
        done += part
        _progress(f"  {what}: {done:,} of {steps:,} steps, {period(time.perf_counter() - start)}", done, part, steps)


def _progress(line: str, done: int, part: int, steps: int) -> None:
    if sys.stdout.isatty():
        print(f"\r\x1b[K{line}" if done < steps else "\r\x1b[K", end="", flush=True)
    elif done * 10 // steps != (done - part) * 10 // steps:
        print(line, flush=True)
