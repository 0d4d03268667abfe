"""Guards and unboxing: from a Python object to the machine components of a value.

Takes objects (SSA names) and the types that they must have; writes the tests, which leave to the miss block, and the loads
straight from the objects' structs. Nothing here changes a reference count: arguments are borrowed for the call.

Each rule is a generator that yields where what follows is only safe once its tests so far hold. All arguments advance together,
and the tests of a step are one branch: few blocks compile in half the time of many.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable

from quadrants.diagnostics import Code, InternalError
from quadrants.host import layout
from quadrants.host.numpy_types import numpy_scalar
from quadrants.host.spec import Slots
from quadrants.host.text import Text
from quadrants.lower.abi import components, scalar_text
from quadrants.types import (
    ArrayType,
    Kind,
    LiteralType,
    NamedTupleType,
    NoneType,
    OptionalType,
    Scalar,
    SliceType,
    StrType,
    TupleType,
    Type,
)

#: A rule under way; it ends with the components.
Steps = Generator[None, None, list[str]]


class Unboxer:
    """Unboxes the arguments of one entry.

    Args:
        text: where to write.
        slots: the layout of the object table.
        objects: the symbol of the object table.
        exact: see `EntrySpec`.

    `arrays` collects the ndarrays met (null: none there).
    """

    def __init__(self, text: Text, slots: Slots, objects: str, exact: bool) -> None:
        self.text = text
        self.slots = slots
        self.objects = objects
        self.exact = exact
        self.arrays: list[str] = []
        self._pending: list[str] = []

    def unbox(self, values: Iterable[tuple[Type, str]]) -> list[str]:
        """The components of the leaves of several values, in order."""
        steps = self._together(values)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                self.flush()
                found: list[str] = end.value
                return found
            self.flush()

    def _together(self, values: Iterable[tuple[Type, str]]) -> Steps:
        """All values, step by step at the same time."""
        running = [self._rule(type, obj) for type, obj in values]
        found: list[list[str]] = [[] for _ in running]
        active = list(range(len(running)))
        while active:
            for index in tuple(active):
                try:
                    next(running[index])
                except StopIteration as end:
                    found[index] = end.value
                    active.remove(index)
            if active:
                yield
        return [part for parts in found for part in parts]

    def _rule(self, type: Type, obj: str) -> Steps:
        rule = _RULES.get(type.__class__)
        if rule is None:
            raise InternalError(Code.INTERNAL, f"an argument cannot have the type {type}")
        return rule(self, type, obj)

    def check(self, condition: str) -> None:
        """A test that must hold before the next step."""
        self._pending.append(condition)

    def flush(self) -> None:
        """Leave unless all tests so far hold."""
        if self._pending:
            condition = self._pending[0]
            for other in self._pending[1:]:
                condition = self.text.let(f"and i1 {condition}, {other}")
            self._pending.clear()
            self.text.guard(condition)

    def slot(self, index: int) -> str:
        """An element of the object table."""
        return self.text.load("ptr", self.objects, 8 * index)

    def type_is(self, obj: str, *symbols: str) -> None:
        """Test: the exact type of the object is one of those."""
        found = self.text.load("ptr", obj, layout.OBJECT_TYPE)
        self.check(self.text.either([self.text.equal("ptr", found, self.text.data(symbol)) for symbol in symbols]))

    # Scalars

    def scalar(self, type: Scalar, obj: str) -> Steps:
        if type.is_bool:
            names = ("_Py_TrueStruct", "_Py_FalseStruct") if type.weak else ("qd_np_true", "qd_np_false")
            yes, no = (self.text.equal("ptr", obj, self.text.data(name)) for name in names)
            self.check(self.text.let(f"or i1 {yes}, {no}"))
            return [yes]
        self.type_is(obj, *((_WEAK_TYPES[type.kind],) if type.weak else numpy_scalar(type).symbols))
        yield
        if type.weak and type.kind is Kind.INT:
            return [self.integer(obj)]
        part = type.machine.part
        step = part.itemsize
        count = 2 if type.is_complex else 1
        return [self.text.load(scalar_text(part), obj, layout.SCALAR_VALUE + step * i) for i in range(count)]

    def integer(self, obj: str) -> str:
        """The value of a Python int, if it fits 64 bits; one digit is read in place."""
        text = self.text
        tag = text.load("i64", obj, layout.LONG_TAG)
        small, big, join = text.fresh("small"), text.fresh("big"), text.fresh("int")
        if layout.LONG_HAS_TAG:
            compact = text.let(f"icmp ult i64 {tag}, 16")
        else:
            shifted = text.let(f"add i64 {tag}, 1")
            compact = text.let(f"icmp ult i64 {shifted}, 3")
        text.branch(compact, small, big)
        text.begin(small)
        digit = text.let(f"zext i32 {text.load('i32', obj, layout.LONG_DIGIT)} to i64")
        sign = tag
        if layout.LONG_HAS_TAG:
            bits = text.let(f"and i64 {tag}, 3")
            sign = text.let(f"sub i64 1, {bits}")
        read = text.let(f"mul i64 {sign}, {digit}")
        text.jump(join)
        text.begin(big)
        overflow = text.alloca("i32")
        converted = text.call("i64", "PyLong_AsLongLongAndOverflow", ("ptr", obj), ("ptr", overflow))
        fits = text.equal("i32", text.load("i32", overflow), 0)
        text.guard(fits)
        last = text.block
        text.jump(join)
        text.begin(join)
        return text.let(f"phi i64 [{read}, %{small}], [{converted}, %{last}]")

    # Arrays

    def array(self, type: ArrayType, obj: str) -> Steps:
        text = self.text
        self.type_is(obj, "qd_ndarray")
        yield
        self._dtype_is(type.dtype, text.load("ptr", obj, layout.ARRAY_DESCR))
        self.check(text.equal("i32", text.load("i32", obj, layout.ARRAY_NDIM), type.ndim))
        mask, wanted = self._flags(type)
        flags = text.load("i32", obj, layout.ARRAY_FLAGS)
        self.check(text.equal("i32", text.let(f"and i32 {flags}, {mask}"), wanted))
        yield
        data = text.load("ptr", obj, layout.ARRAY_DATA)
        owner = text.at(obj, 1)
        self.arrays.append(obj)
        if type.ndim == 0:
            return [data, owner]
        dims = text.load("ptr", obj, layout.ARRAY_DIMS)
        strides = text.load("ptr", obj, layout.ARRAY_STRIDES)
        lengths = [text.load("i64", dims, 8 * axis) for axis in range(type.ndim)]
        return [data, owner, *lengths, *(text.load("i64", strides, 8 * axis) for axis in range(type.ndim))]

    def _dtype_is(self, dtype: Scalar, descr: str) -> None:
        """Test: the type number is one of the scalar's; the byte order, three bytes before it, is native."""
        text = self.text
        word = text.load("i64", descr, layout.DESCR_TYPE_NUM - 4)
        order = layout.NATIVE << _ORDER_SHIFT if dtype.itemsize > 1 else 0
        mask = 0xFF << _ORDER_SHIFT if dtype.itemsize > 1 else 0
        known = text.let(f"and i64 {word}, {_signed(0xFFFFFFFF << 32 | mask)}")
        self.check(text.either([text.equal("i64", known, n << 32 | order) for n in numpy_scalar(dtype).numbers]))

    def _flags(self, type: ArrayType) -> tuple[int, int]:
        """(mask, value) of the flags of the arrays that fit."""
        mask = wanted = layout.FLAG_ALIGNED
        if self.exact or not type.readonly:
            mask |= layout.FLAG_WRITEABLE
            wanted |= 0 if type.readonly else layout.FLAG_WRITEABLE
        if type.layout == "C":
            return mask | layout.FLAG_C, wanted | layout.FLAG_C
        if type.layout == "F":
            # A array that is both counts as C.
            return mask | layout.FLAG_F | (layout.FLAG_C if self.exact else 0), wanted | layout.FLAG_F
        return (mask | layout.FLAG_C | layout.FLAG_F if self.exact else mask), wanted

    # Compound types

    def plain_tuple(self, type: TupleType, obj: str) -> Steps:
        self.type_is(obj, "PyTuple_Type")
        return (yield from self._items(type.items, obj))

    def named_tuple(self, type: NamedTupleType, obj: str) -> Steps:
        found = self.text.load("ptr", obj, layout.OBJECT_TYPE)
        self.check(self.text.equal("ptr", found, self.slot(self.slots.constant(type.cls))))
        return (yield from self._items(type.items, obj))

    def _items(self, types: tuple[Type, ...], obj: str) -> Steps:
        text = self.text
        yield
        self.check(text.equal("i64", text.load("i64", obj, layout.TUPLE_SIZE), len(types)))
        yield
        items = [text.load("ptr", obj, layout.TUPLE_ITEMS + 8 * i) for i in range(len(types))]
        return (yield from self._together(zip(types, items, strict=True)))

    def optional(self, type: OptionalType, obj: str) -> Steps:
        text = self.text
        yield
        none, some, join = text.fresh("none"), text.fresh("some"), text.fresh("optional")
        absent = text.equal("ptr", obj, text.data("_Py_NoneStruct"))
        self.flush()  # from here on, tests belong to one branch
        text.branch(absent, none, some)
        text.begin(some)
        before = len(self.arrays)
        parts = self.unbox([(type.item, obj)])
        last = text.block
        text.jump(join)
        text.begin(none)
        text.jump(join)
        text.begin(join)
        kinds = [kind for leaf in type.item.leaves() for kind in components(leaf)]
        values = [
            text.let(f"phi {kind} [{part}, %{last}], [{zero(kind)}, %{none}]")
            for kind, part in zip(kinds, parts, strict=True)
        ]
        inner = self.arrays[before:]
        self.arrays[before:] = [text.let(f"phi ptr [{array}, %{last}], [null, %{none}]") for array in inner]
        present = text.let(f"phi i1 [true, %{last}], [false, %{none}]")
        return [present, *values]

    def none(self, type: NoneType, obj: str) -> Steps:
        self.check(self.text.equal("ptr", obj, self.text.data("_Py_NoneStruct")))
        return []
        yield

    def string(self, type: StrType, obj: str) -> Steps:
        self.type_is(obj, "PyUnicode_Type")
        return [obj]
        yield

    def slice(self, type: SliceType, obj: str) -> Steps:
        self.type_is(obj, "PySlice_Type")
        yield
        fields = [self.text.load("ptr", obj, offset) for offset in layout.SLICE_FIELDS]
        return (yield from self._together(zip((type.start, type.stop, type.step), fields, strict=True)))

    def literal(self, type: LiteralType, obj: str) -> Steps:
        """The very object; an int or a str also by value."""
        text = self.text
        wanted = self.slot(self.slots.constant(type.value))
        same = text.equal("ptr", obj, wanted)
        if type.value.__class__ not in (int, str):
            self.check(same)
            return []
        yield
        other, join = text.fresh("other"), text.fresh("literal")
        self.flush()
        text.branch(same, join, other)
        text.begin(other)
        self.type_is(obj, "PyLong_Type" if type.value.__class__ is int else "PyUnicode_Type")
        self.flush()
        equal = text.call("i32", "PyObject_RichCompareBool", ("ptr", obj), ("ptr", wanted), ("i32", str(_PY_EQ)))
        text.guard(text.equal("i32", equal, 1))
        text.jump(join)
        text.begin(join)
        return []


def _signed(word: int) -> int:
    """A 64-bit word as LLVM writes it."""
    return word - (1 << 64) if word >> 63 else word


def zero(kind: str) -> str:
    """The zero of an LLVM type."""
    if kind == "ptr":
        return "null"
    return "0.0" if kind in ("half", "float", "double") else "false" if kind == "i1" else "0"


_PY_EQ = 2  # Py_EQ
_WEAK_TYPES = {Kind.INT: "PyLong_Type", Kind.FLOAT: "PyFloat_Type", Kind.COMPLEX: "PyComplex_Type"}

_ORDER_SHIFT = 8 * (layout.DESCR_BYTEORDER - (layout.DESCR_TYPE_NUM - 4))

_Rule = Callable[[Unboxer, Type, str], Steps]

_RULES: dict[type, _Rule] = {
    Scalar: Unboxer.scalar,  # type: ignore[dict-item]
    ArrayType: Unboxer.array,  # type: ignore[dict-item]
    TupleType: Unboxer.plain_tuple,  # type: ignore[dict-item]
    NamedTupleType: Unboxer.named_tuple,  # type: ignore[dict-item]
    OptionalType: Unboxer.optional,  # type: ignore[dict-item]
    NoneType: Unboxer.none,  # type: ignore[dict-item]
    StrType: Unboxer.string,  # type: ignore[dict-item]
    SliceType: Unboxer.slice,  # type: ignore[dict-item]
    LiteralType: Unboxer.literal,  # type: ignore[dict-item]
}

__all__ = ["Unboxer", "zero"]
