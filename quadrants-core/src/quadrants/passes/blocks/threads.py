"""Code that every thread of a block runs: loops over the threads, and what threads keep from one loop to the next.

A `ThreadLoop` is one such loop while it is filled: it knows the values of the present thread. `State` makes the arrays with
an element a thread, and knows which values of the kernel are in one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from quadrants.ir import Op, Region, Value
from quadrants.ir.builder import Builder
from quadrants.ir.threads import SUBGROUP
from quadrants.passes.blocks.structure import Refused
from quadrants.types import I32, I64, U8, ArrayType, Scalar, Type

#: Larger arrays of a thread are not put into the frame.
_FRAME_BYTES = 1 << 14


def host_type(type: Type) -> Type:
    """The type on the host: there is one address space."""
    return replace(type, space="global") if isinstance(type, ArrayType) else type


@dataclass(eq=False, slots=True)
class Launch:
    """The values of the launch and of the present block, as i64."""

    grid: tuple[Value, ...]
    block: tuple[Value, ...]
    rows: Value  # threads along y and z
    threads: Value
    dynamic: Value
    index: tuple[Value, ...] = ()  # of the block


@dataclass(eq=False, slots=True)
class State:
    """What is kept between the loops.

    Args:
        entry: appends to the code in front of the loop over the blocks.
        b: appends to the code of a block.
        launch: see there.
        label: the next label.
    """

    entry: Builder
    b: Builder
    launch: Launch
    label: int
    env: dict[Value, Value] = field(default_factory=dict)  # uniform values
    slots: dict[Value, Value] = field(default_factory=dict)  # arrays with an element a thread
    makers: dict[Value, Op] = field(default_factory=dict)  # of values that are arrays, and not uniform
    wide: dict[Value, Value] = field(default_factory=dict)  # uniform i32 values as the i64 that they are
    crossing: set[Value] = field(default_factory=set)  # scalars that a later loop reads
    wait: Value | None = None  # where a thread waits; 0: it takes part

    def new_label(self) -> int:
        self.label += 1
        return self.label - 1

    def array(self, dtype: Scalar, *more: int) -> Value:
        """A new array with an element, or an array of the sizes `more`, for each thread."""
        sizes = [self.launch.threads, *(self.entry.i64(size) for size in more)]
        return self.entry.value("alloc", *sizes, type=ArrayType(dtype, 1 + len(more), "C"))

    def slot(self, value: Value) -> Value:
        """The array that a value of the kernel is kept in."""
        found = self.slots.get(value)
        if found is None:
            if not isinstance(value.type, Scalar):
                raise Refused(
                    f"a {value.type} that differs between threads cannot be kept across a barrier", self.b.loc
                )
            found = self.slots[value] = self.array(value.type)
        return found

    def const_i32(self, value: int) -> Value:
        return self.b.const(value, I32)

    @contextmanager
    def each_thread(self, masked: bool = True) -> Iterator[ThreadLoop]:
        """A loop over the threads of the block; with `masked`, only those that take part."""
        b = self.b
        row, lane = Region([Value(I64, "row")]), Region([Value(I64, "x")])
        loop = ThreadLoop(self, row.args[0], lane.args[0])
        outer_label, inner_label = self.new_label(), self.new_label()
        with b.into(lane):
            base = b.value("mul", loop.row, self.launch.block[0])
            loop.number = b.value("add", base, loop.x)
            if masked and self.wait is not None:
                self._if_taking_part(loop)
                body = Region()
                with b.into(body):
                    yield loop
                    loop.finish()
                self._close_taking_part(body)
                b.op("continue", label=inner_label)
            else:
                yield loop
                loop.finish()
                if b.region.terminator is None:
                    b.op("continue", label=inner_label)
        with b.into(row):
            size = self.launch.block[0]
            b.op("for", b.i64(0), size, b.i64(1), regions=[lane], label=inner_label, independent=True)
            b.op("continue", label=outer_label)
        b.op("for", b.i64(0), self.launch.rows, b.i64(1), regions=[row], label=outer_label, independent=True)

    def _if_taking_part(self, loop: ThreadLoop) -> None:
        assert self.wait is not None
        waits = read(self.b, self.wait, loop.number)
        loop.takes_part = self.b.value("cmp", waits, self.const_i32(0), pred="eq")

    def _close_taking_part(self, body: Region) -> None:
        b = self.b
        condition = b.region.ops[-1].results[0]
        with b.into(body):
            if body.terminator is None:
                b.op("yield")
        rest = Region()
        with b.into(rest):
            b.op("yield")
        b.op("if", condition, regions=[body, rest])


def read(b: Builder, array: Value, *index: Value) -> Value:
    return b.value("load", array, *index, checked=False, wrap=False)


def write(b: Builder, value: Value, array: Value, *index: Value) -> None:
    b.op("store", value, array, *index, checked=False, wrap=False)


@dataclass(eq=False, slots=True)
class ThreadLoop:
    """The inside of a loop over the threads. `values` are those of the kernel for the present thread."""

    state: State
    row: Value
    x: Value
    number: Value = field(init=False)
    takes_part: Value | None = None
    values: dict[Value, Value] = field(default_factory=dict)
    wide: dict[Value, Value] = field(default_factory=dict)  # i32 values of the kernel as the i64 that they are
    on_return: Callable[[], None] | None = None
    last: list[Callable[[], None]] = field(default_factory=list)

    def finish(self) -> None:
        """What is to happen at the end of the loop's body."""
        if self.state.b.region.terminator is None:
            for action in self.last:
                action()

    def get(self, value: Value) -> Value:
        """A value of the kernel in this thread."""
        found = self.values.get(value)
        if found is None:
            found = self.state.env.get(value)
        if found is None:
            maker = self.state.makers.get(value)
            if maker is not None:
                found = self._remade(maker)
            else:
                found = read(self.state.b, self.state.slot(value), self.number)
            self.values[value] = found
        return found

    def keep(self, value: Value, register: Value) -> None:
        """Keep the present thread's value for later loops."""
        write(self.state.b, register, self.state.slot(value), self.number)

    def _remade(self, maker: Op) -> Value:
        """An array that differs between threads, made again."""
        outer = self.state.b.loc
        self.op(maker)
        self.state.b.loc = outer
        return self.values[maker.result]

    def local(self, op: Op) -> Value:
        """The thread's own array, in one for all threads."""
        b, type = self.state.b, op.attrs["type"]
        shape = op.attrs["shape"]
        assert isinstance(type, ArrayType) and isinstance(shape, tuple)
        whole = self.state.slots.get(op.result)
        if whole is None:
            whole = self.state.slots[op.result] = self.state.array(type.dtype, *shape)
        strides = [type.dtype.itemsize]
        for size in reversed(shape):
            strides.insert(0, strides[0] * size)
        offset = b.value("mul", self.number, b.i64(strides[0]))
        sizes = [b.i64(size) for size in shape]
        return b.value("view", whole, offset, *sizes, *(b.i64(s) for s in strides[1:]), type=host_type(type))

    # Copies of the kernel's ops

    def ops(self, ops: list[Op]) -> None:
        """Copy ops to the end of the present region."""
        for op in ops:
            self.op(op)
            if self.state.b.region.terminator is not None:
                return

    def op(self, op: Op) -> None:
        """Copy one op, with the values of the present thread."""
        b = self.state.b
        b.loc = op.loc
        special = _SPECIAL.get(op.name)
        if special is not None:
            special(self, op)
            return
        for inner in (inner for region in op.regions for inner in region.walk()):
            for value in inner.operands:
                if value in self.state.crossing and value not in self.values:
                    self.get(value)  # once, and not in each turn of a loop
        if op.name == "cast" and op.attrs["type"] == I64:
            source = op.operands[0]
            if source in self.state.makers and source not in self.values:
                self.get(source)
            wide = self.wide.get(source) or self.state.wide.get(source)
            if wide is not None:
                self.values[op.result] = wide
                return
        if op.name == "return" and self.on_return is not None:
            self.on_return()
            return
        copied = self.copy(op)
        for old, new in zip(op.results, copied.results):
            self.values[old] = new

    def copy(self, op: Op) -> Op:
        """A copy at the end of the present region; regions are copied with it."""
        b = self.state.b
        operands = [self.get(value) for value in op.operands]
        attrs = {name: host_type(value) if isinstance(value, ArrayType) else value for name, value in op.attrs.items()}
        regions = [self._region(region) for region in op.regions]
        results = [Value(host_type(value.type), value.hint) for value in op.results]
        made = Op(op.defn, operands, results, attrs, regions, op.loc)
        b.region.ops.append(made)
        return made

    def _region(self, region: Region) -> Region:
        args = [Value(host_type(arg.type), arg.hint) for arg in region.args]
        outer = dict(self.values)  # what is read from a slot inside is not known behind
        self.values.update(zip(region.args, args))
        made = Region(args)
        with self.state.b.into(made):
            self.ops(region.ops)
        self.values = outer
        return made


def _thread_index(loop: ThreadLoop, op: Op) -> None:
    b, axis = loop.state.b, op.attrs["axis"]
    block = loop.state.launch.block
    wide = loop.x
    if axis == 1:
        wide = b.value("mod", loop.row, block[1])
    elif axis == 2:
        wide = b.value("floordiv", loop.row, block[1])
    _as_i32(loop, op, wide)


def _as_i32(loop: ThreadLoop, op: Op, wide: Value) -> None:
    loop.wide[op.result] = wide
    loop.values[op.result] = loop.state.b.value("cast", wide, type=I32)


def _lane(loop: ThreadLoop, op: Op) -> None:
    b = loop.state.b
    _as_i32(loop, op, b.value("mod", loop.number, b.i64(SUBGROUP), nonzero=True))


def _uniform(loop: ThreadLoop, op: Op) -> None:
    source = {"block.index": loop.state.launch.index, "block.size": loop.state.launch.block}.get(op.name)
    source = loop.state.launch.grid if op.name == "grid.size" else source
    if source is not None:
        loop.state.wide[op.result] = source[op.attr("axis")]
    loop.values[op.result] = uniform_op(loop.state, op)


def _local_array(loop: ThreadLoop, op: Op) -> None:
    b, type, shape = loop.state.b, op.attrs["type"], op.attrs["shape"]
    assert isinstance(type, ArrayType) and isinstance(shape, tuple)
    nbytes = type.dtype.itemsize
    for size in shape:
        nbytes *= size
    if op.result in loop.state.makers or nbytes > _FRAME_BYTES:
        loop.values[op.result] = loop.local(op)
        return
    sizes = [b.i64(size) for size in shape]
    loop.values[op.result] = b.value("alloc", *sizes, type=host_type(type), stack=True)


def uniform_op(state: State, op: Op) -> Value:
    """An op that asks about the launch or the memory of the block."""
    b, launch = state.b, state.launch
    if op.name == "lane.count":
        return state.const_i32(SUBGROUP)
    if op.name == "shared.array":
        return _shared(state, op)
    if op.name == "shared.dynamic":
        type = op.attrs["type"]
        assert isinstance(type, ArrayType)
        size = b.i64(type.dtype.itemsize)
        count = b.value("floordiv", b.value("dim", launch.dynamic, axis=0), size)
        return b.value("view", launch.dynamic, b.i64(0), count, size, type=host_type(type))
    axis = op.attrs["axis"]
    assert isinstance(axis, int)
    source = {"block.index": launch.index, "block.size": launch.block, "grid.size": launch.grid}[op.name]
    return b.value("cast", source[axis], type=I32)


def _shared(state: State, op: Op) -> Value:
    """The array of the block: there is one for all blocks that a call runs, one after the other."""
    found = state.slots.get(op.result)
    if found is None:
        type, shape = op.attrs["type"], op.attrs["shape"]
        assert isinstance(type, ArrayType) and isinstance(shape, tuple)
        sizes = [state.entry.i64(size) for size in shape]
        found = state.slots[op.result] = state.entry.value("alloc", *sizes, type=host_type(type))
    return found


_SPECIAL: dict[str, Callable[[ThreadLoop, Op], None]] = {
    "thread.index": _thread_index,
    "lane.index": _lane,
    "local.array": _local_array,
    **dict.fromkeys(
        ("block.index", "block.size", "grid.size", "lane.count", "shared.array", "shared.dynamic"), _uniform
    ),
}

#: The type of the dynamic shared memory on the host.
BYTES = ArrayType(U8, 1, "C")
