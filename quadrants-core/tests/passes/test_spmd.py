"""Loops in lanes do what they did turn by turn: in the reference interpreter, and as machine code."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from ir.observation import Observation, Sample, agree, copy_args, observe
from lower import execution
from passes import lane_programs

from quadrants.diagnostics import Decision, DecisionKind
from quadrants.infer import Options, infer_module
from quadrants.ir import Module
from quadrants.ir.interp import StepLimit
from quadrants.ir.interp import run as interpret
from quadrants.ir.rewrite import clone_module
from quadrants.ir.text import print_module
from quadrants.ir.values import Raised
from quadrants.passes import known_sizes, pipeline
from quadrants.passes.context import PassOptions
from quadrants.passes.spmd import select
from quadrants.types import F32, F64, I64, PYINT, ArrayType, Scalar
from quadrants.types.dtypes import dtype_of


def module_of(text: str, fp: str, float_type: Scalar = F64, layout: str = "C") -> Module:
    """The function of a text as QIR."""
    vector, ints, matrix = ArrayType(float_type, 1, layout), ArrayType(I64, 1), ArrayType(float_type, 2, layout)
    scope: dict[str, Any] = {"math": math, "np": np}
    exec(text, scope)
    types = (vector, vector, ints, vector, vector, ints, matrix, PYINT)
    return infer_module(scope["f"], types, Options(fp=fp)).module


def arguments_of(seed: int, float_type: Scalar, layout: str) -> tuple[Any, ...]:
    """Arguments for it; for "A", every second element of what they are in."""
    return tuple(
        _laid_out(arg.astype(dtype_of(float_type)) if arg.dtype.kind == "f" else arg, layout)
        if isinstance(arg, np.ndarray)
        else arg
        for arg in lane_programs.arguments(seed)
    )


def _laid_out(array: np.ndarray, layout: str) -> np.ndarray:
    if layout == "C" or array.dtype.kind != "f":
        return array
    if layout == "F":
        return np.asfortranarray(array)
    wide = np.repeat(array, 2, axis=-1)
    return wide[..., ::2]


#: What the arguments promise: `grid` has items of 3 elements.
GRID = ((6, 1, 3),)


def in_lanes(module: Module, bits: int) -> tuple[Module, list[Decision]]:
    """The module after the passes, with lanes wherever they are legal."""
    changed = clone_module(module)
    decisions = pipeline.run(changed, PassOptions(vector_bits=bits, verify=True))
    return changed, [decision for decision in decisions if decision.pass_name == "spmd"]


def machine(module: Module, args: tuple[Any, ...]) -> Observation:
    """What the machine code of a module does."""
    args = copy_args(args)
    arrays = [arg for arg in args if isinstance(arg, np.ndarray)]
    try:
        return Observation(execution.run(module, args), None, None, arrays)
    except Raised as error:
        return Observation(None, (error.cls, error.values), error.loc.line if error.loc else None, arrays)


@pytest.fixture
def everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lanes also where they do not pay."""
    monkeypatch.setattr(select, "_LEAST_GAIN", 0.0)


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize("seed", [*range(0, 120, 4), 820, 5096])
def test_random_loops(seed: int) -> None:
    for number in range(seed, seed + 4):
        check(number)


def check(number: int) -> bool:
    """Fail if lanes change what a program does; whether there were any."""
    float_type, layout = (F64, F32)[number % 5 == 1], ("C", "F", "A")[number % 7 % 3]
    text, args = lane_programs.source(number), arguments_of(number, float_type, layout)
    module = module_of(text, "strict", float_type, layout)
    if number % 2 == 0:
        known_sizes.run(module, GRID)
    changed, decisions = in_lanes(module, (256, 512)[number % 2])
    try:
        before = observe(Sample(module, args), max_steps=60_000)
        after = observe(Sample(module, args), changed, max_steps=2_000_000)
    except StepLimit:
        return False
    assert agree(before, after), f"{number}\n{text}\n{before}\n{after}\n{print_module(changed)}"
    if number % 4 == 0:
        code = machine(changed, args)
        assert agree(before, code), f"{number}\n{text}\n{before}\n{code}\n{print_module(changed)}"
    return any(decision.kind is DecisionKind.APPLIED for decision in decisions)


# Programs

_HEAD = "def f(a, b, k, out, top, ints, grid, n):\n"

PROGRAMS = {
    "while loops of different lengths": """
    for i in range(n):
        x, c = k[i] + 1, 0
        while x != 1:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            c += 1
        ints[i] = c
""",
    "an escape by a break, with a counter": """
    for i in range(n):
        x, c = a[i], 0
        for turn in range(40):
            if x * x > 9.0:
                break
            x = x * x + b[i]
            c += 1
        ints[i] = c
        out[i] = x
""",
    "inner loops from and to places of their own": """
    for i in range(n):
        s = 0.0
        for j in range(i + 1, n):
            d = a[j] - a[i]
            if d == 0.0:
                continue
            s += b[j] / (d * d)
        for j in range(k[i], -1, -1):
            s = s * 0.5 + b[j % n]
        out[i] = s
""",
    "a recurrence along a row": """
    for i in range(n):
        s = 0.25
        for j in range(3):
            s = s * grid[i, j] + 1.0
            grid[i, j] = s
""",
    "a small array of every turn": """
    for i in range(n):
        t = np.zeros(3)
        for j in range(3):
            t[j] = grid[i, j] * 2.0
        t[k[i] % 3] = -1.0
        for turn in range(k[i]):
            t[0], t[1], t[2] = t[1], t[2], t[0] * 0.5
        out[i] = t[0] + t[1] * t[2]
""",
    "work arrays of every turn, of a size that is not constant": """
    for i in range(n):
        t, u = np.zeros((n, 3)), np.empty(n)
        for j in range(n):
            u[j] = a[j] * b[i]
            if j > 0 and u[j] > u[j - 1]:
                continue
            t[j] = grid[i]
            t[j, 1] += u[k[i] % (j + 1)]
        s = 0.0
        for j in range(n - 1, -1, -1):
            row = t[j]
            s = s * 0.5 + row[k[i] % 3] - u[j]
        out[i] = s
""",
    "an array in a loop of every turn": """
    for i in range(n):
        s = 0.0
        for j in range(k[i]):
            t = np.zeros(n)
            t[j] = a[i]
            t[k[i] % n] += b[j]
            for m in range(n):
                s = s * 0.5 + t[m]
        out[i] = s
""",
    "a sum, a product and the last value": """
    total, product, last = 0, 1, 0.0
    for i in range(n):
        c = 0
        while c < k[i]:
            c += 1
        if c == 4:
            total += 7
        total += c
        product *= c + 1
        last = a[i]
        out[i] = c
    ints[0] = total
    ints[1] = product
    out[0] = last
""",
    "a division that may raise": """
    for i in range(n):
        x = a[i]
        for turn in range(3):
            x = 1.0 / float(int(x)) if x > 0.5 else x + 0.25
        out[i] = x
""",
    "an index that may be out of range": """
    for i in range(n):
        s = 0.0
        for j in range(k[i]):
            s += a[k[i] * 3 - j]
        out[i] = s
""",
    "nested loops left at once": """
    for i in range(n):
        c = 0
        for j in range(k[i]):
            for m in range(j, 6):
                c += 1
                if c * m > k[i] + 5:
                    break
            else:
                continue
            break
        ints[i] = c
""",
    "every second turn, and backwards": """
    last, c = 0.5, 0
    for i in range(1, n, 2):
        x = a[i]
        for j in range(k[i]):
            x = x * 0.5 + b[j]
        out[i] = x
        last = x
    for i in range(n - 1, 2, -3):
        c = k[i]
        while c * c < i + 3:
            c += 1
        ints[i] = c
    top[0] = last
    ints[0] = c
""",
    "the best of all turns, and where it is": """
    best, where, most, at, least, low = 0, -1, -1e9, -1, a[0], 0.0
    for i in range(n):
        c, x = 0, a[i]
        while c < k[i]:
            c += 1
            x = x * 0.5 + b[i]
        if c > best:
            best = c
            where = i
        if x >= most:
            most, at = x, i
        if least > x:
            least = x
            low = b[i]
    ints[0], ints[1] = best, where
    top[0], top[1] = most, float(at)
    out[0], out[1] = least, low
""",
    "elementary functions": """
    for i in range(n):
        x = abs(a[i]) + 0.5
        while x > 1.0:
            x = math.sqrt(x) * 0.9 + math.floor(x) * 0.01
        out[i] = math.copysign(x, b[i])
""",
}


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize("bits", [256, 512])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, bits: int) -> None:
    """Lanes are used, and change nothing: not the results, not which turn raises, not what was stored before."""
    module = module_of(_HEAD + PROGRAMS[name], "strict")
    changed, decisions = in_lanes(module, bits)
    assert any(decision.code == "lanes" for decision in decisions), decisions
    for seed in range(6):
        args = lane_programs.arguments(seed)
        if len(args[0]) < 2:  # type: ignore[arg-type]
            continue
        before, after = observe(Sample(module, args)), observe(Sample(module, args), changed)
        assert agree(before, after), print_module(changed)
        assert agree(before, machine(changed, args))


ITEMS = {
    "all elements, in any order": """
    for i in range(n):
        x, y = grid[i, 2] * a[i], grid[i, 0] - grid[i, 1]
        while x > 1.0:
            x *= 0.5
        grid[i, 2] = x - y
        grid[i, 0] = y
        top[i] = grid[i, 0] * 0.5
        grid[i, 1] = x + grid[i, 2]
""",
    "a loop over them, which reads what it stores": """
    for i in range(n):
        for j in range(3):
            grid[i, j] = grid[i, j] * 0.5 + a[i]
            out[i] = grid[i, j] + grid[i, 2 - j]
            while grid[i, j] > 1.0:
                grid[i, j] *= 0.75
""",
    "some of them, where it is so": """
    for i in range(n):
        if a[i] > 0.5:
            grid[i, 1] = grid[i, 0] + b[i]
        else:
            for j in range(3):
                grid[i, j] = b[i] - grid[i, 2 - j]
        out[i] = grid[i, 2]
""",
    "rows and what is made of them": """
    for i in range(n):
        d = grid[i] - grid[n - 1]
        out[i] = d[0] * d[1] + d[2] if k[i] > 3 else np.sum(d * d)
    for i in range(n - 1):
        grid[i] = grid[i][::-1] * a[i] + b[i]
""",
    "backwards, and every second": """
    for i in range(n - 1, -1, -1):
        for j in range(3):
            grid[i, j] = grid[i, j] * a[i]
    for i in range(0, n, 2):
        for j in range(3):
            grid[i, j] = grid[i, 2] + b[i]
""",
    "an exception in between": """
    for i in range(n):
        s = 0.0
        for j in range(3):
            s = s * 0.5 + 1.0 / float(int(a[i] * 4.0) + k[i] + j - 2)
        out[i] = s
        grid[i, 0], grid[i, 1], grid[i, 2] = a[i], b[i], a[i] - b[i]
""",
}


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize("bits", [256, 512])
@pytest.mark.parametrize("name", ITEMS)
def test_items(name: str, bits: int) -> None:
    """Items of a few elements are read and written as a whole: with all lanes on, with some, and where they overlap."""
    module = module_of(_HEAD + ITEMS[name], "strict")
    known_sizes.run(module, GRID)
    changed, decisions = in_lanes(module, bits)
    assert any(decision.code == "lanes" for decision in decisions), decisions
    for seed in (1, 2, 3, 7):
        args = lane_programs.arguments(seed)
        before, after = observe(Sample(module, args)), observe(Sample(module, args), changed)
        assert agree(before, after), print_module(changed)
        assert seed == 7 or agree(before, machine(changed, args))
    a, b, k, _, top, ints, _, n = lane_programs.arguments(7)
    for distance in range(4):
        results = []
        for code in (module, changed):
            memory = np.linspace(-1.0, 2.0, 3 * n + 8)  # type: ignore[operator]
            grid, out = memory[: 3 * n].reshape(n, 3), memory[distance : distance + n]  # type: ignore[operator, misc]
            results.append((outcome(interpret, code, (a, b, k, out, top, ints, grid, n)), memory))
        assert agree(results[0][0], results[1][0])
        np.testing.assert_array_equal(results[0][1], results[1][1])


def test_items_are_picked_apart() -> None:
    """No gathers are left, nor scatters: only the lanes of the last chunk reach their elements one by one."""
    module = module_of(_HEAD + ITEMS["all elements, in any order"], "strict")
    known_sizes.run(module, GRID)
    changed, _ = in_lanes(module, 512)
    names = [op.name for op in changed.functions[changed.entry].body.walk()]
    assert names.count("lanes.pick") == 6
    assert "lanes.gather" not in names and "lanes.scatter" not in names


#: The reason, the line that is named, and the body.
REFUSED = [
    (
        "carried-dependence",
        6,
        """
    for i in range(n - 1):
        for j in range(2):
            if b[i] > 1.0:
                a[i + j] = a[i] * 0.5 + 1.0
""",
    ),
    (
        "carried-dependence",
        8,
        """
    for i in range(n - 1):
        x = 0.5
        for j in range(k[i]):
            x = x * x + b[j]
        if x > 1.0:
            x = x + a[i + 1]
        else:
            a[i] = x
        out[i] = x
""",
    ),
    (
        "carried-dependence",
        3,
        """
    for i in range(1, n):
        a[i] = a[i - 1] * 0.5 + b[i] * sum_of(a, i)
""",
    ),
    (
        "carried-dependence",
        5,
        """
    for i in range(n):
        for j in range(n):
            b[i] += a[j]
            a[k[i]] = b[i]
""",
    ),
    (
        "carried-dependence",
        5,
        """
    for i in range(n):
        while out[0] < 3.0:
            out[0] += 1.0
""",
    ),
    (
        "strict-order",
        4,
        """
    x = 0.5
    for i in range(n):
        for j in range(k[i]):
            x = x * x + a[j]
        out[i] = x
""",
    ),
    (
        "early-exit",
        6,
        """
    for i in range(n):
        for j in range(k[i]):
            if a[j] > 2.0:
                return 1
        out[i] = 1.0
    return 0
""",
    ),
    (
        "allocation",
        4,
        """
    for i in range(n):
        t = np.zeros(k[i] + 2)
        for j in range(k[i]):
            t[j + 1] = t[j] * 0.5 + a[j]
        out[i] = t[k[i]]
""",
    ),
    (
        "raises-after-store",
        5,
        """
    for i in range(n):
        out[i] += 1.0
        out[i] = 1.0 / float(int(out[i]) + k[i])
""",
    ),
]

WORK = """
    for i in range(k[0]):
        t = np.zeros(n)
        for j in range(n):
            t[j] = b[j] * a[i]
        s = 0.0
        for j in range(n - 1, -1, -1):
            s = s * 0.5 + t[j]
        out[i] = s
"""


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize("size", [5, 100, 40_000])
def test_work_arrays_of_any_size(size: int) -> None:
    """Buffers for all lanes are made once, where they are small; where they would not be, the loop runs as it was."""
    module = module_of(_HEAD + WORK, "strict")
    changed, decisions = in_lanes(module, 512)
    assert any(decision.code == "lanes" for decision in decisions), decisions
    a, b, _, out, top, ints, grid, _ = lane_programs.arguments(3)
    turns = len(a)  # type: ignore[arg-type]
    args = a, np.linspace(0.0, 1.0, size), np.array([turns]), out, top, ints, grid, size
    plain, _ = in_lanes(module, 0)
    assert agree(machine(plain, args), machine(changed, args))
    if size < 10:
        assert agree(observe(Sample(module, args)), observe(Sample(module, args), changed))


STORES_FIRST = """
    for i in range(n):
        out[i] = a[i] * 2.0
        x = b[i]
        while x > 4.0:
            x *= 0.5
        top[i] = 1.0 / float(int(x) + k[i])
"""


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize("exact", [False, True])
def test_exact_state(exact: bool) -> None:
    """What is stored before a check may be stored by later turns, too, unless state is exact; the exception is the same."""
    module = module_of(_HEAD + STORES_FIRST, "default")
    changed = clone_module(module)
    decisions = pipeline.run(changed, PassOptions(vector_bits=512, verify=True, exact_state=exact))
    assert any(decision.code == "lanes" for decision in decisions) is not exact
    raised = 0
    for seed in range(12):
        args = lane_programs.arguments(seed)
        before, after = observe(Sample(module, args)), observe(Sample(module, args), changed)
        assert (before.raised, before.line) == (after.raised, after.line)
        assert agree(before, after) or (before.raised and not exact)
        raised += before.raised is not None
    assert raised


_SUM_OF = """
def sum_of(x, n):
    s = 0.0
    for j in range(n):
        s = s * 0.5 + x[j]
    return s

"""


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize(("code", "line", "body"), REFUSED)
def test_refusals(code: str, line: int, body: str) -> None:
    """Loops whose turns depend on each other stay as they are, and it is told where that shows."""
    before = _SUM_OF if "sum_of" in body else ""
    _, decisions = in_lanes(module_of(before + _HEAD + body, "strict"), 512)
    refused = [decision for decision in decisions if decision.kind is DecisionKind.REFUSED and decision.code == code]
    places = [decision.location.line for decision in refused]
    places += [int(text.split(":")[1]) for decision in refused for name, text in decision.detail if name == "at"]
    places += [int(number) for decision in refused for number in re.findall(r"line (\d+)", decision.text)]
    assert line + before.count("\n") in places, decisions


# Arrays that overlap


def overlapping(seed: int) -> tuple[Any, ...]:
    """Arguments of which some share memory, made afresh."""
    a, b, k, out, top, ints, grid, n = lane_programs.arguments(seed)
    assert isinstance(a, np.ndarray) and isinstance(n, int)
    shared = np.concatenate([a, np.zeros(3)])
    way = seed % 4
    first = shared[: len(shared) - 3]
    other = (first, shared[1 : len(shared) - 2], shared[3:], shared[2 : len(shared) - 1])[way]
    if way < 2:
        return first, b, k, other, top, ints, grid, n
    return first, other, k, out, other, ints, grid, n


def outcome(run: Any, module: Module, args: tuple[Any, ...]) -> Observation:
    """What a run does to the arguments themselves."""
    arrays = [arg for arg in args if isinstance(arg, np.ndarray)]
    try:
        return Observation(run(module, args), None, None, arrays)
    except Raised as error:
        return Observation(None, (error.cls, error.values), error.loc.line if error.loc else None, arrays)


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize("seed", range(1000, 1060, 4))
def test_overlapping_arrays(seed: int) -> None:
    """Arrays that share memory: what is not independent then runs turn by turn."""
    for number in range(seed, seed + 4):
        module = module_of(lane_programs.source(number), "strict")
        changed, _ = in_lanes(module, (256, 512)[number % 2])
        try:
            before = outcome(lambda m, a: interpret(m, a, max_steps=60_000), module, overlapping(number))
            after = outcome(lambda m, a: interpret(m, a, max_steps=2_000_000), changed, overlapping(number))
        except StepLimit:
            continue
        assert agree(before, after), f"{number}\n{lane_programs.source(number)}\n{before}\n{after}"
