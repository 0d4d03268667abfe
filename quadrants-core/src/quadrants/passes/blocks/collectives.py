"""What the threads of a block, or of a subgroup of it, do together, as loops over what each has kept.

Takes an op with the effect COLLECTIVE, whose operands are kept with an element a thread, or uniform; writes loops that keep
its results, as the definition of the op says. Only threads that take part are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from quadrants.ir import Op, Region, Value
from quadrants.ir.builder import Builder
from quadrants.ir.threads import SUBGROUP
from quadrants.passes.blocks.threads import State, ThreadLoop, read, write
from quadrants.types import I32, I64, U64, ArrayType, Scalar

#: (the lane, what is carried) -> what is carried on.
Step = Callable[[Value, list[Value]], Sequence[Value]]


def turns(state: State, stop: Value, carried: Sequence[Value], step: Step) -> list[Value]:
    """A loop from 0 to `stop` that carries values."""
    b = state.b
    label = state.new_label()
    body = Region([Value(I64, "i"), *(Value(value.type) for value in carried)])
    with b.into(body):
        b.op("continue", *step(body.args[0], body.args[1:]), label=label)
    return b.op("for", b.i64(0), stop, b.i64(1), *carried, regions=[body], label=label).results


def choose(b: Builder, condition: Value, then: Callable[[], Sequence[Value]], other: Sequence[Value]) -> list[Value]:
    """The values of `then` where the condition holds, else the others."""
    yes, no = Region(), Region()
    with b.into(yes):
        b.op("yield", *then())
    with b.into(no):
        b.op("yield", *other)
    return b.op("if", condition, regions=[yes, no]).results


def count(state: State, condition: Callable[[ThreadLoop, Value], Value]) -> Value:
    """For how many threads of the block it holds, given where each waits."""
    b = state.b
    assert state.wait is not None
    wait = state.wait

    def step(number: Value, carried: list[Value]) -> list[Value]:
        holds = condition(ThreadLoop(state, number, number), read(b, wait, number))
        return [b.value("add", carried[0], b.value("cast", holds, type=I64))]

    return turns(state, state.launch.threads, [b.i64(0)], step)[0]


class _Lanes:
    """The lanes of one subgroup after the other.

    Args:
        state: see there.
        op: the op, whose operands the lanes hold.
    """

    def __init__(self, state: State, op: Op) -> None:
        self.state, self.b, self.op = state, state.b, op

    def each(self, body: Callable[[Value, Value], None]) -> None:
        """For every subgroup: its first thread, and how many it has."""
        b, state = self.b, self.state
        width = b.i64(SUBGROUP)
        up = b.value("add", state.launch.threads, b.i64(SUBGROUP - 1))
        groups = b.value("floordiv", up, width, nonzero=True)

        def step(group: Value, carried: list[Value]) -> list[Value]:
            first = b.value("mul", group, b.i64(SUBGROUP))
            rest = b.value("sub", state.launch.threads, first)
            body(first, b.value("min", rest, b.i64(SUBGROUP)))
            return []

        turns(state, groups, [], step)

    def takes_part(self, number: Value) -> Value:
        b, wait = self.b, self.state.wait
        if wait is None:
            return b.bool(True)
        return b.value("cmp", read(b, wait, number), self.state.const_i32(0), pred="eq")

    def operand(self, number: Value, index: int = 0) -> Value:
        """An operand of a thread."""
        value = self.op.operands[index]
        found = self.state.env.get(value)
        return found if found is not None else read(self.b, self.state.slot(value), number)

    def gather(self, first: Value, size: Value, carried: Sequence[Value], step: Step) -> list[Value]:
        """Carry values over the lanes that take part; `step` gets the number of the thread."""
        b = self.b

        def lane(index: Value, values: list[Value]) -> Sequence[Value]:
            number = b.value("add", first, index)
            return choose(b, self.takes_part(number), lambda: step(number, values), values)

        return turns(self.state, size, carried, lane)

    def give(self, first: Value, size: Value, value: Callable[[Value], Value]) -> None:
        """Keep the result of every lane that takes part."""
        b = self.b

        def step(number: Value, _: list[Value]) -> list[Value]:
            write(b, value(number), self.state.slot(self.op.result), number)
            return []

        self.gather(first, size, [], step)

    def bit(self, first: Value, number: Value) -> Value:
        """The bit of a lane."""
        b = self.b
        lane = b.value("cast", b.value("sub", number, first), type=U64)
        return b.value("shl", b.const(1, U64), lane)

    def bits_of(self, value: Value) -> Value:
        """What is compared where lanes compare bit for bit."""
        type = value.type
        assert isinstance(type, Scalar)
        if not type.is_float:
            return value
        return self.b.value("bitcast", value, type=Scalar(I64.kind, type.bits))


def emit(state: State, op: Op) -> None:
    """Write the op."""
    _EMIT[op.name](state, op)


def _nothing(state: State, op: Op) -> None:
    """The end of a loop over the threads is a barrier."""


def _over_block(finish: Callable[[State, Value, Value], Value]) -> Callable[[State, Op], None]:
    """A barrier that counts. `finish` gets for how many threads it holds, and how many there are."""

    def run(state: State, op: Op) -> None:
        b, lanes = state.b, _Lanes(state, op)

        def step(number: Value, values: list[Value]) -> Sequence[Value]:
            holds = b.value("cast", lanes.operand(number), type=I64)
            return [b.value("add", values[0], holds), b.value("add", values[1], b.i64(1))]

        zero = b.i64(0)
        holding, everyone = lanes.gather(b.i64(0), state.launch.threads, [zero, zero], step)
        state.env[op.result] = finish(state, holding, everyone)

    return run


def _shuffle(state: State, op: Op) -> None:
    b, lanes = state.b, _Lanes(state, op)

    def body(first: Value, size: Value) -> None:
        def value(number: Value) -> Value:
            lane = b.value("sub", number, first)
            other = b.value("cast", lanes.operand(number, 1), type=I64)
            source = _SOURCES[str(op.attrs["mode"])](b, lane, other)
            at_least = b.value("cmp", source, b.i64(0), pred="ge")
            inside = b.value("and", at_least, b.value("cmp", source, size, pred="lt"))
            there = b.value("select", inside, b.value("add", first, source), number)
            active = lanes.takes_part(there)
            return lanes.operand(b.value("select", active, there, number))

        lanes.give(first, size, value)

    lanes.each(body)


_SOURCES: dict[str, Callable[[Builder, Value, Value], Value]] = {
    "index": lambda b, lane, n: b.value("mod", n, b.i64(SUBGROUP), nonzero=True),
    "up": lambda b, lane, n: b.value("sub", lane, n),
    "down": lambda b, lane, n: b.value("add", lane, n),
    "xor": lambda b, lane, n: b.value("xor", lane, n),
}


def _mask(holds: Callable[[_Lanes, Value], Value | None]) -> Callable[[State, Op], None]:
    """The lanes that take part and for which it holds, as bits."""

    def run(state: State, op: Op) -> None:
        b, lanes = state.b, _Lanes(state, op)

        def body(first: Value, size: Value) -> None:
            def step(number: Value, values: list[Value]) -> Sequence[Value]:
                bit = lanes.bit(first, number)
                condition = holds(lanes, number)
                if condition is not None:
                    bit = b.value("select", condition, bit, b.const(0, U64))
                return [b.value("or", values[0], bit)]

            (mask,) = lanes.gather(first, size, [b.const(0, U64)], step)
            lanes.give(first, size, lambda number: mask)

        lanes.each(body)

    return run


def _match(state: State, op: Op) -> None:
    b, lanes = state.b, _Lanes(state, op)

    def body(first: Value, size: Value) -> None:
        def value(number: Value) -> Value:
            own = lanes.bits_of(lanes.operand(number))

            def step(other: Value, values: list[Value]) -> Sequence[Value]:
                same = b.value("cmp", lanes.bits_of(lanes.operand(other)), own, pred="eq")
                bit = b.value("select", same, lanes.bit(first, other), b.const(0, U64))
                return [b.value("or", values[0], bit)]

            return lanes.gather(first, size, [b.const(0, U64)], step)[0]

        lanes.give(first, size, value)

    lanes.each(body)


def _first(lanes: _Lanes, first: Value, size: Value) -> Value:
    """The number of the first thread that takes part; `first` if none does."""
    b = lanes.b
    none = b.i64(-1)

    def step(number: Value, values: list[Value]) -> Sequence[Value]:
        new = b.value("cmp", values[0], b.i64(0), pred="lt")
        return [b.value("select", new, number, values[0])]

    (found,) = lanes.gather(first, size, [none], step)
    return b.value("max", found, first)


def _of_first(result: Callable[[_Lanes, Value, Value], Value]) -> Callable[[State, Op], None]:
    """`result` gets the numbers of the first thread that takes part, and of the present one."""

    def run(state: State, op: Op) -> None:
        lanes = _Lanes(state, op)

        def body(first: Value, size: Value) -> None:
            leader = _first(lanes, first, size)
            lanes.give(first, size, lambda number: result(lanes, leader, number))

        lanes.each(body)

    return run


def _vote(state: State, op: Op) -> None:
    b, lanes, mode = state.b, _Lanes(state, op), str(op.attrs["mode"])

    def body(first: Value, size: Value) -> None:
        leader = _first(lanes, first, size)

        def step(number: Value, values: list[Value]) -> Sequence[Value]:
            if mode == "equal":
                own, other = (lanes.bits_of(lanes.operand(at)) for at in (number, leader))
                return [b.value("and", values[0], b.value("cmp", own, other, pred="eq"))]
            return [b.value("and" if mode == "all" else "or", values[0], lanes.operand(number))]

        (holds,) = lanes.gather(first, size, [b.bool(mode != "any")], step)
        lanes.give(first, size, lambda number: holds)

    lanes.each(body)


# Reductions


def _combine(b: Builder, what: str, x: Value, y: Value) -> Value:
    assert isinstance(x.type, Scalar)
    name = f"math.f{what}" if x.type.is_float and what in ("min", "max") else what
    return b.value(name, x, y)


def _identity(b: Builder, what: str, type: Scalar) -> Value:
    """What leaves every other value as it is."""
    if type.is_float:
        number = {"add": -0.0, "mul": 1.0, "min": float("inf"), "max": float("-inf")}[what]
        return b.const(number, type)
    low = -(1 << (type.bits - 1)) if type.is_signed else 0
    high = low + (1 << type.bits) - 1
    return b.const({"mul": 1, "and": -1 if type.is_signed else high, "min": high, "max": low}.get(what, 0), type)


def _reduce(state: State, op: Op) -> None:
    """A butterfly, of which lane 0 is computed."""
    b, lanes, what = state.b, _Lanes(state, op), str(op.attrs["op"])
    type = op.result.type
    assert isinstance(type, Scalar)

    def body(first: Value, size: Value) -> None:
        held = b.value("alloc", b.i64(SUBGROUP), type=ArrayType(type, 1), stack=True)
        empty = _identity(b, what, type)

        def clear(i: Value, _: list[Value]) -> list[Value]:
            write(b, empty, held, i)
            return []

        turns(state, b.i64(SUBGROUP), [], clear)

        def fill(number: Value, _: list[Value]) -> list[Value]:
            write(b, lanes.operand(number), held, b.value("sub", number, first))
            return []

        lanes.gather(first, size, [], fill)
        half = SUBGROUP // 2
        while half:
            distance = b.i64(half)

            def fold(i: Value, _: list[Value], distance: Value = distance) -> list[Value]:
                other = read(b, held, b.value("add", i, distance))
                write(b, _combine(b, what, read(b, held, i), other), held, i)
                return []

            turns(state, distance, [], fold)
            half //= 2
        total = read(b, held, b.i64(0))
        lanes.give(first, size, lambda number: total)

    lanes.each(body)


def _scan(state: State, op: Op) -> None:
    b, lanes, what = state.b, _Lanes(state, op), str(op.attrs["op"])
    type = op.result.type
    assert isinstance(type, Scalar)
    start = _identity(b, what, type) if what != "add" else b.const(0.0 if type.is_float else 0, type)

    def body(first: Value, size: Value) -> None:
        def step(number: Value, values: list[Value]) -> Sequence[Value]:
            after = _combine(b, what, values[0], lanes.operand(number))
            write(b, after if op.attrs["inclusive"] else values[0], state.slot(op.result), number)
            return [after]

        lanes.gather(first, size, [start], step)

    lanes.each(body)


def _refuse_grid(state: State, op: Op) -> None:
    raise AssertionError("kernels with a barrier of the whole grid are not made into loops")


_EMIT: dict[str, Callable[[State, Op], None]] = {
    "barrier": _nothing,
    "subgroup.barrier": _nothing,
    "grid.barrier": _refuse_grid,
    "barrier.count": _over_block(lambda state, holding, all_: state.b.value("cast", holding, type=I32)),
    "barrier.all": _over_block(lambda state, holding, all_: state.b.value("cmp", holding, all_, pred="eq")),
    "barrier.any": _over_block(lambda state, holding, all_: state.b.value("cmp", holding, state.b.i64(0), pred="gt")),
    "shuffle": _shuffle,
    "vote": _vote,
    "ballot": _mask(lambda lanes, number: lanes.operand(number)),
    "lane.active": _mask(lambda lanes, number: None),
    "lane.match": _match,
    "lane.elect": _of_first(lambda lanes, leader, number: lanes.b.value("cmp", leader, number, pred="eq")),
    "lane.first": _of_first(lambda lanes, leader, number: lanes.operand(leader)),
    "subgroup.reduce": _reduce,
    "subgroup.scan": _scan,
}
