"""Control flow on devices: random programs against the reference interpreter, and the shapes that SPIR-V is particular about."""

from __future__ import annotations

import numpy as np
import pytest
from ir.generators import Config, random_sample
from ir.observation import Sample, observe
from test_vulkan_scalars import samples, subnormal
from vulkan_harness import Bench

from quadrants.ir.builder import Builder, region_with_args
from quadrants.ir.core import Function, Module, Region, Scope, Value
from quadrants.ir.interp import run
from quadrants.ir.parser import parse_module
from quadrants.types import F64, I64, ArrayType, Scalar, Type
from quadrants.types.dtypes import dtype_of

#: Without float64, which not all devices have, and without complex numbers, which are no arguments of kernels.
TYPES = tuple(t for t in Config().types if (t.bits < 64 or t.is_integer) and not t.is_complex)
CONFIG = Config(size=7, depth=4, functions=2, arrays=False, maps=False, exceptions=False, types=TYPES)


def kernel_of(module: Module) -> Module:
    """The module with a kernel around its entry: each thread takes its arguments from arrays, and writes its results
    into arrays."""
    entry = module.functions[module.entry]
    ins = [Value(ArrayType(scalar(p.type), 1)) for p in entry.params]
    outs = [Value(ArrayType(scalar(type), 1)) for type in entry.result_types]
    body = Region()
    b = Builder(body)
    i = b.value("cast", b.value("thread.index", axis=0), type=I64)
    values = [b.value("load", array, i, checked=False, wrap=False) for array in ins]
    results = b.op("call", *values, callee=module.entry, result_types=entry.result_types).results
    for result, out in zip(results, outs):
        b.op("store", result, out, i, checked=False, wrap=False)
    b.op("return")
    attrs = {"kernel": True, "level": "device"}
    module.functions["kernel"] = Function("kernel", [*outs, *ins], (), body, Scope("k.py", "kernel", 1), attrs)
    module.entry = "kernel"
    for function in module.functions.values():
        function.attrs = {**function.attrs, "level": "device"}
    return module


def scalar(type: Type) -> Scalar:
    assert isinstance(type, Scalar)
    return type


def uses_doubles(module: Module) -> bool:
    values = (value for f in module.functions.values() for op in f.body.walk() for value in op.results)
    return any(value.type == F64 for value in values)


#: Threads that run a program at once, each with arguments of its own.
THREADS = 12


def check(device: Bench, seed: int) -> None:
    """A random program gives in every thread what the interpreter gives."""
    sample = random_sample(seed, CONFIG)
    if device.name == "swiftshader" and uses_doubles(sample.module):
        return
    entry = sample.module.functions[sample.module.entry]
    if not entry.params:  # drivers compute those when they compile, however long their loops are
        return
    columns = [samples(scalar(p.type), seed + k, 2 * THREADS)[:THREADS] for k, p in enumerate(entry.params)]
    for column, given in zip(columns, sample.args):
        column[0] = given
        if device.name == "swiftshader":
            column[subnormal(column)] = 0
    rows = [observe(Sample(sample.module, tuple(row))) for row in zip(*columns)]
    if any(seen.results is None for seen in rows):  # it raised
        return
    outs = [np.zeros(len(rows), dtype_of(scalar(type))) for type in entry.result_types]
    device.run(kernel_of(sample.module), [*outs, *columns], block=(len(rows), 1, 1))
    for position, out in enumerate(outs):
        for found, seen in zip(out, rows):
            assert seen.results is not None
            expected = out.dtype.type(seen.results[position])
            same = found.tobytes() == expected.tobytes() or (found != found and expected != expected)
            assert same, (seed, position, found, expected)


@pytest.mark.parametrize("seed", range(30))
def test_random_programs(device: Bench, seed: int) -> None:
    check(device, seed)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(100, 700, 50))
def test_more_random_programs(device: Bench, start: int) -> None:
    for seed in range(start, start + 50):
        check(device, seed)


SEARCH = """qir 1
entry @k

func @k(%out: array<i64, 1, C>, %n: i64, %want: i64) -> () from "k.py" "k" 1 with {kernel=true, level="device"} {
  %zero = const 0 : i64
  %one = const 1 : i64
  %none = const -1 : i64
  %i, %j = block {label=0} : i64, i64 {
    for %zero, %n, %one {label=1} (%a: i64) {
      for %zero, %n, %one {label=2} (%b: i64) {
        %p = mul %a, %b
        %skip = cmp %p, %n {pred="gt"}
        if %skip {
          continue {label=1}
        } else {
          yield
        }
        %found = cmp %p, %want {pred="eq"}
        if %found {
          break %a, %b {label=0}
        } else {
          yield
        }
        continue {label=2}
      }
      continue {label=1}
    }
    yield %none, %none
  }
  store %i, %out, %zero {checked=false, wrap=false}
  store %j, %out, %one {checked=false, wrap=false}
  return
}
"""


@pytest.mark.parametrize(("n", "want"), [(7, 6), (7, 100), (0, 0), (9, 4)])
def test_exits_of_several_levels(device: Bench, n: int, want: int) -> None:
    expected, found = np.zeros(2, np.int64), np.zeros(2, np.int64)
    run(parse_module(SEARCH), [expected, n, want])
    device.run(SEARCH, [found, n, want])
    assert found.tolist() == expected.tolist()


RANGES = """qir 1
entry @k

func @k(%out: array<i64, 1, C>, %start: i64, %stop: i64, %step: i64) -> () from "k.py" "k" 1 with {kernel=true, level="device"} {
  %zero = const 0 : i64
  %one = const 1 : i64
  %count, %sum = for %start, %stop, %step, %zero, %zero {label=0} (%i: i64, %c: i64, %s: i64) {
    %d = add %c, %one
    %t = add %s, %i
    continue %d, %t {label=0}
  }
  store %count, %out, %zero {checked=false, wrap=false}
  store %sum, %out, %one {checked=false, wrap=false}
  return
}
"""
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


def test_a_loop_that_never_goes_round(device: Bench) -> None:
    b = Builder(body := region_with_args([]))
    out = Value(ArrayType(dtype := Config().types[1], 1))
    zero = b.i64(0)
    start = b.const(5, dtype)
    loop = region_with_args([dtype])
    with b.into(loop):
        b.op("break", b.value("add", loop.args[0], loop.args[0]), label=0)
    made = b.op("loop", start, regions=[loop], label=0, result_types=(dtype,)).result
    b.op("store", made, out, zero, checked=False, wrap=False)
    b.op("return")
    attrs = {"kernel": True, "level": "device"}
    module = Module({"k": Function("k", [out], (), body, Scope("k.py", "k", 1), attrs)}, "k")
    found = np.zeros(1, dtype_of(dtype))
    device.run(module, [found])
    assert found[0] == 10
