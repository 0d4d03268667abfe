"""Control flow in MSL: random programs against the reference interpreter, exits of several levels, ranges to the ends."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from ir.generators import random_sample
from ir.observation import Sample, observe
from metal_harness import Bench, needed
from test_vulkan_control import CONFIG, RANGES, SEARCH, kernel_of, scalar, uses_doubles
from test_vulkan_scalars import samples

from quadrants.ir.interp import run
from quadrants.ir.parser import parse_module
from quadrants.types.dtypes import dtype_of

QUICK = range(120)
#: Threads that run a program at once, each with arguments of its own.
THREADS = 12


def sample_of(seed: int) -> Sample | None:
    """A random program that Metal can run."""
    sample = random_sample(seed, CONFIG)
    return None if uses_doubles(sample.module) else sample


@cache
def prepared(seeds: range) -> Bench:
    """The device, with the programs built."""
    device = needed()
    found = filter(None, map(sample_of, seeds))
    device.prepare(kernel_of(sample.module) for sample in found)
    return device


def check(device: Bench, seed: int) -> bool:
    """A random program gives in every thread what the interpreter gives; whether anything was compared."""
    sample = sample_of(seed)
    if sample is None:
        return False
    entry = sample.module.functions[sample.module.entry]
    columns = [samples(scalar(p.type), seed + k, 2 * THREADS)[:THREADS] for k, p in enumerate(entry.params)]
    for column, given in zip(columns, sample.args):
        column[0] = given
    rows = [observe(Sample(sample.module, tuple(row))) for row in zip(*columns)] if columns else [observe(sample)]
    if any(seen.results is None for seen in rows):  # it raised
        return False
    outs = [np.zeros(len(rows), dtype_of(scalar(type))) for type in entry.result_types]
    device.run(kernel_of(sample.module), [*outs, *columns], block=(len(rows), 1, 1))
    for position, out in enumerate(outs):
        for found, seen in zip(out, rows):
            assert seen.results is not None
            expected = out.dtype.type(seen.results[position])
            same = found.tobytes() == expected.tobytes() or (found != found and expected != expected)
            assert same, (seed, position, found, expected)
    return True


def test_random_programs() -> None:
    device = prepared(QUICK)
    assert sum(check(device, seed) for seed in QUICK) > 15


@pytest.mark.slow
@pytest.mark.parametrize("start", range(100, 1100, 100))
def test_more_random_programs(start: int) -> None:
    seeds = range(start, start + 100)
    device = prepared(seeds)
    assert sum(check(device, seed) for seed in seeds) > 5


@pytest.mark.parametrize(("n", "want"), [(7, 6), (7, 100), (0, 0), (9, 4)])
def test_exits_of_several_levels(device: Bench, n: int, want: int) -> None:
    expected, found = np.zeros(2, np.int64), np.zeros(2, np.int64)
    run(parse_module(SEARCH), [expected, n, want])
    device.run(SEARCH, [found, n, want])
    assert found.tolist() == expected.tolist()


LOW, HIGH = -(1 << 63), (1 << 63) - 1


@pytest.mark.parametrize(
    ("start", "stop", "step"),
    [
        (0, 10, 1),
        (10, 0, -1),
        (0, 10, 3),
        (10, 0, -4),
        (5, 5, 1),
        (5, 0, 2),
        (HIGH - 7, HIGH, 3),
        (LOW + 7, LOW, -3),
        (LOW, HIGH, 1 << 61),
        (HIGH, LOW, LOW),
        (HIGH, LOW, -(1 << 60)),
    ],
)
def test_ranges_to_the_ends_of_the_integers(device: Bench, start: int, stop: int, step: int) -> None:
    turns = range(start, stop, step)
    out = np.zeros(2, np.int64)
    device.run(RANGES, [out, start, stop, step])
    total = (sum(turns) + (1 << 63)) % (1 << 64) - (1 << 63)
    assert out.tolist() == [len(turns), total]


SWAP = """qir 1
entry @k

func @k(%out: array<i32, 1, C>, %n: i64) -> () from "k.py" "k" 1 with {kernel=true, level="device"} {
  %zero = const 0 : i64
  %one = const 1 : i64
  %a = const 3 : i32
  %b = const 4 : i32
  %c = const 5 : i32
  %x, %y, %z = for %zero, %n, %one, %a, %b, %c {label=0} (%i: i64, %p: i32, %q: i32, %r: i32) {
    continue %q, %r, %p {label=0}
  }
  %two = const 2 : i64
  store %x, %out, %zero {checked=false, wrap=false}
  store %y, %out, %one {checked=false, wrap=false}
  store %z, %out, %two {checked=false, wrap=false}
  return
}
"""


@pytest.mark.parametrize("n", range(4))
def test_carried_values_change_places(device: Bench, n: int) -> None:
    out = np.zeros(3, np.int32)
    device.run(SWAP, [out, n])
    assert out.tolist() == ([3, 4, 5] * 2)[n % 3 : n % 3 + 3]
