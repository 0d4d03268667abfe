"""Blocks and loops in lanes.

One in which lanes do not part stays what it is. A divergent block is its code in a row: every jump to it takes its lanes out
of what follows. A divergent loop turns until no lane is in it; what lanes bring out of it they leave in variables when they leave.
Where lanes take different numbers of turns, one that is done with its turns leaves like one that breaks.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from quadrants._frozen import record
from quadrants.ir import Op, Region, Value
from quadrants.ir.builder import region_with_args
from quadrants.passes.spmd.lanes import Line
from quadrants.passes.structure import LABELLED, LOOPS
from quadrants.types import BOOL, I64, LanesType

if TYPE_CHECKING:
    from quadrants.passes.spmd.emit import Emitter

_MOST_TURNS = (1 << 63) - 1


@record
class Target:
    """Where the jumps to a divergent op go.

    Args:
        results: variables for what a `break` brings.
        left: the variable of the lanes that are done; None where nobody asks.
        once: whether what is brought need not be blended: nothing else is.
        carried: variables for what a `continue` brings.
        going: the variable of the lanes that go on.
        one_way: whether only one `continue` names it: lanes that do not go on are done.
    """

    results: list[Value] = field(default_factory=list)
    left: Value | None = None
    once: bool = False
    carried: list[Value] = field(default_factory=list)
    going: Value | None = None
    one_way: bool = False


def jumps_of(op: Op) -> list[Op]:
    """The jumps inside an op that name it."""
    label = op.attrs["label"]
    return [
        inner for inner in op.regions[0].walk() if inner.name in ("break", "continue") and inner.attrs["label"] == label
    ]


def _come_at_once(op: Op, jumps: list[Op]) -> bool:
    """Whether all lanes that jump do so at one time: at one place, which no loop inside the op is around."""
    loops = (inner for inner in op.regions[0].walk() if inner.name in LOOPS)
    return len(jumps) == 1 and not any(jumps[0] is jump for loop in loops for jump in loop.regions[0].walk())


def is_leaky(op: Op) -> bool:
    """Whether a jump inside an op leaves it for one further out."""
    own = {op.attrs["label"]}
    for inner in op.regions[0].walk():
        if inner.name in LABELLED:
            own.add(inner.attrs["label"])
        elif inner.name in ("break", "continue") and inner.attrs["label"] not in own:
            return True
    return False


def block(e: Emitter, op: Op, mask: Value) -> Value | None:
    """A block."""
    label = op.attrs["label"]
    e.results_of[label] = op.results
    if op not in e.lanes.facts.divergent:
        return _plain_block(e, op, mask)
    breaks = jumps_of(op)
    yields = op.regions[0].ops[-1].name == "yield"
    leaky = is_leaky(op)
    target = Target([_variable(e, result) for result in op.results])
    target.left = e.b.value("var", e.lanes.none()) if leaky else None
    target.once = not (breaks and yields) and (yields or _come_at_once(op, breaks))
    e.targets[label] = target
    e.models.append(op.results)
    ending = e.ops(op.regions[0].ops, mask)
    e.models.pop()
    if e.ended:
        return None
    if ending.mask is not None:
        e.put_new(target.results, ending.values, None if target.once else ending.mask)
        e.include(target.left, ending.mask)
    return _come_out(e, op, target, mask)


def _variable(e: Emitter, result: Value) -> Value:
    return e.b.value("var", e.lanes.nothing(result))


def _come_out(e: Emitter, op: Op, target: Target, mask: Value) -> Value | None:
    """Behind a divergent op: its results, and the lanes that come out."""
    for result, variable in zip(op.results, target.results):
        new = e.lanes.values[result] = e.read(variable)
        new.hint = result.hint
    return mask if target.left is None else e.read(target.left)


def _plain_block(e: Emitter, op: Op, mask: Value) -> Value | None:
    label = e.labels[op.attrs["label"]] = e.fresh_label()
    body = Region()
    with e.lanes.into(body):
        e.models.append(op.results)
        ending = e.ops(op.regions[0].ops, mask)
        e.models.pop()
        if not e.ended:
            e.b.op(*(("yield",) if ending.mask is not None else ("unreachable",)), *ending.values)
    new = e.b.op("block", regions=[body], label=label)
    if not new.results and op.results:
        return None
    e.lanes.values.update(zip(op.results, new.results))
    return mask


def _region(e: Emitter, op: Op, first: int) -> Region:
    """The region of a new loop, its arguments standing for those of the old one from `first` on."""
    args = op.regions[0].args[first:]
    region = region_with_args([e.lanes.type_of(arg) for arg in args])
    for old, new in zip(args, region.args):
        e.lanes.values[old] = new
        new.hint = old.hint
    return region


# Loops


def _whole_body(e: Emitter, body: Region, mask: Value) -> None:
    """The body of a loop in which lanes do not part: all jumps are jumps of control."""
    e.ops(body.ops, mask)
    if not e.ended:
        e.b.op("unreachable")


def loop(e: Emitter, op: Op, mask: Value) -> Value | None:
    """A loop without a count."""
    label, body = op.attrs["label"], op.regions[0]
    e.results_of[label], e.args_of[label] = op.results, body.args
    new_label = e.fresh_label()
    inits = [e.lanes.as_of(arg, init) for arg, init in zip(body.args, op.operands)]
    if op not in e.lanes.facts.divergent:
        e.labels[label] = new_label
        region = _region(e, op, 0)
        with e.lanes.into(region):
            _whole_body(e, body, mask)
        types = tuple(e.lanes.type_of(result) for result in op.results)
        new = e.b.op("loop", *inits, regions=[region], label=new_label, result_types=types)
        e.lanes.values.update(zip(op.results, new.results))
        return mask
    target = Target([_variable(e, result) for result in op.results])
    target.left = e.b.value("var", e.lanes.none()) if is_leaky(op) else None
    e.targets[label] = target
    region = _region(e, op, 0)
    live = Value(LanesType(BOOL, e.lanes.count), "live")
    region.args.append(live)
    with e.lanes.into(region):
        _turn(e, op, target, live)
        if not e.ended:
            going = e.read(_known(target.going))
            _leave_unless(e, e.lanes.any(going), new_label, [])
            e.b.op("continue", *map(e.read, target.carried), going, label=new_label)
    e.b.op("loop", *inits, mask, regions=[region], label=new_label, result_types=())
    return _come_out(e, op, target, mask)


def _known(value: Value | None) -> Value:
    assert value is not None
    return value


def _turn(e: Emitter, op: Op, target: Target, live: Value) -> None:
    """One turn of a divergent loop by the lanes that are in it."""
    args = op.regions[0].args[1:] if op.name == "for" else op.regions[0].args
    target.carried = [e.b.value("var", e.lanes.get(arg)) for arg in args]
    target.going = e.b.value("var", e.lanes.none())
    target.one_way = _come_at_once(op, [jump for jump in jumps_of(op) if jump.name == "continue"])
    e.ops(op.regions[0].ops, live)


def _leave_unless(e: Emitter, condition: Value, label: int, results: list[Value]) -> None:
    on, away = Region(), Region()
    with e.b.into(on):
        e.b.op("yield")
    with e.b.into(away):
        e.b.op("break", *results, label=label)
    e.b.op("if", condition, regions=(on, away))


def counted(e: Emitter, op: Op, mask: Value) -> Value | None:
    """A counted loop."""
    label, body = op.attrs["label"], op.regions[0]
    e.results_of[label], e.args_of[label] = op.results, body.args[1:]
    if op in e.lanes.facts.divergent:
        if e.lanes.facts.uniform(op.operands[:3]):
            return _left_apart(e, op, mask)
        return _ends_apart(e, op, mask)
    new_label = e.labels[label] = e.fresh_label()
    region = _region(e, op, 0)
    with e.lanes.into(region):
        _whole_body(e, body, mask)
    bounds = map(e.lanes.get, op.operands[:3])
    inits = [e.lanes.as_of(arg, init) for arg, init in zip(body.args[1:], op.operands[3:])]
    new = e.b.op("for", *bounds, *inits, regions=[region], label=new_label)
    e.lanes.values.update(zip(op.results, new.results))
    return mask


def _left_apart(e: Emitter, op: Op, mask: Value) -> Value | None:
    """All lanes have the same turns before them, but some leave early."""
    label, body = op.attrs["label"], op.regions[0]
    new_label, leaky = e.fresh_label(), is_leaky(op)
    breaks = any(jump.name == "break" for jump in jumps_of(op))
    target = Target([_variable(e, result) for result in op.results] if breaks else [])
    target.left = e.b.value("var", e.lanes.none()) if leaky else None
    e.targets[label] = target
    inits = [e.lanes.as_of(arg, init) for arg, init in zip(body.args[1:], op.operands[3:])]
    region = _region(e, op, 0)
    live = Value(LanesType(BOOL, e.lanes.count), "live")
    region.args.append(live)
    with e.lanes.into(region):
        _turn(e, op, target, live)
        if not e.ended:
            following = [*map(e.read, target.carried), e.read(_known(target.going))]
            _leave_unless(e, e.lanes.any(following[-1]), new_label, following)
            e.b.op("continue", *following, label=new_label)
    new = e.b.op("for", *map(e.lanes.get, op.operands[:3]), *inits, mask, regions=[region], label=new_label)
    *finals, last = new.results
    for index, result in enumerate(op.results):
        value = finals[index]
        if e.lanes.varying(result):
            value = value if isinstance(value.type, LanesType) else e.lanes.splat(value)
            if breaks:
                value = e.b.value("select", last, value, e.read(target.results[index]))
        e.lanes.values[result] = value
    return mask if target.left is None else e.b.value("or", last, e.read(target.left))


def _ends_apart(e: Emitter, op: Op, mask: Value) -> Value | None:
    """Each lane has its own number of turns."""
    label, body = op.attrs["label"], op.regions[0]
    start, stop, step = op.operands[:3]
    forward = e.lanes.constants[step] > 0
    target = Target([e.b.value("var", e.lanes.as_of(r, init)) for r, init in zip(op.results, op.operands[3:])])
    target.left = e.b.value("var", e.lanes.none()) if is_leaky(op) else None
    e.targets[label] = target
    first, last = e.lanes.lanes(start), e.lanes.lanes(stop)
    some = e.b.value("cmp", first, last, pred="lt" if forward else "gt")
    live = e.lanes.both(mask, some)
    if target.left is not None:
        e.include(target.left, e.lanes.without(mask, some))
    turns = e.b.value("sub", last, first) if forward else e.b.value("sub", first, last)
    zero, most = e.lanes.splat(e.b.i64(0)), e.lanes.splat(e.b.i64(_MOST_TURNS))
    turns = e.b.value("select", e.b.value("cmp", turns, zero, pred="lt"), most, turns)  # more than fit an i64
    longest = e.b.value("lanes.reduce", e.b.value("select", live, turns, zero), kind="max")
    new_label = e.fresh_label()
    inits = [e.lanes.as_of(arg, init) for arg, init in zip(body.args[1:], op.operands[3:])]
    region = _region(e, op, 1)
    turn = Value(I64, "turn")
    running = Value(live.type, "live")
    region.args[:] = [turn, *region.args, running]
    with e.lanes.into(region):
        _index(e, body.args[0], start, turn, forward)
        _turn(e, op, target, running)
        if not e.ended:
            _next_turn(e, op, target, turn, turns, new_label)
    e.b.op("for", e.b.i64(0), longest, e.b.i64(1), *inits, live, regions=[region], label=new_label)
    return _come_out(e, op, target, mask)


def _index(e: Emitter, index: Value, start: Value, turn: Value, forward: bool) -> None:
    """The index of a turn of such a loop."""
    name = "add" if forward else "sub"
    if not e.lanes.varying(index):
        e.lanes.values[index] = e.b.value(name, e.lanes.get(start), turn)
        return
    e.lanes.values[index] = e.b.value(name, e.lanes.lanes(start), e.lanes.splat(turn))
    even = e.lanes.step(start)
    if even is not None:
        e.lanes.lines[index] = Line(e.b.value(name, e.lanes.first(start), turn), even)


def _next_turn(e: Emitter, op: Op, target: Target, turn: Value, turns: Value, label: int) -> None:
    """The end of a turn: lanes that have had their turns leave with what they carry."""
    going = e.read(_known(target.going))
    following = e.b.value("add", turn, e.b.i64(1))
    more = e.lanes.both(going, e.b.value("cmp", e.lanes.splat(following), turns, pred="lt"))
    done = e.lanes.without(going, more)
    carried = list(map(e.read, target.carried))
    values = [e.lanes.splat(new) if _needs_splat(e, r, new) else new for r, new in zip(op.results, carried)]
    e.put_new(target.results, values, done)
    e.include(target.left, done)
    _leave_unless(e, e.lanes.any(more), label, [*carried, more])
    e.b.op("continue", *carried, more, label=label)


def _needs_splat(e: Emitter, result: Value, new: Value) -> bool:
    return e.lanes.varying(result) and not isinstance(new.type, LanesType)
