"""Structured control flow to basic blocks and phis."""

from __future__ import annotations

from quadrants.ir.core import Op
from quadrants.lower import apart
from quadrants.lower.abi import all_components
from quadrants.lower.arith import is_literal
from quadrants.lower.emit import Emitter, FunctionEmitter, Handler, Join, Text
from quadrants.lower.nodes import CONTEXT, LIKELY, UNLIKELY
from quadrants.lower.unrolling import leaves_a_copy
from quadrants.types import Type


def _types(op: Op) -> list[Type]:
    return [result.type for result in op.results]


def _finish(e: FunctionEmitter, op: Op, join: Join) -> None:
    """Go on behind a control op, in its join."""
    e.define(op.results, e.begin_join(join))


def _if(e: FunctionEmitter, op: Op) -> None:
    condition = e.one(op.operands[0])
    then, other = e.label("then"), e.label("else")
    join = e.join("endif", _types(op))
    e.lines.append(f"  br i1 {condition}, label %{then}, label %{other}{_weights(op)}")
    e.begin(then)
    e.region_yielding(op.regions[0], join)
    e.begin(other)
    e.region_yielding(op.regions[1], join)
    _finish(e, op, join)


def _weights(op: Op) -> str:
    """The branch weights: a region with a cold loop is not expected to run."""
    cold = [any(inner.attrs.get("cold") for inner in region.ops) for region in op.regions]
    if cold[0] == cold[1]:
        return ""
    return f", {UNLIKELY}" if cold[0] else f", {LIKELY}"


def _label(op: Op) -> int:
    label = op.attrs["label"]
    assert isinstance(label, int)
    return label


def _block(e: FunctionEmitter, op: Op) -> None:
    join = e.join("endblock", _types(op))
    label = _label(op)
    e.breaks[label] = join
    e.region_yielding(op.regions[0], join)
    _finish(e, op, join)


def _loop(e: FunctionEmitter, op: Op) -> None:
    body = op.regions[0]
    label = _label(op)
    head = e.join("loop", [arg.type for arg in body.args])
    after = e.join("endloop", _types(op))
    e.breaks[label], e.continues[label] = after, head
    e.jump(head, e.all(op.operands))
    head.note = e.module.nodes.loop(bool(op.attr("cold")))
    e.define(body.args, e.begin_join(head, complete=False))
    e.region(body)
    e.finish_join(head)
    _finish(e, op, after)


# Counted loops: a guard, then a body that is entered only if there is an iteration, with the test at its end.


def _place(e: FunctionEmitter, op: Op) -> str:
    """What names an innermost loop in reports: its function and position."""
    if op.loc is None or any(inner.name in ("for", "loop") for inner in op.regions[0].walk()):
        return ""
    return f"{e.function.name}:{op.loc.line}:{op.loc.col}"


def _for(e: FunctionEmitter, op: Op) -> None:
    if op.attr("fails") and apart.possible(e, op):
        apart.emit(e, op, _for_here)
    else:
        _for_here(e, op)


def _for_here(e: FunctionEmitter, op: Op) -> None:
    start, stop, step = (e.one(operand) for operand in op.operands[:3])
    inits = e.all(op.operands[3:])
    body = op.regions[0]
    carried = [arg.type for arg in body.args[1:]]
    label = _label(op)
    after = e.join("endfor", carried)
    latch = e.join("next", carried)
    head = Join(e.label("for"), ("i64", *all_components(carried)), depth=len(e.handling))
    counter = (_Unit if step in ("1", "-1") else _Counted)(e, start, stop, step)
    e.breaks[label], e.continues[label] = after, latch
    enter = e.label("enter")
    after.incoming.append((inits, e.block))
    e.lines.append(f"  br i1 {counter.guard}, label %{enter}, label %{after.label}")
    e.begin(enter)
    e.jump(Join(head.label, (), depth=head.depth))
    first = e.block
    phis = e.begin_join(head, complete=False)
    counter.begin(e, first)
    e.define(body.args, phis)
    e.region(body)
    head.incoming.append(((start, *inits), first))
    if latch.incoming:
        values = e.begin_join(latch)
        following, more = counter.end(e, phis[0])
        cold = bool(op.attr("cold"))
        head.incoming.append(((following, *values), e.block))
        after.incoming.append((values, e.block))
        note = e.module.nodes.loop(cold, _place(e, op), leaves_a_copy(op), bool(op.attr("wide")))
        e.lines.append(f"  br i1 {more}, label %{head.label}, label %{after.label}{note}")
    e.finish_join(head)
    _finish(e, op, after)


class _Unit:
    """A step of 1 or -1: the index itself counts. It cannot wrap, being on the near side of `stop` before a step."""

    def __init__(self, e: FunctionEmitter, start: Text, stop: Text, step: Text) -> None:
        self.stop, self.step = stop, step
        self.predicate = "slt" if step == "1" else "sgt"
        self.guard = e.let(f"icmp {self.predicate} i64 {start}, {stop}")

    def begin(self, e: FunctionEmitter, first: str) -> None:
        """Nothing to add at the head."""

    def end(self, e: FunctionEmitter, index: Text) -> tuple[Text, Text]:
        """The next index, and whether there is another iteration."""
        following = e.let(f"add nsw i64 {index}, {self.step}")
        return following, e.let(f"icmp {self.predicate} i64 {following}, {self.stop}")


class _Counted:
    """Any other step: iterations are counted, without a sign, since the range may be wider than an i64."""

    def __init__(self, e: FunctionEmitter, start: Text, stop: Text, step: Text) -> None:
        self.step = step
        self.count = self._trip_count(e, start, stop, step)
        self.guard = e.let(f"icmp ne i64 {self.count}, 0")
        self.name = e.temp()
        self.slot = -1

    @staticmethod
    def _upward(e: FunctionEmitter, low: Text, high: Text, stride: Text) -> Text:
        """How many steps fit between two bounds."""
        some = e.let(f"icmp slt i64 {low}, {high}")
        distance = e.let(f"sub i64 {high}, {low}")
        inner = e.let(f"sub i64 {distance}, 1")
        steps = e.let(f"udiv i64 {inner}, {stride}")
        count = e.let(f"add i64 {steps}, 1")
        return e.let(f"select i1 {some}, i64 {count}, i64 0")

    def _trip_count(self, e: FunctionEmitter, start: Text, stop: Text, step: Text) -> Text:
        if is_literal(step):
            if int(step) > 0:
                return self._upward(e, start, stop, step)
            return self._upward(e, stop, start, str(-int(step)) if int(step) > -(1 << 63) else step)
        positive = e.let(f"icmp sgt i64 {step}, 0")
        negated = e.let(f"sub i64 0, {step}")
        stride = e.let(f"select i1 {positive}, i64 {step}, i64 {negated}")
        low = e.let(f"select i1 {positive}, i64 {start}, i64 {stop}")
        high = e.let(f"select i1 {positive}, i64 {stop}, i64 {start}")
        return self._upward(e, low, high, stride)

    def begin(self, e: FunctionEmitter, first: str) -> None:
        """The count of iterations done, beside the index."""
        self.slot = len(e.lines)
        e.line(f"{self.name} = phi i64 [ 0, %{first} ]")

    def end(self, e: FunctionEmitter, index: Text) -> tuple[Text, Text]:
        """The next index (it may wrap, but only after the last iteration), and whether there is another iteration."""
        done = e.let(f"add nuw i64 {self.name}, 1")
        e.lines[self.slot] += f", [ {done}, %{e.block} ]"
        following = e.let(f"add nsw i64 {index}, {self.step}")
        return following, e.let(f"icmp ne i64 {done}, {self.count}")


def _try(e: FunctionEmitter, op: Op) -> None:
    body, handling = op.regions
    join = e.join("endtry", _types(op))
    records = e.let(f"load i32, ptr %ctx, align 8, {CONTEXT}")
    handler = Handler(Join(e.label("handler"), ("i32",), depth=len(e.handling)))
    e.handlers.append(handler)
    e.region_yielding(body, join)
    e.handlers.pop()
    e.finish_chains(handler)
    if handler.join.incoming:
        exception = e.begin_join(handler.join)
        e.define(handling.args, exception)
        e.handling.append((exception[0], records))
        e.region_yielding(handling, join)
        e.handling.pop()
    _finish(e, op, join)


def _yield(e: FunctionEmitter, op: Op) -> None:
    e.jump(e.yields[-1], e.all(op.operands))


def _break(e: FunctionEmitter, op: Op) -> None:
    e.jump(e.breaks[_label(op)], e.all(op.operands))


def _continue(e: FunctionEmitter, op: Op) -> None:
    e.jump(e.continues[_label(op)], e.all(op.operands))


def _return(e: FunctionEmitter, op: Op) -> None:
    e.end_handling(0)
    e.return_values(e.all(op.operands))


def _unreachable(e: FunctionEmitter, op: Op) -> None:
    e.line("unreachable")


EMITTERS: dict[str, Emitter] = {
    "if": _if,
    "block": _block,
    "loop": _loop,
    "for": _for,
    "try": _try,
    "yield": _yield,
    "break": _break,
    "continue": _continue,
    "return": _return,
    "unreachable": _unreachable,
}
