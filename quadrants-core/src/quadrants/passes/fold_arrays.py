"""What is known of arrays, and of indices into them, by their making. See `fold`."""

from __future__ import annotations

from quadrants.ir import Op, Value
from quadrants.passes.fold_env import Env, Rule
from quadrants.types import BOOL, I64


def _index(op: Op, env: Env) -> Value | None:
    position, size = op.operands
    known, count = env.number(position), env.number(size)
    if (
        isinstance(known, int)
        and isinstance(count, int)
        and -count <= known < count
        and (op.attr("wrap") or known >= 0)
    ):
        return env.const(known % count, I64)
    return None if op.attr("checked") or op.attr("wrap") else position


def _dim(op: Op, env: Env) -> Value | None:
    inner = env.maker(op.operands[0])
    axis = op.attrs["axis"]
    assert isinstance(axis, int)
    if inner is None or inner.name not in ("alloc", "view"):
        return None
    return inner.operands[axis if inner.name == "alloc" else 2 + axis]


def _stride(op: Op, env: Env) -> Value | None:
    inner = env.maker(op.operands[0])
    axis = op.attrs["axis"]
    assert isinstance(axis, int)
    if inner is None or inner.name != "view":
        return None
    return inner.operands[2 + len(inner.operands[2:]) // 2 + axis]


def _identity(op: Op, env: Env) -> Value | None:
    """Whether arrays are the same or overlap, where the makings tell."""
    left, right = op.operands
    if left is right:
        return env.const(True, BOOL)
    roots = [_root(operand, env) for operand in op.operands]
    made = [(maker := env.maker(root)) is not None and maker.name in ("alloc", "map") for root in roots]
    known = all(here or env.is_parameter(root) for here, root in zip(made, roots))
    if roots[0] is not roots[1] and any(made) and known:  # what is made here is in no parameter
        return env.const(False, BOOL)
    return None


def _root(value: Value, env: Env) -> Value:
    """The array that a view was made from."""
    while (maker := env.maker(value)) is not None and maker.name == "view":
        value = maker.operands[0]
    return value


#: op name -> rule.
ARRAY_RULES: dict[str, Rule] = {
    "index": _index,
    "dim": _dim,
    "stride": _stride,
    "same": _identity,
    "overlap": _identity,
}
