"""The host's part of portable kernels: what the pass makes holds together, and gives what the interpreter of Python gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from quadrants.api.typeof import typeof
from quadrants.diagnostics import CompileError
from quadrants.infer import infer_module
from quadrants.infer.emitter import Options
from quadrants.ir import Module
from quadrants.ir.interp import run
from quadrants.ir.spec import verify
from quadrants.ir.text import print_module
from quadrants.passes import launches, pipeline
from quadrants.passes.context import PassContext, PassOptions
from quadrants.types import F32, I64
from quadrants.types.dtypes import dtype_of

PASSES = PassOptions(bounds_checks=False)


def split(function: Any, args: tuple[Any, ...], block: int = 4) -> tuple[Module, launches.Scratch, PassContext]:
    """The module of a function after the pass."""
    options = Options(
        boundscheck=False, kernel=True, portable=True, division="ieee", device="test", default_ip=I64, default_fp=F32
    )
    typed = infer_module(function, [typeof(arg) for arg in args], options)
    verify(typed.module)
    context = PassContext(typed.module, PASSES)
    scratch = launches.run(typed.module, context, launches.Widths(block=block))
    verify(typed.module)
    kernels = {name: f for name, f in typed.module.functions.items() if name != typed.module.entry}
    pipeline.run_device(Module(kernels, ""), PASSES)
    verify(typed.module)
    return typed.module, scratch, context


def counts(module: Module) -> tuple[int, int]:
    """Launches in the text of the host's function, and values that it reads back."""
    ops = [op.name for op in module.functions[module.entry].body.walk()]
    return ops.count("launch"), ops.count("load")


def two_loops(x, y):  # type: ignore[no-untyped-def]
    for i in range(len(x)):
        y[i] = x[i] * 2
    for i in range(2, len(x), 3):
        x[i] = y[i] + 1


def reductions(x, y):  # type: ignore[no-untyped-def]
    s, low, n = 3.0, 100.0, 0
    for i in range(len(x)):
        s += x[i]
        low = min(low, x[i])
        n += 1
    y[0] = s
    return s, low, n


def place_of_the_least(x, y):  # type: ignore[no-untyped-def]
    best, at = 1000.0, -1
    for i in range(len(x)):
        if x[i] < best:
            best = x[i]
            at = i
    return best, at


def last_of_all(x, y):  # type: ignore[no-untyped-def]
    last = -1.0
    for i in range(len(y)):
        last = y[i] + i
    return last


def handed_on(x, y):  # type: ignore[no-untyped-def]
    a = x[0]
    for i in range(len(x)):
        y[i] += a
    b = y[1] + a
    y[2] = 7.0
    for i in range(len(x)):
        x[i] += b


def conditions(x, y):  # type: ignore[no-untyped-def]
    if len(x) > 5:
        for i in range(len(x)):
            x[i] += 1
    if x[0] > 100.0:
        for i in range(len(x)):
            x[i] = 0
        return 1
    if y[0] > 0:
        y[1] = 5
    for i in range(len(y)):
        y[i] -= 1
    return 2


def serial(x, y):  # type: ignore[no-untyped-def]
    k = 0
    while k < 2:
        for i in range(1, len(x)):
            x[i] += x[i - 1]
        k += 1
    for i in range(len(x)):
        if x[i] > 1e9:
            break
        y[i] = x[i]


def first_of_all(x, y):  # type: ignore[no-untyped-def]
    for i in range(len(x)):
        for j in range(i):
            if x[i] + x[j] > 15:
                return i, x[j]
        if x[i] == 0:
            break
        y[i] = i
    x[0] = 9
    return -1, x[0]


def found(x, limit):  # type: ignore[no-untyped-def]
    for i in range(len(x)):
        x[i] += 1
    for i in range(len(x)):
        if x[i] > limit:
            return i
    return -1


def in_functions_with_returns(x, y):  # type: ignore[no-untyped-def]
    k = found(x, 5)
    if k < 0:
        k = found(y, 100) - 5
    for i in range(len(y)):
        y[i] += k
    return k


def filled(x, value):  # type: ignore[no-untyped-def]
    for i in range(len(x)):
        x[i] = value
    return value + 1


def in_functions(x, y):  # type: ignore[no-untyped-def]
    a = filled(x, 1)
    if len(y) > 2:
        a += filled(y, a)
    return a


FUNCTIONS: list[tuple[Callable[..., Any], tuple[int, int]]] = [
    (two_loops, (2, 0)),
    (reductions, (2, 3)),
    (place_of_the_least, (2, 2)),
    (last_of_all, (2, 1)),
    (handed_on, (4, 0)),
    (conditions, (5, 1)),
    (serial, (1, 1)),
    (first_of_all, (3, 4)),
    (in_functions_with_returns, (5, 4)),
    (in_functions, (2, 0)),
]


@pytest.mark.parametrize(("function", "expected"), FUNCTIONS, ids=lambda item: getattr(item, "__name__", ""))
@pytest.mark.parametrize("size", [3, 11, 600])
def test_results_are_those_of_python(function: Any, expected: tuple[int, int], size: int) -> None:
    rng = np.random.default_rng(size)
    x, y = (rng.integers(-20, 20, size).astype(np.float32) for _ in range(2))
    mine, own = (x.copy(), y.copy()), (x.copy(), y.copy())
    module, scratch, _ = split(function, mine)
    assert counts(module) == expected
    found = run(module, [*mine, *(np.zeros(size, dtype_of(dtype)) for dtype, size in scratch.sizes)])
    wanted = function(*own)
    wanted = () if wanted is None else wanted if isinstance(wanted, tuple) else (wanted,)
    assert [float(value) for value in found] == [float(value) for value in wanted]
    assert np.array_equal(mine[0], own[0]) and np.array_equal(mine[1], own[1])


def test_what_the_host_does() -> None:
    x = np.zeros(4, np.float32)
    module, _, context = split(handed_on, (x, x))
    host = print_module(Module({module.entry: module.functions[module.entry]}, module.entry))
    ops = [op.name for op in module.functions[module.entry].body.walk()]
    assert ops.count("launch") == 4 and not {"load", "store", "for", "loop", "if"} & set(ops)
    assert host.count("launch %") == 4
    texts = [decision.text for decision in context.decisions]
    assert texts == ["a kernel over its turns, 4 threads a block"] * 2


def carries(x, y):  # type: ignore[no-untyped-def]
    a, b = 0, 1
    for _ in range(len(x)):
        a, b = b, a + b
    return a


def test_refusals_say_why() -> None:
    x = np.zeros(9, np.float32)
    _, _, context = split(carries, (x, x))
    assert [decision.code for decision in context.decisions] == ["carried-dependence", "read-back"]
    assert context.decisions[0].text.startswith("it runs in one thread of the device: every turn reads 'a'")


def tries(x, y):  # type: ignore[no-untyped-def]
    try:
        for i in range(len(x)):
            assert x[i] > 0
    except AssertionError:
        y[0] = 1


def calls_itself(x, n):  # type: ignore[no-untyped-def]
    for i in range(len(x)):
        x[i] += 1
    if n > 0:
        calls_itself(x, n - 1)


def recursion(x, y):  # type: ignore[no-untyped-def]
    calls_itself(x, len(y))


def makes_an_array(x, y):  # type: ignore[no-untyped-def]
    made = np.zeros(3)
    for i in range(len(x)):
        x[i] = made[i]


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (tries, "a parallel loop inside of try cannot run on a device"),
        (recursion, "calls_itself() calls itself and has parallel loops"),
        (makes_an_array, "an array that is made outside of the parallel loops cannot be used in them on a device"),
    ],
)
def test_what_cannot_be_launched_is_an_error(function: Any, text: str) -> None:
    x = np.zeros(3, np.float32)
    with pytest.raises(CompileError) as error:
        split(function, (x, x))
    assert error.value.message == text and error.value.hint and error.value.location is not None
