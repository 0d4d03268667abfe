"""Loops of the portable language: over ranges, `ndrange`, `grouped` and tensors; the outermost ones run in parallel.

Takes a `for` and its iterable; gives counted loops. A loop is parallel by declaration where no loop is around it, in a kernel or
in a function that a kernel calls outside of loops, unless `loop_config(serialize=True)` stands in front of it. On the CPU a nest
is parallel over its first axis that is long, or whose length is not known; on a device over all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from quadrants.bytecode import nodes
from quadrants.diagnostics import Code
from quadrants.infer import sequences
from quadrants.infer.emitter import Emitter, fail
from quadrants.infer.portable import structs, tensors, vectors
from quadrants.infer.values import Abstract, Arr, Const, Num, Sequence_, Tup
from quadrants.ir import Value
from quadrants.types import PYINT

if TYPE_CHECKING:
    from quadrants.infer.instructions import InstructionWalk

#: An axis of fewer turns is not the one to run in parallel, if there is another.
SHORT_AXIS = 64
#: More turns of a loop over `static` are an error.
MAX_STATIC = 4096

Args = tuple[Abstract, ...]


def ndrange(w: Emitter, args: Args, keywords: dict[str, Abstract]) -> Abstract:
    """`ndrange(n, (a, b), axes=(1, 0))`: the parts are start and stop of each axis, then the order of the axes."""
    parts: list[Abstract] = []
    for arg in args:
        bounds = vectors.index_items(w.unwrap(arg))
        if len(bounds) not in (1, 2):
            fail(Code.BAD_ARGUMENTS, "ndrange() takes an integer, or a pair of them, for each axis")
        pair = bounds if len(bounds) == 2 else (Const(0), bounds[0])
        parts += [b if isinstance(b, Const) else Num(PYINT, w.integer(b, "a bound of ndrange()")) for b in pair]
    axes = keywords.pop("axes", None)
    if keywords:
        fail(Code.BAD_ARGUMENTS, f"ndrange() got an unexpected keyword argument '{next(iter(keywords))}'")
    order = tuple(range(len(args))) if axes is None else _order(axes, len(args))
    return Sequence_("ndrange", (*parts, *map(Const, order)))


def _order(axes: Abstract, n: int) -> tuple[int, ...]:
    order = [item.value for item in vectors.index_items(axes) if isinstance(item, Const)]
    if sorted(order, key=repr) != list(range(n)):
        fail(Code.BAD_ARGUMENTS, f"axes= of ndrange() names each of the {n} axes once")
    return tuple(order)  # type: ignore[arg-type]


def grouped(w: Emitter, value: Abstract) -> Abstract:
    """`grouped(ndrange(...))`, `grouped(tensor)`: the indices as a vector."""
    return Sequence_("grouped", (value,))


def axes_of(w: Emitter, value: Abstract) -> tuple[list[tuple[Abstract, Abstract]], tuple[int, ...]] | None:
    """The bounds along each axis, and the order of the loops; None for what is not of this language."""
    if isinstance(value, Sequence_) and value.kind == "grouped":
        return axes_of(w, value.parts[0])
    if isinstance(value, Sequence_) and value.kind == "range" and value.parts[2].type == Const(1).type:
        return [(value.parts[0], value.parts[1])], (0,)
    if isinstance(value, Sequence_) and value.kind == "ndrange":
        n = len(value.parts) // 3
        order = tuple(int(part.value) for part in value.parts[2 * n :] if isinstance(part, Const))  # type: ignore[call-overload]
        return [(value.parts[2 * k], value.parts[2 * k + 1]) for k in range(n)], order
    if isinstance(value, Tup) and structs.is_field(value):
        return axes_of(w, value.items[0])
    if isinstance(value, Arr) or tensors.is_tensor(value):
        sizes = tensors.dims(w, value)
        return [(Const(0), Num(PYINT, size)) for size in sizes], tuple(range(len(sizes)))
    return None


def item_of(value: Abstract, index: Args) -> Abstract:
    """What the loop variable is at an index."""
    if isinstance(value, Sequence_) and value.kind == "grouped":
        return vectors.vector(index)
    return index[0] if len(index) == 1 else Tup(index)


def loop_over(w: InstructionWalk, node: nodes.For, value: Abstract, parallel: bool) -> bool:
    """The loops of a `for`; False where it is a loop as elsewhere."""
    if isinstance(value, Sequence_) and value.kind == "range":
        start, stop, step = (w.integer(part, "a bound of range()") for part in value.parts)
        w.counted_loop(node, 0, (start, stop, step), _turn(w, node, value, parallel), parallel=parallel)
        return True
    found = axes_of(w, value)
    if found is None:
        return False
    bounds, order = found
    if not bounds:
        w.unrolled_loop(node, (item_of(value, ()) if isinstance(value, Sequence_) else Const(None),))
        return True
    if parallel and w.options.device and len(bounds) > 1:
        _flat(w, node, value, bounds, order)
        return True
    if parallel:
        long = next((axis for axis in order if not _short(bounds[axis])), order[0])
        order = (long, *(axis for axis in order if axis != long))

    def nest(level: int, index: dict[int, Abstract]) -> None:
        if level == len(order):
            w.push(item_of(value, tuple(index[axis] for axis in range(len(order)))))
            w.walk(node.body)
            return
        start, stop = (w.integer(bound) for bound in bounds[order[level]])
        inner = lambda i: nest(level + 1, {**index, order[level]: Num(PYINT, i)})  # noqa: E731
        outermost = parallel and level == 0
        w.counted_loop(node, level, (start, stop, w.b.i64(1)), _counting(w, inner, outermost), parallel=outermost)

    nest(0, {})
    return True


def _flat(
    w: InstructionWalk,
    node: nodes.For,
    value: Abstract,
    bounds: list[tuple[Abstract, Abstract]],
    order: tuple[int, ...],
) -> None:
    """A nest as one loop over all of its turns, for a device: each turn finds its indices, the innermost one first."""
    zero, one = w.b.i64(0), w.b.i64(1)
    limits = [(w.integer(start), w.integer(stop)) for start, stop in bounds]
    sizes = [w.b.value("max", w.b.value("sub", stop, start), zero) for start, stop in limits]
    turns = sizes[0]
    for size in sizes[1:]:
        turns = w.b.value("mul", turns, size)

    def body(turn: Value) -> None:
        index: dict[int, Abstract] = {}
        for axis in reversed(order[1:]):
            place = w.b.value("mod", turn, sizes[axis], nonzero=True)
            index[axis] = Num(PYINT, w.b.value("add", place, limits[axis][0]))
            turn = w.b.value("floordiv", turn, sizes[axis], nonzero=True)
        index[order[0]] = Num(PYINT, w.b.value("add", turn, limits[order[0]][0]))
        w.push(item_of(value, tuple(index[axis] for axis in range(len(order)))))
        w.walk(node.body)

    w.counted_loop(node, 0, (zero, turns, one), _counting(w, body, True), parallel=True)


def _turn(w: InstructionWalk, node: nodes.For, value: Abstract, parallel: bool) -> Callable[[Value], None]:
    def body(index: Value) -> None:
        w.push(item_of(value, (Num(PYINT, index),)))
        w.walk(node.body)

    return _counting(w, body, parallel)


def _counting(w: InstructionWalk, body: Callable[[Value], None], parallel: bool) -> Callable[[Value], None]:
    """The body, in which the walk knows that a parallel loop is around it."""

    def turn(index: Value) -> None:
        w.parallel_depth += parallel
        body(index)
        w.parallel_depth -= parallel

    return turn


def _short(bounds: tuple[Abstract, Abstract]) -> bool:
    known = [bound.value for bound in bounds if isinstance(bound, Const)]
    return len(known) == 2 and known[1] - known[0] < SHORT_AXIS  # type: ignore[operator]


def static_items(w: Emitter, value: Abstract) -> Args | None:
    """The items of a range, an ndrange or a grouped one whose bounds are constants."""
    if isinstance(value, Sequence_) and value.kind == "range":
        known = sequences.constant_range(value)
        return None if known is None else tuple(map(Const, _counted(known)))
    found = axes_of(w, value) if isinstance(value, Sequence_) else None
    if found is None:
        return None
    indices: list[Args] = [()]
    for start, stop in found[0]:
        if not (isinstance(start, Const) and isinstance(stop, Const)):
            return None
        along = _counted(range(start.value, stop.value))  # type: ignore[call-overload]
        indices = [(*index, Const(k)) for index in indices for k in along]
        _counted(indices)
    return tuple(item_of(value, index) for index in indices)


def _counted(items: Any) -> Any:
    if len(items) > MAX_STATIC:
        fail(Code.TOO_LARGE, f"a loop over {len(items)} turns is too long to unroll", hint="Leave static() out.")
    return items
