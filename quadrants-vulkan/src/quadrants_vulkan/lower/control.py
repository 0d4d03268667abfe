"""Structured control flow to blocks with merge instructions.

Takes control flow in which every `break` and `continue` names the innermost labelled op around it (the pass `exits` makes that so):
SPIR-V knows no other jumps. A `block` is a loop of one turn. `return` may stand anywhere.
"""

from __future__ import annotations

from collections.abc import Callable

from quadrants.ir.core import Op
from quadrants.types import BOOL, I64, LiteralType, TupleType, Type
from quadrants_vulkan.lower.emit import Emitter, FunctionEmitter, Join
from quadrants_vulkan.lower.parts import Part, parts_of
from quadrants_vulkan.spirv.assembler import Id
from quadrants_vulkan.spirv.grammar import Op as Code


def _types(op: Op) -> list[Type]:
    return [result.type for result in op.results]


def _label(op: Op) -> int:
    label = op.attrs["label"]
    assert isinstance(label, int)
    return label


def finish(e: FunctionEmitter, op: Op, join: Join) -> None:
    """Go on behind a control op, in its join; nowhere, if nothing comes there."""
    if not join.incoming:
        e.begin(join.label)
        e.do(Code.UNREACHABLE)
        e.block = None
        return
    e.define(op.results, e.begin_join(join), join.places)
    e.finish_join(join)


def _if(e: FunctionEmitter, op: Op) -> None:
    then, other = e.label(), e.label()
    join = e.join(_types(op))
    e.do(Code.SELECTION_MERGE, join.label, 0)
    e.branch_if(e.one(op.operands[0]), then, other)
    e.begin(then)
    e.region_yielding(op.regions[0], join)
    e.begin(other)
    e.region_yielding(op.regions[1], join)
    finish(e, op, join)


def guarded(e: FunctionEmitter, condition: Id, body: Callable[[], None]) -> None:
    """Run what `body` emits if the condition holds."""
    then, after = e.label(), e.label()
    e.do(Code.SELECTION_MERGE, after, 0)
    e.branch_if(condition, then, after)
    e.begin(then)
    body()
    if e.block is not None:
        e.branch(after)
    e.begin(after)


def _block(e: FunctionEmitter, op: Op) -> None:
    """A loop of one turn."""
    head, body, back = e.label(), e.label(), e.label()
    join = e.join(_types(op))
    e.breaks[_label(op)] = join
    e.branch(head)
    e.begin(head)
    e.do(Code.LOOP_MERGE, join.label, back, 0)
    e.branch(body)
    e.begin(body)
    e.region_yielding(op.regions[0], join)
    e.begin(back)
    e.branch(head)
    finish(e, op, join)


def _latch(e: FunctionEmitter, latch: Join, head: Join) -> Callable[..., None]:
    """Begin the block that goes back; what it gives takes the values that are added there, and ends it."""
    if latch.incoming:
        values = e.begin_join(latch)
        e.finish_join(latch)
    else:  # no turn is followed by another
        e.begin(latch.label)
        values = tuple(e.asm.null(e.type(part)) for type in latch.types for part in parts_of(type))

    def back(*before: Id) -> None:
        e.jump_with(head, (*before, *values))
        for position, place in enumerate(latch.places):
            e.place_at(head, position + len(before), place)

    return back


class _Leaving:
    """On a device that cuts loops short: a variable that says whether a loop has been left by an exit of its own."""

    def __init__(self, e: FunctionEmitter, op: Op) -> None:
        self.e, self.op = e, op
        self.variable = e.local(e.truth_type) if e.module.cuts_loops and e.raises else 0
        self.note(e.truth(False))

    def note(self, left: Id) -> None:
        if self.variable:
            self.e.do(Code.STORE, self.variable, left)

    def check(self) -> None:
        """Behind the loop: raise unless it was left."""
        e = self.e
        if not self.variable or e.block is None:
            return
        from quadrants_vulkan.lower.errors import check  # which imports this module

        left = e.let(Code.LOAD, e.truth_type, self.variable)
        check(e, self.op, left, "builtins:RuntimeError", TupleType((LiteralType(_CUT),)), ())


_CUT = (
    "the driver ended a loop: Mesa's llvmpipe lets a thread take 65,535 turns of loops in all; "
    "use more threads with shorter loops, or another driver"
)


def _loop(e: FunctionEmitter, op: Op) -> None:
    body = op.regions[0]
    head = e.join([arg.type for arg in body.args])
    latch, after = e.join(head.types), e.join(_types(op))
    leaving = e.leaving[_label(op)] = _Leaving(e, op)
    e.breaks[_label(op)], e.continues[_label(op)] = after, latch
    e.jump(head, op.operands)
    e.define(body.args, e.begin_join(head), head.places)
    inside = e.label()
    e.do(Code.LOOP_MERGE, after.label, latch.label, 0)
    e.branch(inside)
    e.begin(inside)
    e.region(body)
    _latch(e, latch, head)()
    e.finish_join(head)
    finish(e, op, after)
    leaving.check()


def _for(e: FunctionEmitter, op: Op) -> None:
    """A counted loop: the test at its head is of `more`, which says without overflow whether there is another turn."""
    start, stop, step = (e.one(operand) for operand in op.operands[:3])
    body, label = op.regions[0], _label(op)
    carried = [arg.type for arg in body.args[1:]]
    counter = _Counter(e, stop, step, e.constants.get(op.operands[2]))
    after, latch = e.join(carried), e.join(carried)
    head = e.join([I64, *carried]) if counter.simple else e.join([BOOL, I64, *carried])
    e.breaks[label], e.continues[label] = after, latch
    leaving = e.leaving[label] = _Leaving(e, op)
    first = () if counter.simple else (counter.some(start),)
    for position, value in enumerate(op.operands[3:]):
        e.place_at(head, len(first) + 1 + position, e.place_of(value))
    e.jump_with(head, (*first, start, *e.all(op.operands[3:])))
    parts = e.begin_join(head)[len(first) :]
    e.define(body.args, parts, head.places[len(first) :])
    go = counter.some(parts[0]) if counter.simple else head.phis[0][2]
    inside = e.label()
    if leaving.variable:
        leaving.note(e.test(Code.LOGICAL_NOT, go))
    after.incoming.append((parts[1:], head.label))
    for position, place in enumerate(head.places[len(first) + 1 :]):
        e.place_at(after, position, place)
    e.do(Code.LOOP_MERGE, after.label, latch.label, 0)
    e.branch_if(go, inside, after.label)
    e.begin(inside)
    e.region(body)
    back = _latch(e, latch, head)
    following = e.longs.add(parts[0], step)
    back(*(() if counter.simple else (counter.more(parts[0]),)), following)
    e.finish_join(head)
    finish(e, op, after)
    leaving.check()


class _Counter:
    """Whether a loop goes on. By a step of 1 or -1 the index cannot pass the end, and is compared with it."""

    def __init__(self, e: FunctionEmitter, stop: Id, step: Id, known: object) -> None:
        self.e, self.stop, self.step, self.known = e, stop, step, known
        self.simple = known in (1, -1)

    def _up(self) -> Id:
        return self.e.longs.compare("gt", True, self.step, self.e.longs.const(0))

    def some(self, index: Id) -> Id:
        """Whether there is a turn at the index."""
        longs = self.e.longs
        if isinstance(self.known, int):
            return longs.compare("lt" if self.known > 0 else "gt", True, index, self.stop)
        below, above = (longs.compare(pred, True, index, self.stop) for pred in ("lt", "gt"))
        return self.e.select(self._up(), Part.TRUTH, below, above)

    def more(self, index: Id) -> Id:
        """Whether there is one after that: the way to the end is longer than the step."""
        longs = self.e.longs
        if isinstance(self.known, int):
            up = self.known > 0
            way = longs.sub(self.stop, index) if up else longs.sub(index, self.stop)
            return longs.compare("gt", False, way, longs.const(abs(self.known)))
        up_way, down_way = longs.sub(self.stop, index), longs.sub(index, self.stop)
        way = self.e.select(self._up(), Part.LONG, up_way, down_way)
        size = self.e.select(self._up(), Part.LONG, self.step, longs.sub(longs.const(0), self.step))
        return longs.compare("gt", False, way, size)


def _yield(e: FunctionEmitter, op: Op) -> None:
    e.jump(e.yields[-1], op.operands)


def _break(e: FunctionEmitter, op: Op) -> None:
    leaving = e.leaving.get(_label(op))
    if leaving is not None:
        leaving.note(e.truth(True))
    e.jump(e.breaks[_label(op)], op.operands)


def _continue(e: FunctionEmitter, op: Op) -> None:
    e.jump(e.continues[_label(op)], op.operands)


def leave(e: FunctionEmitter, failed: bool, parts: tuple[Id, ...] = ()) -> None:
    """Return from the function, with its results or with the mark that it raised."""
    if not e.members:
        e.do(Code.RETURN)
    else:
        if failed:
            parts = tuple(e.asm.null(type) for type in e.members[1:])
        members = (e.truth(failed), *parts) if e.raises else parts
        result = members[0] if len(members) == 1 else e.let(Code.COMPOSITE_CONSTRUCT, e.result, *members)
        e.do(Code.RETURN_VALUE, result)
    e.block = None


def _return(e: FunctionEmitter, op: Op) -> None:
    for position, value in enumerate(op.operands):
        place, before = e.place_of(value), e.result_places[position]
        if before not in (None, place):
            e.module.refuse(
                e.function, op, "a function that gives back one of several arrays of its thread", "return an index"
            )
        e.result_places[position] = place
    leave(e, False, e.all(op.operands))


def _unreachable(e: FunctionEmitter, op: Op) -> None:
    e.do(Code.UNREACHABLE)
    e.block = None


EMITTERS: dict[str, Emitter] = {
    "if": _if,
    "block": _block,
    "loop": _loop,
    "for": _for,
    "yield": _yield,
    "break": _break,
    "continue": _continue,
    "return": _return,
    "unreachable": _unreachable,
}
