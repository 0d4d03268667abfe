"""The typed walk does not grow exponentially with the nesting of loops and `try`s (docs: how often a body is walked)."""

from __future__ import annotations

import numpy as np
import pytest
from inferring import agrees

from quadrants.infer import Options, infer_module
from quadrants.infer.headers import Solution, assumption, may_resume
from quadrants.infer.walk import ControlWalk
from quadrants.types import F32, F64, I64, PYFLOAT, PYINT, ArrayType, LiteralType


def function(lines: list[str]):
    scope: dict[str, object] = {}
    exec(compile("\n".join(lines), "<nest>", "exec"), scope)
    return scope["f"]


def nest(depth: int):
    """A function of `depth` nested loops that all change one accumulator, whose type settles only inside."""
    lines = ["def f(x, n):", "    total = 0.0"]
    for level in range(depth):
        lines.append("    " * (level + 1) + f"for i{level} in range(n):")
    lines.append("    " * (depth + 1) + "total += x[i0]")
    lines.append("    return total")
    return function(lines)


def while_nest(depth: int):
    """The same of `while`, each with a counter of its own."""
    lines = ["def f(x, n):", "    total = 0.0"]
    for level in range(depth):
        margin = "    " * (level + 1)
        lines += [f"{margin}i{level} = 0", f"{margin}while i{level} < n:", f"{margin}    i{level} += 1"]
    lines.append("    " * (depth + 1) + "total += x[i0 - 1]")
    lines.append("    return total")
    return function(lines)


def try_nest(depth: int, loops: bool = False):
    """`try` in `try`, in loops if so asked, all storing one variable."""
    lines = ["def f(x, n):", "    r = 0"]
    step = 2 if loops else 1
    for level in range(depth):
        margin = "    " * (step * level + 1)
        if loops:
            lines += [f"{margin}i{level} = 0", f"{margin}while i{level} < n:", f"{margin}    i{level} += 1"]
            margin += "    "
        lines += [f"{margin}try:", f"{margin}    r += n // (n - {level})"]
    for level in reversed(range(depth)):
        margin = "    " * (step * level + step)
        lines += [f"{margin}except ZeroDivisionError:", f"{margin}    r -= {level}"]
    lines.append("    return r")
    return function(lines)


def count(monkeypatch, cls: type, method: str) -> list[int]:
    """How often a method is called from now on: the length of the list."""
    calls: list[int] = []
    original = getattr(cls, method)

    def counting(self, *args, **kwargs):
        calls.append(1)
        return original(self, *args, **kwargs)

    monkeypatch.setattr(cls, method, counting)
    return calls


@pytest.mark.parametrize("depth", [1, 2, 4, 8])
@pytest.mark.parametrize("make", [nest, while_nest])
@pytest.mark.parametrize("element", [F32, F64])
def test_bodies_are_walked_at_most_twice_the_depth(monkeypatch, depth, make, element):
    walks = count(monkeypatch, ControlWalk, "_run_body")
    infer_module(make(depth), [ArrayType(element, 1), PYINT], Options())
    innermost_bound = 2 * depth
    # every level's body is walked; the sum over the levels is what must not explode
    assert len(walks) <= innermost_bound * depth


@pytest.mark.parametrize("depth", [4, 8, 16])
def test_nested_while_loops_take_walks_with_the_square_of_the_depth(monkeypatch, depth):
    walks = count(monkeypatch, ControlWalk, "_run_body")
    infer_module(while_nest(depth), [ArrayType(F64, 1), PYINT], Options())
    assert len(walks) <= depth * (depth + 3) // 2 + depth


@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("depth", [3, 9])
def test_the_body_of_a_nested_try_is_not_walked_twice_a_level(monkeypatch, depth, loops):
    tries = count(monkeypatch, ControlWalk, "_try")
    infer_module(try_nest(depth, loops), [ArrayType(F32, 1), PYINT], Options())
    assert len(tries) <= (5 if loops else 2) * depth * depth


@pytest.mark.parametrize("make", [nest, while_nest, try_nest, lambda depth: try_nest(depth, loops=True)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_nest_computes_what_python_does(make, dtype):
    agrees(make(3), np.arange(4, dtype=dtype), 3)


def test_a_solution_is_resumed_where_types_only_widen():
    zero = LiteralType(0)
    assert may_resume({"i": zero}, {"i": zero})
    assert may_resume({"i": zero}, {"i": PYINT})
    assert may_resume({"s": LiteralType(0.0)}, {"s": F64})
    assert may_resume({}, {"j": I64})
    assert not may_resume({"s": LiteralType(0.0)}, {"s": F32})  # takes Python numbers along
    assert not may_resume({"i": zero, "j": zero}, {"i": zero})


def test_a_variable_whose_entry_changed_kind_starts_from_it():
    zero = LiteralType(0.0)
    earlier = Solution({"s": zero, "i": LiteralType(0)}, {"s": PYFLOAT, "i": PYINT})
    now = {"s": F64, "i": LiteralType(0)}
    assert assumption(earlier, now, now) == {"s": F64, "i": PYINT}
    assert assumption(None, now, now) == now
    narrow = {"s": F32, "i": LiteralType(0)}
    assert assumption(earlier, narrow, narrow) == narrow


def test_an_inner_loop_does_not_keep_what_a_narrow_type_would_have_taken_along():
    def f(x, step):
        total = 0.0
        i = 0
        while i < 2:
            j = 0
            while j < 2:
                total = total + step  # a Python number at first, then a float32
                j += 1
            total = total + x[i]
            i += 1
        return total

    module = infer_module(f, [ArrayType(F32, 1), PYFLOAT], Options()).module
    assert module.functions[module.entry].result_types[0] == F32
