"""The typed walk does not grow exponentially with the nesting of loops (docs: how often a loop's body is walked)."""

from __future__ import annotations

import pytest
from inferring import agrees

from quadrants.infer import Options, infer_module
from quadrants.infer.walk import ControlWalk
from quadrants.types import F32, PYINT, ArrayType


def nest(depth: int):
    """A function of `depth` nested loops that all change one accumulator, whose type settles only inside."""
    lines = ["def f(x, n):", "    total = 0.0"]
    for level in range(depth):
        lines.append("    " * (level + 1) + f"for i{level} in range(n):")
    lines.append("    " * (depth + 1) + "total += x[i0]")
    lines.append("    return total")
    scope: dict[str, object] = {}
    exec(compile("\n".join(lines), "<nest>", "exec"), scope)
    return scope["f"]


@pytest.mark.parametrize("depth", [1, 2, 4, 8])
def test_bodies_are_walked_at_most_twice_the_depth(monkeypatch, depth):
    walks = 0
    original = ControlWalk._run_body

    def counting(self, *args, **kwargs):
        nonlocal walks
        walks += 1
        return original(self, *args, **kwargs)

    monkeypatch.setattr(ControlWalk, "_run_body", counting)
    infer_module(nest(depth), [ArrayType(F32, 1), PYINT], Options())
    innermost_bound = 2 * depth
    # every level's body is walked; the sum over the levels is what must not explode
    assert walks <= innermost_bound * depth


def test_nest_computes_what_python_does():
    import numpy as np

    agrees(nest(3), np.arange(3, dtype=np.float32), 3)
