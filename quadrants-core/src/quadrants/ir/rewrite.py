"""Tools for passes: purity, uses, walking with parents, cloning, replacing, removal of dead code, constant evaluation.

Everything here keeps a valid module valid, under the conditions that each function names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from quadrants.ir.core import Function, Module, Op, Region, Value
from quadrants.ir.opdef import Effect
from quadrants.ir.ops import OPS
from quadrants.ir.values import InterpError, Raised, canonical
from quadrants.types import Scalar

_LEAVING = ("break", "continue", "return")
_PROMISES = ("nowrap", "nonzero", "nothrow")
_LABELLED = ("block", "loop", "for", "break", "continue")


def effects_of(op: Op) -> Effect:
    """The effects of the op with those of the ops inside. RAISES only if it can; CONTROL only if control leaves the op."""
    effects = op.defn.effects & ~(Effect.CONTROL | Effect.RAISES)
    if op.can_raise:
        effects |= Effect.RAISES
    if op.name in _LEAVING or (op.defn.terminator and op.name != "yield"):
        return effects | Effect.CONTROL
    for region in op.regions:
        for inner in region.ops:
            effects |= effects_of(inner)
    if op.regions and effects & Effect.CONTROL and not _leaves(op):
        effects &= ~Effect.CONTROL
    return effects


def _leaves(op: Op) -> bool:
    """Whether control can leave the op other than by falling through or raising; a `loop` may also never end."""
    labels = {op.attrs.get("label")} | {inner.attrs.get("label") for inner in walk_inside(op) if inner.regions}
    labels.discard(None)
    return op.name == "loop" or any(
        inner.name in ("return", "unreachable", "loop")
        or (inner.name in ("break", "continue") and inner.attrs.get("label") not in labels)
        for inner in walk_inside(op)
    )


def walk_inside(op: Op) -> Iterator[Op]:
    """Every op in the regions of the op."""
    for region in op.regions:
        yield from region.walk()


def is_pure(op: Op) -> bool:
    """Whether the op only computes its results from its operands: it may be merged with an equal one before it, or dropped."""
    return effects_of(op) == Effect.NONE


def is_speculatable(op: Op) -> bool:
    """Whether the op is pure and makes no promise, so that it may run where it would not have run."""
    return is_pure(op) and not any(_promises(inner) for inner in (op, *walk_inside(op)))


def _promises(op: Op) -> bool:
    if op.name == "index":
        return bool(op.attr("wrap"))  # in [-n, n); without `wrap` and `checked` it is the identity
    return op.name in ("view", "unreachable") or any(op.attrs.get(promise) for promise in _PROMISES)


def is_removable(op: Op) -> bool:
    """Whether the op may be dropped if nothing uses its results. That it reads, or makes a variable, does not matter."""
    return not op.defn.terminator and not effects_of(op) & ~(Effect.READS | Effect.ALLOCATES)


def walk_with_parents(region: Region, parents: tuple[Op, ...] = ()) -> Iterator[tuple[Op, Region, tuple[Op, ...]]]:
    """Every op with its region and the ops around it, from the outside in. The op lists may be changed meanwhile."""
    for op in list(region.ops):
        yield op, region, parents
        for inner in op.regions:
            yield from walk_with_parents(inner, (*parents, op))


def uses(region: Region) -> dict[Value, list[Op]]:
    """The ops that use each value, `cleanup` included, once for each use."""
    found: dict[Value, list[Op]] = {}
    for op in region.walk():
        for value in (*op.operands, *op.cleanup):
            found.setdefault(value, []).append(op)
    return found


def definitions(region: Region) -> dict[Value, Op]:
    """The op that defines each value that is the result of one."""
    return {value: op for op in region.walk() for value in op.results}


def replace_uses(region: Region, replacements: Mapping[Value, Value]) -> None:
    """Use other values instead, everywhere in the region. Chains of replacements are followed to their end."""
    if not replacements:
        return

    def final(value: Value) -> Value:
        while value in replacements:
            value = replacements[value]
        return value

    for op in region.walk():
        op.operands[:] = [final(value) for value in op.operands]
        if op.cleanup:
            op.cleanup = tuple(final(value) for value in op.cleanup)


def max_label(region: Region) -> int:
    """The highest label in the region; -1 if there is none."""
    return max((_label(op) for op in region.walk() if op.name in _LABELLED), default=-1)


def _label(op: Op) -> int:
    label = op.attrs["label"]
    assert isinstance(label, int)
    return label


def fresh_labels(region: Region, used: Iterable[int]) -> dict[int, int]:
    """A new label for each op in the region that has one, so that none is among `used`."""
    start = max(used, default=-1) + 1
    own = sorted({_label(op) for op in region.walk() if op.regions and "label" in op.attrs})
    return {label: start + index for index, label in enumerate(own)}


def clone_value(value: Value, values: dict[Value, Value]) -> Value:
    """A new value with the type and hint, recorded in `values`."""
    copy = values[value] = Value(value.type, value.hint)
    return copy


def clone_op(op: Op, values: dict[Value, Value], labels: Mapping[int, int] | None = None) -> Op:
    """A copy of the op and its regions.

    Args:
        values: what to use for a value (itself, if absent); the copies of what the op defines are added.
        labels: what to use for a label (itself, if absent).
    """
    attrs = dict(op.attrs)
    if labels and op.name in _LABELLED:
        attrs["label"] = labels.get(_label(op), _label(op))
    regions = [clone_region(region, values, labels) for region in op.regions]
    return Op(
        op.defn,
        [values.get(value, value) for value in op.operands],
        [clone_value(value, values) for value in op.results],
        attrs,
        regions,
        op.loc,
        tuple(values.get(value, value) for value in op.cleanup),
    )


def clone_region(region: Region, values: dict[Value, Value], labels: Mapping[int, int] | None = None) -> Region:
    """A copy of the region. Arguments that `values` already maps are substituted: the copy has only the others."""
    args = [clone_value(arg, values) for arg in region.args if arg not in values]
    return Region(args, [clone_op(op, values, labels) for op in region.ops])


def clone_function(function: Function, name: str | None = None) -> Function:
    """A copy that shares nothing that can change."""
    values: dict[Value, Value] = {}
    params = [clone_value(param, values) for param in function.params]
    body = clone_region(function.body, values)
    name = function.name if name is None else name
    return Function(name, params, function.result_types, body, function.scope, dict(function.attrs))


def clone_module(module: Module) -> Module:
    """A copy that shares nothing that can change."""
    return Module({name: clone_function(function) for name, function in module.functions.items()}, module.entry)


def remove_dead_ops(function: Function, removable: Callable[[Op], bool] = is_removable) -> int:
    """Drop the ops whose results nothing uses and which `removable` allows to drop; gives their number."""
    counts = {value: len(ops) for value, ops in uses(function.body).items()}
    return _remove_dead(function.body, counts, removable)


def _remove_dead(region: Region, counts: dict[Value, int], removable: Callable[[Op], bool]) -> int:
    removed = 0
    kept: list[Op] = []
    for op in reversed(region.ops):  # users come after what they use
        if not any(counts.get(value) for value in op.results) and removable(op):
            for inner in (op, *walk_inside(op)):
                removed += 1
                for value in (*inner.operands, *inner.cleanup):
                    counts[value] -= 1
            continue
        for inner_region in reversed(op.regions):
            removed += _remove_dead(inner_region, counts, removable)
        kept.append(op)
    region.ops[:] = reversed(kept)
    return removed


def constant(value: Any, type: Scalar) -> Op:
    """A `const` op for a machine value of the type."""
    machine = canonical(type, value)
    plain = machine if isinstance(machine, (bool, int)) else machine.item()
    return Op(OPS["const"], [], [Value(type)], {"value": plain, "type": type})


def evaluate(op: Op, values: Iterable[Any]) -> tuple[Any, ...] | None:
    """The results of a pure op on machine values, by its reference semantics.

    None when it has none, when it raises, or when the values break a promise of the op.
    """
    if op.defn.reference is None or op.regions or not is_pure(op):
        return None
    try:
        with np.errstate(all="ignore"):
            return op.defn.reference(op, tuple(values))
    except (Raised, InterpError):
        return None


def fold(op: Op, constants: Mapping[Value, Any]) -> list[Op] | None:
    """The `const` ops that a pure op with scalar results is equal to, one a result, when `constants` has all its operands."""
    if op.name in ("const", "zero") or not op.results or any(value not in constants for value in op.operands):
        return None
    results = evaluate(op, [constants[value] for value in op.operands])
    if results is None or not all(isinstance(value.type, Scalar) for value in op.results):
        return None
    return [
        constant(result, value.type) for result, value in zip(results, op.results) if isinstance(value.type, Scalar)
    ]


def returns_break(region: Region, label: int) -> None:
    """Let the returns of a function's body leave a block with the label: the body stands in the place of a call."""
    for position, op in enumerate(region.ops):
        for nested in op.regions:
            returns_break(nested, label)
        if op.name == "return":
            region.ops[position] = Op(OPS["break"], op.operands, [], {"label": label}, [], op.loc)
