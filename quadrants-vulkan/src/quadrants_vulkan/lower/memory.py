"""Arrays: their parts, the place of an element, views; and arrays of a block or of a thread."""

from __future__ import annotations

import math
from collections.abc import Sequence

from quadrants.ir.core import Op, Value
from quadrants.types import I64, PYINT, ArrayType, FormatHole, FormatType, LiteralType, Scalar, TupleType, Type
from quadrants_vulkan.lower import cells, errors
from quadrants_vulkan.lower.cells import Spot
from quadrants_vulkan.lower.emit import Emitter, FunctionEmitter, Parts, array_type
from quadrants_vulkan.lower.parts import WIDTH, Part, Place, local_part, shared_part
from quadrants_vulkan.spirv.assembler import Id
from quadrants_vulkan.spirv.grammar import Op as Code
from quadrants_vulkan.spirv.grammar import StorageClass

INDEX_ERROR = "builtins:IndexError"


def dims(parts: Parts, type: ArrayType) -> Parts:
    return parts[1 : 1 + type.ndim]


def strides(e: FunctionEmitter, parts: Parts, type: ArrayType) -> Parts:
    """The strides in bytes, as longs."""
    if not type.contiguous:
        return parts[1 + type.ndim :]
    steps: list[Id] = [0] * type.ndim
    step = e.longs.const(type.dtype.itemsize)
    sizes = dims(parts, type)
    for axis in _from_inner(type):
        steps[axis] = step
        step = e.longs.mul(step, sizes[axis])
    return tuple(steps)


def _from_inner(type: ArrayType) -> Sequence[int]:
    """The axes, that with the smallest stride first."""
    return range(type.ndim) if type.layout == "F" else range(type.ndim - 1, -1, -1)


def _dim(e: FunctionEmitter, op: Op) -> None:
    e.set(op, dims(e.get(op.operands[0]), array_type(op.operands[0]))[int(op.attr("axis"))])


def _stride(e: FunctionEmitter, op: Op) -> None:
    e.set(op, strides(e, e.get(op.operands[0]), array_type(op.operands[0]))[int(op.attr("axis"))])


# Indices


def _message(axis: int, of_tuple: bool) -> TupleType:
    """The arguments of the IndexError: leaves are the index and the size, or none."""
    if of_tuple:
        return TupleType((LiteralType("tuple index out of range"),))
    middle = f" is out of bounds for axis {axis} with size "
    return TupleType((FormatType(("index ", FormatHole(PYINT), middle, FormatHole(PYINT))),))


def checked(e: FunctionEmitter, op: Op, indices: Sequence[Value], sizes: Sequence[Id]) -> list[Id]:
    """The positions of the indices of a load, a store or an `index`, checked and wrapped as its attributes say."""
    places = []
    first = int(op.attr("axis")) if op.name == "index" else 0
    of_tuple = op.name == "index" and bool(op.attr("tuple"))
    for axis, (value, size) in enumerate(zip(indices, sizes), first):
        index = place = e.one(value)
        known = e.constants.get(value)
        if op.attr("wrap") and not (isinstance(known, int) and known >= 0):
            negative = e.longs.compare("lt", True, index, e.longs.const(0))
            place = e.select(negative, Part.LONG, e.longs.add(index, size), index)
        if op.attr("checked"):
            fits = e.longs.compare("lt", False, place, size)
            payload: list[tuple[Scalar, Parts]] = [] if of_tuple else [(I64, (index,)), (I64, (size,))]
            errors.check(e, op, fits, INDEX_ERROR, _message(axis, of_tuple), payload)
        places.append(place)
    return places


def _index(e: FunctionEmitter, op: Op) -> None:
    index, size = op.operands
    (place,) = checked(e, op, [index], [e.one(size)])
    e.set(op, place)


# Elements


def offset_of(e: FunctionEmitter, array: Value, places: Sequence[Id]) -> Id:
    """The distance in bytes of an element from the base: a word where `cells.in_words`, else a long."""
    type, parts = array_type(array), e.get(array)
    words = cells.in_words(e, array)

    def narrow(longs: Sequence[Id]) -> list[Id]:
        return [e.longs.low(long) for long in longs] if words else list(longs)

    def add(a: Id, b: Id) -> Id:
        return e.w(Code.I_ADD, a, b) if words else e.longs.add(a, b)

    def mul(a: Id, b: Id) -> Id:
        return e.w(Code.I_MUL, a, b) if words else e.longs.mul(a, b)

    item = type.dtype.itemsize
    size = e.word(item) if words else e.longs.const(item)
    if not type.ndim:
        return e.word(0) if words else e.longs.const(0)
    at = narrow(places)
    if type.contiguous:
        order = list(_from_inner(type))[::-1]
        position = at[order[0]]
        sizes = dims(parts, type)
        for axis in order[1:]:
            position = add(mul(position, narrow([sizes[axis]])[0]), at[axis])
        return mul(position, size) if item > 1 else position
    terms = [mul(index, step) for index, step in zip(at, narrow(strides(e, parts, type)))]
    total = terms[0]
    for term in terms[1:]:
        total = add(total, term)
    return total


def spot_of(e: FunctionEmitter, op: Op, first: int) -> tuple[Spot, ArrayType]:
    """The place of the element that an op names: the array is its operand `first`, the indices follow."""
    array = op.operands[first]
    type = array_type(array)
    places = checked(e, op, op.operands[first + 1 :], dims(e.get(array), type))
    return spot_at(e, array, offset_of(e, array, places)), type


def spot_at(e: FunctionEmitter, array: Value, offset: Id) -> Spot:
    """The place at an offset from the base of an array."""
    base, place = e.get(array)[0], e.place_of(array)
    if place is not None:
        return Spot(e.w(Code.I_ADD, e.longs.low(base), offset), place)
    if array_type(array).space != "global":
        e.module.refuse(
            e.function, None, "an array of a block or of a thread whose place is not known", "make it first"
        )
    return Spot(cells.address_of(e, base, offset))


def _load(e: FunctionEmitter, op: Op) -> None:
    spot, type = spot_of(e, op, 0)
    e.set(op, *cells.load(e, spot, type.dtype))


def _store(e: FunctionEmitter, op: Op) -> None:
    spot, type = spot_of(e, op, 1)
    cells.store(e, spot, type.dtype, e.get(op.operands[0]))


# Views


def _view(e: FunctionEmitter, op: Op) -> None:
    source, target = array_type(op.operands[0]), array_type(op.result)
    base, offset = e.get(op.operands[0])[0], e.one(op.operands[1])
    place = e.place_of(op.operands[0])
    if place is not None:
        if not place.words and source.dtype != target.dtype:
            what = f"a view of {source.space} memory of {source.dtype} as {target.dtype}"
            e.module.refuse(e.function, op, what, "make an array of that type")
        e.places[op.result] = place
    start = e.longs.add(base, offset)
    shape = e.all(op.operands[2 : 2 + target.ndim])
    steps = () if target.contiguous else e.all(op.operands[2 + target.ndim :])
    e.set(op, start, *shape, *steps)


def _same(e: FunctionEmitter, op: Op) -> None:
    a, b = op.operands
    first, second = array_type(a), array_type(b)
    if (first.ndim, first.dtype, first.space) != (second.ndim, second.dtype, second.space) or e.place_of(
        a
    ) != e.place_of(b):
        e.set(op, e.truth(False))
        return
    pairs = [*zip(dims(e.get(a), first), dims(e.get(b), second))]
    pairs += zip(strides(e, e.get(a), first), strides(e, e.get(b), second))
    answer = e.longs.compare("eq", False, e.get(a)[0], e.get(b)[0])
    for x, y in pairs:
        answer = e.test(Code.LOGICAL_AND, answer, e.longs.compare("eq", False, x, y))
    e.set(op, answer)


def _overlap(e: FunctionEmitter, op: Op) -> None:
    a, b = op.operands
    if e.place_of(a) != e.place_of(b):
        e.set(op, e.truth(False))
        return
    (low_a, high_a, some_a), (low_b, high_b, some_b) = (_extent(e, value) for value in (a, b))
    meet = e.test(
        Code.LOGICAL_AND, e.longs.compare("lt", False, low_a, high_b), e.longs.compare("lt", False, low_b, high_a)
    )
    e.set(op, e.test(Code.LOGICAL_AND, meet, e.test(Code.LOGICAL_AND, some_a, some_b)))


def _extent(e: FunctionEmitter, array: Value) -> tuple[Id, Id, Id]:
    """The first address, the one behind the last, and whether there is any element."""
    type, parts, longs = array_type(array), e.get(array), e.longs
    low, high, some = parts[0], longs.add(parts[0], longs.const(type.dtype.itemsize)), e.truth(True)
    for size, step in zip(dims(parts, type), strides(e, parts, type)):
        reach = longs.mul(longs.sub(size, longs.const(1)), step)
        down = longs.compare("lt", True, reach, longs.const(0))
        low = longs.add(low, e.select(down, Part.LONG, reach, longs.const(0)))
        high = longs.add(high, e.select(down, Part.LONG, longs.const(0), reach))
        some = e.test(Code.LOGICAL_AND, some, longs.compare("gt", True, size, longs.const(0)))
    return low, high, some


# Arrays of a block and of a thread


def _items(dtype: Scalar) -> int:
    return 2 if dtype.is_complex else 1


def _shape(e: FunctionEmitter, op: Op) -> tuple[int, ...]:
    """The constant sizes of an array of a block or of a thread."""
    if op.name == "alloc":
        return tuple(e.module.integers(e.function)[size] for size in op.operands)
    shape = op.attrs["shape"]
    assert isinstance(shape, tuple)
    return shape


def local_variables(e: FunctionEmitter) -> None:
    """The variables for a thread's own arrays: one for each, which drivers can keep in registers; one for all of the
    same kind where the function chooses between arrays."""
    made = [op for op in e.function.body.walk() if op.name == "local.array" or op.name == "alloc" and op.attr("stack")]
    together = any(_is_local(value) for op in e.function.body.walk() for value in _chosen(op))
    counts: dict[Part, int] = {}
    starts: dict[int, tuple[Part, int]] = {}
    for op in made:
        part = local_part(array_type(op.result).dtype)
        starts[id(op)] = (part, counts.get(part, 0))
        counts[part] = counts.get(part, 0) + _length(e, op)
    common = {part: _local_place(e, part, count) for part, count in counts.items()} if together else {}
    for op in made:
        part, start = starts[id(op)]
        e.local_arrays[id(op)] = (common[part], start) if together else (_local_place(e, part, _length(e, op)), 0)


def _is_local(value: Value) -> bool:
    return isinstance(value.type, ArrayType) and value.type.space == "local"


def _chosen(op: Op) -> Sequence[Value]:
    """The values that come from one of several places."""
    return [*op.results, *(arg for region in op.regions for arg in region.args)] if op.regions else []


def _local_place(e: FunctionEmitter, part: Part, count: int) -> Place:
    item = e.asm.array(e.type(part), e.word(count))
    return Place(e.local(item), part, local=True, pointer=e.asm.pointer(StorageClass.FUNCTION, item))


def _local_array(e: FunctionEmitter, op: Op) -> None:
    if not e.local_arrays:
        local_variables(e)
    _place_array(e, op, *e.local_arrays[id(op)])


def _alloc(e: FunctionEmitter, op: Op) -> None:
    """A small array of the thread; there is no heap for others."""
    if not op.attr("stack"):
        e.module.refuse(e.function, op, "alloc: a device has no heap", _HEAP)
    _local_array(e, op)
    if op.attr("zero"):
        place, start = e.local_arrays[id(op)]
        nothing = e.asm.null(e.type(place.part))
        for index in range(start, start + _length(e, op)):
            cells.variable_cell(e, place, e.word(index)).store(e, nothing)


_HEAP = "make the array before the launch, give it a small constant size, or use local.array or shared.array"


def _place_array(e: FunctionEmitter, op: Op, place: Place, start: int) -> None:
    """The array from an element of a variable on; its base is in bytes, as if elements had their size in memory."""
    e.places[op.result] = place
    e.set(op, e.longs.const(start * array_type(op.result).dtype.part.itemsize), *map(e.longs.const, _shape(e, op)))


def _length(e: FunctionEmitter, op: Op) -> int:
    return math.prod(_shape(e, op)) * _items(array_type(op.result).dtype)


def _shared_array(e: FunctionEmitter, op: Op) -> None:
    shared = e.module.shared
    if not shared.places:
        _shared_variables(e, op)
    _place_array(e, op, *shared.places[id(op)])


def _shared_variables(e: FunctionEmitter, op: Op) -> None:
    """One variable for all arrays of a block with the same elements, so that a kernel may choose between them."""
    shared = e.module.shared
    functions = e.module.module.functions.values()
    counts: dict[Part, int] = {}
    for made in (made for f in functions for made in f.body.walk() if made.name == "shared.array"):
        part = shared_part(array_type(made.result).dtype)
        shared.starts[id(made)] = (part, counts.get(part, 0))
        counts[part] = counts.get(part, 0) + _length(e, made)
    shared.nbytes = sum(WIDTH[part] * count for part, count in counts.items())
    most = e.module.profile.limit("shared_bytes")
    if shared.nbytes > most:
        what = f"a block with {shared.nbytes} bytes of shared memory: it has {most}"
        e.module.refuse(e.function, op, what, "use smaller arrays or narrower types")
    places = {
        part: Place(e.asm.variable(StorageClass.WORKGROUP, e.asm.array(e.type(part), e.word(count))), part)
        for part, count in counts.items()
    }
    shared.places = {key: (places[part], start) for key, (part, start) in shared.starts.items()}


#: Names the length of the dynamic buffer among the numbers that a pipeline is made with, behind the block's shape.
DYNAMIC_LENGTH = 3


def _shared_dynamic(e: FunctionEmitter, op: Op) -> None:
    """One variable for all of them: with elements of their type if they agree on one, else a row of words."""
    type, shared = array_type(op.result), e.module.shared
    if shared.dynamic is None:
        types = _dynamic_types(e)
        alone = len(types) == 1 and not type.dtype.is_complex and type.dtype.itemsize >= 4
        part = shared_part(type.dtype) if alone else Part.WORD
        length = e.asm.specialised(DYNAMIC_LENGTH, 1)
        variable = e.asm.variable(StorageClass.WORKGROUP, e.asm.array(e.type(part), length))
        shared.dynamic = Place(variable, part, words=not alone)
        shared.dynamic_item, shared.dynamic_length = WIDTH[part], length
    e.places[op.result] = shared.dynamic
    held = e.asm.specialised(DYNAMIC_LENGTH, 1)
    total = e.w(Code.I_MUL, held, e.word(shared.dynamic_item))
    count = e.w(Code.U_DIV, total, e.word(type.dtype.itemsize))
    e.set(op, e.longs.const(0), e.longs.extend(count, signed=False))


def _dynamic_types(e: FunctionEmitter) -> set[Type]:
    functions = e.module.module.functions.values()
    return {op.result.type for f in functions for op in f.body.walk() if op.name == "shared.dynamic"}


EMITTERS: dict[str, Emitter] = {
    "dim": _dim,
    "stride": _stride,
    "index": _index,
    "load": _load,
    "store": _store,
    "view": _view,
    "same": _same,
    "overlap": _overlap,
    "alloc": _alloc,
    "local.array": _local_array,
    "shared.array": _shared_array,
    "shared.dynamic": _shared_dynamic,
}
