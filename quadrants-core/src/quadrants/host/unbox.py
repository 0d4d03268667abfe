"""Guards and unboxing: from a Python object to the machine components of a value.

Takes an object (an SSA name) and the type that it must have; writes the tests, which leave to the miss block, and the loads
straight from the object's struct. Nothing here changes a reference count: arguments are borrowed for the call.
"""

from __future__ import annotations

from collections.abc import Callable

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

    def unbox(self, type: Type, obj: str) -> list[str]:
        """The components of the leaves of the value, in order."""
        rule = _RULES.get(type.__class__)
        if rule is None:
            raise InternalError(Code.INTERNAL, f"an argument cannot have the type {type}")
        return rule(self, type, obj)

    def slot(self, index: int) -> str:
        """An element of the object table."""
        return self.text.load("ptr", self.objects, 8 * index)

    def type_is(self, obj: str, *symbols: str) -> None:
        """Guard: the exact type of the object is one of those."""
        found = self.text.load("ptr", obj, layout.OBJECT_TYPE)
        self.text.guard(self.text.either([self.text.equal("ptr", found, self.text.data(symbol)) for symbol in symbols]))

    # Scalars

    def scalar(self, type: Scalar, obj: str) -> list[str]:
        if type.is_bool:
            names = ("_Py_TrueStruct", "_Py_FalseStruct") if type.weak else ("qd_np_true", "qd_np_false")
            yes, no = (self.text.equal("ptr", obj, self.text.data(name)) for name in names)
            self.text.guard(self.text.let(f"or i1 {yes}, {no}"))
            return [yes]
        if type.weak and type.kind is Kind.INT:
            return [self.integer(obj)]
        symbols = (_WEAK_TYPES[type.kind],) if type.weak else numpy_scalar(type).symbols
        self.type_is(obj, *symbols)
        part = type.machine.part
        step = part.itemsize
        count = 2 if type.is_complex else 1
        return [self.text.load(scalar_text(part), obj, layout.SCALAR_VALUE + step * i) for i in range(count)]

    def integer(self, obj: str) -> str:
        """A Python int that fits 64 bits; one digit is read in place."""
        text = self.text
        self.type_is(obj, "PyLong_Type")
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

    def array(self, type: ArrayType, obj: str) -> list[str]:
        text = self.text
        self.type_is(obj, "qd_ndarray")
        descr = text.load("ptr", obj, layout.ARRAY_DESCR)
        number = text.load("i32", descr, layout.DESCR_TYPE_NUM)
        text.guard(text.either([text.equal("i32", number, n) for n in numpy_scalar(type.dtype).numbers]))
        if type.dtype.itemsize > 1:
            order = text.load("i8", descr, layout.DESCR_BYTEORDER)
            text.guard(text.let(f"icmp ne i8 {order}, {layout.SWAPPED}"))
        text.guard(text.equal("i32", text.load("i32", obj, layout.ARRAY_NDIM), type.ndim))
        mask, wanted = self._flags(type)
        flags = text.load("i32", obj, layout.ARRAY_FLAGS)
        text.guard(text.equal("i32", text.let(f"and i32 {flags}, {mask}"), wanted))
        data = text.load("ptr", obj, layout.ARRAY_DATA)
        owner = text.at(obj, 1)
        self.arrays.append(obj)
        if type.ndim == 0:
            return [data, owner]
        dims = text.load("ptr", obj, layout.ARRAY_DIMS)
        strides = text.load("ptr", obj, layout.ARRAY_STRIDES)
        lengths = [text.load("i64", dims, 8 * axis) for axis in range(type.ndim)]
        return [data, owner, *lengths, *(text.load("i64", strides, 8 * axis) for axis in range(type.ndim))]

    def _flags(self, type: ArrayType) -> tuple[int, int]:
        """(mask, value) of the flags of the arrays that fit."""
        mask = wanted = layout.FLAG_ALIGNED
        if not type.readonly:
            mask, wanted = mask | layout.FLAG_WRITEABLE, wanted | layout.FLAG_WRITEABLE
        if type.layout == "C":
            return mask | layout.FLAG_C, wanted | layout.FLAG_C
        if type.layout == "F":
            # A array that is both counts as C.
            return mask | layout.FLAG_F | (layout.FLAG_C if self.exact else 0), wanted | layout.FLAG_F
        return (mask | layout.FLAG_C | layout.FLAG_F if self.exact else mask), wanted

    # Compound types

    def plain_tuple(self, type: TupleType, obj: str) -> list[str]:
        self.type_is(obj, "PyTuple_Type")
        return self._items(type.items, obj)

    def named_tuple(self, type: NamedTupleType, obj: str) -> list[str]:
        found = self.text.load("ptr", obj, layout.OBJECT_TYPE)
        self.text.guard(self.text.equal("ptr", found, self.slot(self.slots.constant(type.cls))))
        return self._items(type.items, obj)

    def _items(self, types: tuple[Type, ...], obj: str) -> list[str]:
        text = self.text
        text.guard(text.equal("i64", text.load("i64", obj, layout.TUPLE_SIZE), len(types)))
        items = [text.load("ptr", obj, layout.TUPLE_ITEMS + 8 * i) for i in range(len(types))]
        return [part for type, item in zip(types, items, strict=True) for part in self.unbox(type, item)]

    def optional(self, type: OptionalType, obj: str) -> list[str]:
        text = self.text
        none, some, join = text.fresh("none"), text.fresh("some"), text.fresh("optional")
        absent = text.equal("ptr", obj, text.data("_Py_NoneStruct"))
        text.branch(absent, none, some)
        text.begin(some)
        before = len(self.arrays)
        parts = self.unbox(type.item, obj)
        last = text.block
        text.jump(join)
        text.begin(none)
        text.jump(join)
        text.begin(join)
        kinds = [kind for leaf in type.item.leaves() for kind in components(leaf)]
        values = [
            text.let(f"phi {k} [{part}, %{last}], [{zero(k)}, %{none}]") for k, part in zip(kinds, parts, strict=True)
        ]
        inner = self.arrays[before:]
        self.arrays[before:] = [text.let(f"phi ptr [{array}, %{last}], [null, %{none}]") for array in inner]
        present = text.let(f"phi i1 [true, %{last}], [false, %{none}]")
        return [present, *values]

    def none(self, type: NoneType, obj: str) -> list[str]:
        self.text.guard(self.text.equal("ptr", obj, self.text.data("_Py_NoneStruct")))
        return []

    def string(self, type: StrType, obj: str) -> list[str]:
        self.type_is(obj, "PyUnicode_Type")
        return [obj]

    def slice(self, type: SliceType, obj: str) -> list[str]:
        self.type_is(obj, "PySlice_Type")
        fields = [self.text.load("ptr", obj, offset) for offset in layout.SLICE_FIELDS]
        types = (type.start, type.stop, type.step)
        return [part for item, field in zip(types, fields, strict=True) for part in self.unbox(item, field)]

    def literal(self, type: LiteralType, obj: str) -> list[str]:
        """The very object; an int or a str also by value."""
        text = self.text
        wanted = self.slot(self.slots.constant(type.value))
        same = text.equal("ptr", obj, wanted)
        if type.value.__class__ not in (int, str):
            text.guard(same)
            return []
        other, join = text.fresh("other"), text.fresh("literal")
        text.branch(same, join, other)
        text.begin(other)
        self.type_is(obj, "PyLong_Type" if type.value.__class__ is int else "PyUnicode_Type")
        same = text.call("i32", "PyObject_RichCompareBool", ("ptr", obj), ("ptr", wanted), ("i32", str(_PY_EQ)))
        text.guard(text.equal("i32", same, 1))
        text.jump(join)
        text.begin(join)
        return []


def zero(kind: str) -> str:
    """The zero of an LLVM type."""
    if kind == "ptr":
        return "null"
    return "0.0" if kind in ("half", "float", "double") else "false" if kind == "i1" else "0"


_PY_EQ = 2  # Py_EQ
_WEAK_TYPES = {Kind.INT: "PyLong_Type", Kind.FLOAT: "PyFloat_Type", Kind.COMPLEX: "PyComplex_Type"}

_Rule = Callable[[Unboxer, Type, str], list[str]]

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
