"""Lanes: how they are made, combined, and how they reach memory under a mask.

Addresses are computed without promises: a lane that is off may have any index. Neighbours in memory are read and written
by one masked access, complex numbers as twice as many parts; everything else gathers and scatters.
"""

from __future__ import annotations

from collections.abc import Sequence

from quadrants.ir.core import Op
from quadrants.lower.abi import memory_text, scalar_text
from quadrants.lower.address import array_type, dims, strides
from quadrants.lower.emit import Emitter, FunctionEmitter, Text
from quadrants.lower.nodes import DATA
from quadrants.lower.shape import Shape, shape_of
from quadrants.types import ArrayType, LanesType, Scalar


def _count(op: Op) -> int:
    count = op.attrs["count"]
    assert isinstance(count, int)
    return count


def splat(e: FunctionEmitter, text: Text, type: str, count: int) -> Text:
    """A scalar operand in every lane."""
    if text[0] != "%":
        return f"splat ({type} {text})"
    first = e.let(f"insertelement <{count} x {type}> poison, {type} {text}, i64 0")
    return e.let(
        f"shufflevector <{count} x {type}> {first}, <{count} x {type}> poison, <{count} x i32> zeroinitializer"
    )


def constants(type: str, values: Sequence[int]) -> Text:
    """A vector of integer constants."""
    return f"<{', '.join(f'{type} {value}' for value in values)}>"


def shuffle(e: FunctionEmitter, type: str, count: int, first: Text, second: Text, places: Sequence[int]) -> Text:
    """The elements at the places of two vectors in a row; for a negative place any."""
    picked = f"<{', '.join('i32 poison' if place < 0 else f'i32 {place}' for place in places)}>"
    vector = f"<{count} x {type}>"
    return e.let(f"shufflevector {vector} {first}, {vector} {second}, <{len(places)} x i32> {picked}")


def _splat(e: FunctionEmitter, op: Op) -> None:
    item = op.operands[0].type
    assert isinstance(item, Scalar)
    text = scalar_text(item.part)
    e.parts[op.results[0]] = tuple(splat(e, part, text, _count(op)) for part in e.get(op.operands[0]))


def _index(e: FunctionEmitter, op: Op) -> None:
    e.set(op, constants("i64", range(_count(op))))


def _test(kind: str) -> Emitter:
    def emit(e: FunctionEmitter, op: Op) -> None:
        shape = shape_of(op.operands[0].type)
        e.set(op, e.let(f"call i1 @llvm.vector.reduce.{kind}.{shape.suffix}({shape.text} {e.one(op.operands[0])})"))

    return emit


_FLOATS = {"add": "fadd", "mul": "fmul"}
_LESS = {"min": "lt", "max": "gt"}


def _combine(e: FunctionEmitter, kind: str, shape: Shape, a: Text, b: Text) -> Text:
    """One step of a reduction."""
    item = shape.item
    if kind in _LESS:
        order = f"fcmp o{_LESS[kind]}" if item.is_float else f"icmp {'s' if item.is_signed else 'u'}{_LESS[kind]}"
        test = e.let(f"{order} {shape.text} {a}, {b}")
        return e.let(f"select {shape.truth} {test}, {shape.text} {a}, {shape.text} {b}")
    return e.let(f"{_FLOATS[kind] if item.is_float else kind} {shape.text} {a}, {b}")


def _reduce(e: FunctionEmitter, op: Op) -> None:
    """By halves, as the op is defined: in every build the same rounding."""
    kind, shape = str(op.attrs["kind"]), shape_of(op.operands[0].type)
    value, text = e.one(op.operands[0]), scalar_text(shape.item)
    while shape.lanes > 1:
        half = Shape(shape.item, shape.lanes // 2)
        low = shuffle(e, text, shape.lanes, value, "poison", range(half.lanes))
        high = shuffle(e, text, shape.lanes, value, "poison", range(half.lanes, shape.lanes))
        value, shape = _combine(e, kind, half, low, high), half
    e.set(op, e.let(f"extractelement {shape.text} {value}, i64 0"))


def _extract(e: FunctionEmitter, op: Op) -> None:
    type, lane = op.operands[0].type, e.one(op.operands[1])
    assert isinstance(type, LanesType)
    text = f"<{type.count} x {scalar_text(type.item.part)}>"
    e.parts[op.results[0]] = tuple(e.let(f"extractelement {text} {part}, i64 {lane}") for part in e.get(op.operands[0]))


def _pick(e: FunctionEmitter, op: Op) -> None:
    """From two operands at a time: what was picked before, and the next one."""
    type, places = op.operands[0].type, op.attrs["places"]
    assert isinstance(type, LanesType) and isinstance(places, tuple)
    text, count = scalar_text(type.item.part), type.count
    found = []
    for parts in zip(*map(e.get, op.operands), strict=True):
        value = ""
        for number, part in enumerate(parts):
            own = {lane: place % count for lane, place in enumerate(places) if place // count == number}
            if own and not value:
                value = shuffle(e, text, count, part, "poison", [own.get(lane, -1) for lane in range(count)])
            elif own:
                merged = [count + own[lane] if lane in own else lane for lane in range(count)]
                value = shuffle(e, text, count, value, part, merged)
        found.append(value)
    e.parts[op.results[0]] = tuple(found)


# Addresses


class _Offset:
    """A sum of products of indices and steps: the part that all lanes share, and the part of each."""

    def __init__(self, e: FunctionEmitter, count: int) -> None:
        self.e = e
        self.count = count
        self.shared: Text = "0"
        self.own: Text = ""

    @property
    def vector(self) -> str:
        return f"<{self.count} x i64>"

    def _plus(self, a: Text, b: Text) -> Text:
        return b if a == "0" else a if b == "0" else self.e.let(f"add i64 {a}, {b}")

    def add(self, index: Text, step: Text, own: bool) -> None:
        """Add an index times a step (a scalar)."""
        e = self.e
        if not own:
            self.shared = self._plus(self.shared, index if step == "1" else e.let(f"mul i64 {index}, {step}"))
            return
        term = index
        if step != "1":
            term = e.let(f"mul {self.vector} {index}, {splat(e, step, 'i64', self.count)}")
        self.own = term if not self.own else e.let(f"add {self.vector} {self.own}, {term}")


class _Access:
    """An access of lanes to an array.

    Args:
        e: the emitter.
        op: the op.
        first: where its operands mask, array, indices begin.
    """

    def __init__(self, e: FunctionEmitter, op: Op, first: int) -> None:
        self.e = e
        mask, self.array, *self.indices = op.operands[first:]
        self.mask = e.one(mask)
        self.count = shape_of(mask.type).lanes
        self.type: ArrayType = array_type(self.array)
        self.part = self.type.dtype.part
        self.item = memory_text(self.part)
        self.note = DATA + e.aliasing.note(self.array)
        axis, step = op.attrs.get("axis"), op.attrs.get("step")
        self.axis = axis if isinstance(axis, int) else None
        self.step = step if isinstance(step, int) else 0
        self.parts = 2 if self.type.dtype.is_complex else 1

    @property
    def neighbours(self) -> bool:
        """Whether the lanes are neighbours in memory, in either direction."""
        fastest = {"C": self.type.ndim - 1, "F": 0}.get(self.type.layout)
        return self.axis is not None and self.axis == fastest and self.step in (1, -1)

    def _steps(self) -> list[Text]:
        """The distance of neighbours along each axis: in elements for contiguous arrays, else in bytes."""
        e, type, parts = self.e, self.type, self.e.get(self.array)
        if not type.contiguous:
            return list(strides(parts, type))
        sizes = dims(parts, type)
        steps, step = [""] * type.ndim, "1"
        for axis in range(type.ndim) if type.layout == "F" else reversed(range(type.ndim)):
            steps[axis] = step
            if axis != (type.ndim - 1 if type.layout == "F" else 0):
                step = sizes[axis] if step == "1" else e.let(f"mul i64 {step}, {sizes[axis]}")
        return steps

    def offset(self) -> _Offset:
        """Where the elements are."""
        found = _Offset(self.e, self.count)
        steps = self._steps()
        for index, step in zip(self.indices, steps):
            found.add(self.e.one(index), step, isinstance(index.type, LanesType))
        if self.axis is not None and not self.neighbours:
            lanes = constants("i64", [lane * self.step for lane in range(self.count)])
            found.add(lanes, steps[self.axis], own=True)
        return found

    def base(self, offset: _Offset) -> Text:
        """The address that all lanes share."""
        unit = f"[{self.type.dtype.itemsize} x i8]" if self.type.contiguous else "i8"
        data = self.e.get(self.array)[0]
        if offset.shared == "0":
            return data
        return self.e.let(f"getelementptr {unit}, ptr {data}, i64 {offset.shared}")

    def addresses(self) -> Text:
        """The address of each lane."""
        offset = self.offset()
        base = self.base(offset)
        unit = f"[{self.type.dtype.itemsize} x i8]" if self.type.contiguous else "i8"
        own = offset.own or "zeroinitializer"
        return self.e.let(f"getelementptr {unit}, ptr {base}, <{self.count} x i64> {own}")

    # One masked access of neighbours

    def run(self) -> tuple[Text, Text, int]:
        """The lowest address of neighbours, their mask in the order of memory, and how many parts there are."""
        e, count = self.e, self.count
        at = self.base(self.offset())
        mask = self.mask
        if self.step < 0:
            at = e.let(f"getelementptr [{self.type.dtype.itemsize} x i8], ptr {at}, i64 {1 - count}")
            mask = shuffle(e, "i1", count, mask, "poison", range(count - 1, -1, -1))
        if self.parts == 2:
            mask = shuffle(e, "i1", count, mask, "poison", [lane // 2 for lane in range(2 * count)])
        return at, mask, count * self.parts

    def order(self, part: int) -> list[int]:
        """The places in memory of one part of each lane."""
        places = [lane * self.parts + part for lane in range(self.count)]
        return places[::-1] if self.step < 0 else places

    def load_run(self) -> list[Text]:
        e = self.e
        at, mask, total = self.run()
        wide = f"<{total} x {self.item}>"
        name = f"@llvm.masked.load.v{total}{_suffix(self.item)}.p0"
        value = e.let(
            f"call {wide} {name}(ptr align {self.part.itemsize} {at}, <{total} x i1> {mask}, {wide} zeroinitializer), "
            f"{self.note}"
        )
        if self.parts == 1 and self.step > 0:
            return [value]
        return [shuffle(e, self.item, total, value, "poison", self.order(part)) for part in range(self.parts)]

    def store_run(self, values: list[Text]) -> None:
        e, count = self.e, self.count
        at, mask, total = self.run()
        value = values[0]
        if self.parts == 2:
            places = [lane + count * part for lane in range(count) for part in range(2)]
            if self.step < 0:
                places = [lane + count * part for lane in range(count - 1, -1, -1) for part in range(2)]
            value = shuffle(e, self.item, count, values[0], values[1], places)
        elif self.step < 0:
            value = shuffle(e, self.item, count, value, "poison", range(count - 1, -1, -1))
        name = f"@llvm.masked.store.v{total}{_suffix(self.item)}.p0"
        wide = f"<{total} x {self.item}>"
        align = self.part.itemsize
        e.line(f"call void {name}({wide} {value}, ptr align {align} {at}, <{total} x i1> {mask}), {self.note}")

    # An access a lane

    def each(self) -> list[Text]:
        """The addresses of each part."""
        e, addresses = self.e, self.addresses()
        if self.parts == 1:
            return [addresses]
        behind = f"getelementptr i8, <{self.count} x ptr> {addresses}, i64 {self.part.itemsize}"
        return [addresses, e.let(behind)]

    def gather(self) -> list[Text]:
        wide, pointers = f"<{self.count} x {self.item}>", f"<{self.count} x ptr>"
        name = f"@llvm.masked.gather.v{self.count}{_suffix(self.item)}.v{self.count}p0"
        return [
            self.e.let(
                f"call {wide} {name}({pointers} align {self.part.itemsize} {at}, <{self.count} x i1> {self.mask}, "
                f"{wide} zeroinitializer), {self.note}"
            )
            for at in self.each()
        ]

    def scatter(self, values: list[Text]) -> None:
        wide, pointers = f"<{self.count} x {self.item}>", f"<{self.count} x ptr>"
        name = f"@llvm.masked.scatter.v{self.count}{_suffix(self.item)}.v{self.count}p0"
        for value, at in zip(values, self.each()):
            self.e.line(
                f"call void {name}({wide} {value}, {pointers} align {self.part.itemsize} {at}, "
                f"<{self.count} x i1> {self.mask}), {self.note}"
            )


_SUFFIXES = {"half": "f16", "float": "f32", "double": "f64"}


def _suffix(item: str) -> str:
    return _SUFFIXES.get(item, item)


def _load(e: FunctionEmitter, op: Op) -> None:
    access = _Access(e, op, 0)
    values = access.load_run() if access.neighbours else access.gather()
    if access.type.dtype.is_bool:
        values = [e.let(f"icmp ne <{access.count} x i8> {value}, zeroinitializer") for value in values]
    e.parts[op.results[0]] = tuple(values)


def _store(e: FunctionEmitter, op: Op) -> None:
    access = _Access(e, op, 1)
    values = list(e.get(op.operands[0]))
    if access.type.dtype.is_bool:
        values = [e.let(f"zext <{access.count} x i1> {value} to <{access.count} x i8>") for value in values]
    if access.neighbours:
        access.store_run(values)
    else:
        access.scatter(values)


EMITTERS: dict[str, Emitter] = {
    "lanes.splat": _splat,
    "lanes.index": _index,
    "lanes.any": _test("or"),
    "lanes.all": _test("and"),
    "lanes.reduce": _reduce,
    "lanes.extract": _extract,
    "lanes.pick": _pick,
    "lanes.load": _load,
    "lanes.store": _store,
    "lanes.gather": _load,
    "lanes.scatter": _store,
}
