"""The part of a loop that runs in lanes: without what rarely runs, and with the code of what it calls.

Takes a loop and the module; gives the loop itself, or a copy, in which parts of arrays are reached through these (`flatten`). A
side of a branch that holds cold loops, for the case that a guard fails, becomes a `raise` there: the original loop takes over
where a lane comes to it. A function that is called stands there as a block that its returns break out of. What it
raises is raised by the original loop, which runs the turns again: so that lines and the calls that led there are those
of the program. Floats are computed in the mode of the function that is called. Functions that call themselves, or that are
very large, stay calls.
"""

from __future__ import annotations

from collections.abc import Mapping

from quadrants.ir import Function, Module, Op, Region, Value
from quadrants.ir.ops import OPS
from quadrants.ir.rewrite import clone_op, clone_region, fresh_labels, max_label, replace_uses, returns_break
from quadrants.passes.modes import keep_mode, mode_of
from quadrants.passes.spmd.flatten import flatten
from quadrants.passes.spmd.unroll import has_short_loops, unroll
from quadrants.passes.structure import size_of
from quadrants.types import TupleType

_MOST_OPS = 400
_MOST_GROWTH = 1500
_DEEPEST = 12


def hot_code(
    loop: Op,
    function: Function,
    module: Module,
    label: int,
    makers: Mapping[Value, Op],
    constants: Mapping[Value, int],
) -> Op:
    """The loop itself if there is nothing to replace, else a copy. Labels from `label` on are free."""
    short = has_short_loops(loop.regions[0], constants)
    if not short and not any(op.name in ("call", "view") or op.attrs.get("cold") for op in loop.regions[0].walk()):
        return loop
    copy = clone_op(loop, {})
    _drop_cold(copy.regions[0])
    inliner = _Inliner(function, module, label)
    inliner.region(copy.regions[0], (function.name,))
    replace_uses(copy.regions[0], inliner.returned)
    unroll(copy.regions[0], constants, max(inliner.label, label))
    flatten(copy.regions[0], makers)
    return copy


def _drop_cold(region: Region) -> None:
    """Let sides of branches with cold loops raise."""
    for op in region.ops:
        for nested in op.regions:
            if op.name == "if" and any(inner.attrs.get("cold") for inner in nested.ops):
                attrs: dict[str, object] = {"exc": "builtins:RuntimeError", "args": TupleType(())}
                nested.ops[:] = [Op(OPS["raise"], [], [], attrs, [], op.loc)]
            else:
                _drop_cold(nested)


class _Inliner:
    def __init__(self, function: Function, module: Module, label: int) -> None:
        self.function = function
        self.module = module
        self.label = label
        self.grown = 0
        self.returned: dict[Value, Value] = {}  # results of calls -> what straight code returns

    def region(self, region: Region, chain: tuple[str, ...]) -> None:
        """Put the code of the callees of a region in their place."""
        out: list[Op] = []
        for op in region.ops:
            for nested in op.regions:
                self.region(nested, chain)
            out += self.call(op, chain) if op.name == "call" else [op]
        region.ops[:] = out

    def call(self, op: Op, chain: tuple[str, ...]) -> list[Op]:
        """The block that stands for a call; the ops themselves, if they are straight code."""
        name = str(op.attrs["callee"])
        callee = self.module.functions[name]
        size = size_of(callee.body)
        fits = size <= _MOST_OPS and self.grown + size <= _MOST_GROWTH and len(chain) < _DEEPEST
        if name in chain or not fits or callee.attrs.get("recursive"):
            return [op]
        self.grown += size
        label = self.label
        labels = fresh_labels(callee.body, [label])
        self.label = max(label, *labels.values()) + 1 if labels else label + 1
        values: dict[Value, Value] = dict(zip(callee.params, op.operands))
        body = clone_region(callee.body, values, labels)
        keep_mode(body.walk(), mode_of(callee), mode_of(self.function))
        _drop_cold(body)
        if sum(inner.name == "return" for inner in body.walk()) == 1 and body.ops[-1].name == "return":
            self.region(body, (*chain, name))
            end = body.ops.pop()
            self.returned.update(zip(op.results, end.operands))
            return body.ops
        returns_break(body, label)
        block = Op(OPS["block"], [], op.results, {"label": label}, [body], op.loc)
        self.region(body, (*chain, name))
        return [block]


def first_label(function: Function) -> int:
    """The first label that a function does not use."""
    return max_label(function.body) + 1
