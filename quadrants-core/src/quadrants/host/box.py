"""Boxing: from the machine components of a result to a Python object.

Takes where the kernel stored the components; writes the calls that make the object. On every failure path nothing leaks: array
memory that has no object yet is released through its owner slot, objects that are not part of another yet through their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from quadrants.host import layout
from quadrants.host.numpy_types import numpy_scalar
from quadrants.host.spec import Slots
from quadrants.host.text import Text
from quadrants.lower.abi import components, memory_text
from quadrants.types import (
    ArrayType,
    CellsType,
    Kind,
    LiteralType,
    NamedTupleType,
    NoneType,
    ObjectType,
    OptionalType,
    Scalar,
    StrType,
    TupleType,
    Type,
    UnionType,
)
from quadrants.types.dtypes import dtype_of

#: A number that the handler gets from here on asks for a part of the result; below, it is the site of a call into Python.
FIRST_BOX = 1 << 32


class Results:
    """The memory that a kernel stores its results in.

    Args:
        text: where to write.
        type: the type of the result.
    """

    def __init__(self, text: Text, type: Type) -> None:
        self.pointers: list[str] = []
        self.owners: list[str] = []
        self.lists: list[str] = []
        for leaf in type.leaves():
            if isinstance(leaf, ArrayType):
                self._add_array(text, leaf)
            elif isinstance(leaf, CellsType):
                self.lists.append(text.alloca("ptr"))
                self.pointers.append(self.lists[-1])
            else:
                part = memory_text(leaf.machine.part) if isinstance(leaf, Scalar) else ""
                self.pointers += [text.alloca(part or kind) for kind in components(leaf)]

    def _add_array(self, text: Text, type: ArrayType) -> None:
        """Dims and strides lie one after the other, as NumPy takes them."""
        data, owner = text.alloca("ptr"), text.alloca("ptr")
        self.owners.append(owner)
        self.pointers += [data, owner]
        if type.ndim:
            numbers = text.alloca(f"[{2 * type.ndim} x i64]")
            self.pointers += [text.at(numbers, 8 * i) for i in range(2 * type.ndim)]


class Boxer:
    """Boxes the result of one entry.

    Args:
        text: where to write.
        slots: the layout of the object table.
        objects: the symbol of the object table.
        results: where the components are.
        fail: the label of the failure block, which `finish` writes.
    """

    def __init__(self, text: Text, slots: Slots, objects: str, results: Results, fail: str = "box.failed") -> None:
        self.text = text
        self.slots = slots
        self.objects = objects
        self.results = results
        self.fail = fail
        self._pointers: Iterator[str] = iter(results.pointers)
        self._partial: list[str] = []
        self._slow_count = 0
        self._can_fail = False
        self._may_lack_memory = False

    def box(self, type: Type) -> str:
        """A new reference to the object of the next value among the results."""
        return _RULES.get(type.__class__, Boxer.slow)(self, type)

    def finish(self, leave: Callable[[], None]) -> None:
        """Write the failure block; `leave` writes how it ends."""
        if not self._can_fail:
            return
        if self._may_lack_memory:
            self.text.begin(_NO_MEMORY)
            self.text.call("ptr", "PyErr_NoMemory")
            self.text.jump(self.fail)
        self.text.begin(self.fail)
        for owner in self.results.owners:
            self.text.call("void", "qd_release_owner", ("ptr", self.text.load("ptr", owner)))
        self.release_lists()
        for partial in self._partial:
            self.text.call("void", "Py_DecRef", ("ptr", self.text.load("ptr", partial)))
        leave()

    def release_lists(self) -> None:
        """Give up the memory of the lists among the results, of which Python gets copies."""
        for place in self.results.lists:
            self.text.call("void", "qd_list_release", ("ptr", self.text.load("ptr", place)))

    def checked(self, obj: str) -> str:
        """The object, if there is one; else fail."""
        self._can_fail = True
        self.text.require(self.text.let(f"icmp ne ptr {obj}, null"), self.fail)
        return obj

    def _next(self, kind: str) -> str:
        """The value of the next component."""
        return self.text.load(kind, next(self._pointers))

    def shared(self, obj: str, immortal: bool) -> str:
        """A new reference to an object that exists."""
        if not (immortal and layout.HAS_IMMORTALS):
            self.text.call("void", "Py_IncRef", ("ptr", obj))
        return obj

    # Scalars

    def scalar(self, type: Scalar) -> str:
        if type.is_bool:
            names = ("_Py_TrueStruct", "_Py_FalseStruct") if type.weak else ("qd_np_true", "qd_np_false")
            yes, no = map(self.text.data, names)
            flag = self.text.let(f"icmp ne i8 {self._next('i8')}, 0")
            return self.shared(self.text.let(f"select i1 {flag}, ptr {yes}, ptr {no}"), immortal=type.weak)
        kind = memory_text(type.machine.part)
        values = [(kind, self._next(kind)) for _ in range(2 if type.is_complex else 1)]
        if type.weak:
            return self.checked(self.text.call("ptr", _WEAK_MAKERS[type.kind], *values))
        obj = self._new_scalar(type)
        for i, (_, value) in enumerate(values):
            self.text.store(kind, value, obj, layout.SCALAR_VALUE + type.machine.part.itemsize * i)
        return obj

    def _new_scalar(self, type: Scalar) -> str:
        """A NumPy scalar without its value."""
        text = self.text
        symbol = text.data(numpy_scalar(type).symbols[0])
        if not layout.scalars_are_plain():
            allocate = text.load("ptr", symbol, layout.TYPE_ALLOC)
            return self.checked(text.let(f"call ptr {allocate}(ptr {symbol}, i64 0)"))
        self._can_fail = self._may_lack_memory = True
        obj = text.call("ptr", "PyObject_Malloc", ("i64", str(dtype_of(type).type.__basicsize__)))
        text.require(text.let(f"icmp ne ptr {obj}, null"), _NO_MEMORY)
        text.store("i64", "1", obj)
        text.store("ptr", symbol, obj, layout.OBJECT_TYPE)
        return obj

    # Arrays

    def array(self, type: ArrayType) -> str:
        text = self.text
        data_at, owner_at = next(self._pointers), next(self._pointers)
        numbers = [next(self._pointers) for _ in range(2 * type.ndim)]
        data, owner = text.load("ptr", data_at), text.load("ptr", owner_at)
        text.store("ptr", "null", owner_at)  # the call takes it over
        known = numpy_scalar(type.dtype).numbers
        obj = text.call(
            "ptr",
            "qd_box_array",
            ("ptr", data),
            ("ptr", owner),
            ("ptr", numbers[0] if numbers else "null"),
            ("ptr", numbers[type.ndim] if numbers else "null"),
            ("i32", str(type.ndim)),
            ("i32", str(known[0])),
            ("i32", str(known[-1])),
            ("i32", str(0 if type.readonly else layout.FLAG_WRITEABLE)),
        )
        return self.checked(obj)

    # Compound types

    def plain_tuple(self, type: TupleType) -> str:
        made, place = self._make_tuple(type.items)
        self.text.store("ptr", "null", place)
        return made

    def named_tuple(self, type: NamedTupleType) -> str:
        made, place = self._make_tuple(type.items)
        cls = self.text.load("ptr", self.objects, 8 * self.slots.constant(type.cls))
        obj = self.text.call("ptr", "PyObject_CallObject", ("ptr", cls), ("ptr", made))
        self.text.store("ptr", "null", place)
        self.text.call("void", "Py_DecRef", ("ptr", made))
        return self.checked(obj)

    def _make_tuple(self, items: tuple[Type, ...]) -> tuple[str, str]:
        """A plain tuple, and the slot that holds it until it is part of something else."""
        made = self.checked(self.text.call("ptr", "PyTuple_New", ("i64", str(len(items)))))
        place = self.text.alloca("ptr")
        self.text.allocas.append(
            f"  store ptr null, ptr {place}"
        )  # it may fail before, or on a way that leads elsewhere
        self._partial.append(place)
        self.text.store("ptr", made, place)
        for index, item in enumerate(items):
            self.text.store("ptr", self.box(item), made, layout.TUPLE_ITEMS + 8 * index)
        return made, place

    def optional(self, type: OptionalType) -> str:
        text = self.text
        some, none, join = text.fresh("some"), text.fresh("none"), text.fresh("optional")
        present = text.let(f"icmp ne i8 {self._next('i8')}, 0")
        text.branch(present, some, none)
        text.begin(some)
        obj = self.box(type.item)
        last = text.block
        text.jump(join)
        text.begin(none)
        nothing = self.none(NoneType())
        text.jump(join)
        text.begin(join)
        return text.let(f"phi ptr [{obj}, %{last}], [{nothing}, %{none}]")

    def union(self, type: UnionType) -> str:
        text = self.text
        chosen, join = self._next("i64"), text.fresh("union")
        edges = []
        for position, item in enumerate(type.items):
            rest = text.fresh("rest")
            if position < len(type.items) - 1:
                one = text.fresh("one")
                text.branch(text.equal("i64", chosen, position), one, rest)
                text.begin(one)
            obj = self.box(item)
            edges.append(f"[{obj}, %{text.block}]")
            text.jump(join)
            if position < len(type.items) - 1:
                text.begin(rest)
        text.begin(join)
        return text.let(f"phi ptr {', '.join(edges)}")

    def none(self, type: NoneType) -> str:
        return self.shared(self.text.data("_Py_NoneStruct"), immortal=True)

    def string(self, type: StrType | ObjectType) -> str:
        return self.shared(self._next("ptr"), immortal=False)

    def literal(self, type: LiteralType) -> str:
        return self.shared(self.text.load("ptr", self.objects, 8 * self.slots.constant(type.value)), immortal=False)

    def slow(self, type: Type) -> str:
        """Everything else is made by the handler from the components in a buffer (see `raising.Handler`)."""
        text = self.text
        leaves = type.leaves()
        kinds = [kind for leaf in leaves for kind in components(leaf)]
        buffer = text.alloca(f"[{max(len(kinds), 1)} x i64]")
        at = 0
        for leaf in leaves:
            for kind in components(leaf):
                text.store("i64", to_word(text, leaf, kind, self._next(_stored(kind))), buffer, 8 * at)
                at += 1
        number = FIRST_BOX + self._slow_count
        self._slow_count += 1
        handler = text.load("ptr", self.objects)
        return self.checked(text.call("ptr", "qd_box_slow", ("ptr", handler), ("i64", str(number)), ("ptr", buffer)))


def slow_types(type: Type) -> list[Type]:
    """The parts of a result that the handler makes, in the order of their numbers."""
    if isinstance(type, (TupleType, NamedTupleType, UnionType)):
        return [found for item in type.items for found in slow_types(item)]
    if isinstance(type, OptionalType):
        return slow_types(type.item)
    return [] if type.__class__ in _RULES else [type]


def _stored(kind: str) -> str:
    """The type in memory of a component."""
    return "i8" if kind == "i1" else kind


def to_word(text: Text, leaf: Type, kind: str, value: str) -> str:
    """A component in memory form as an i64, as in the payload of a record."""
    if kind == "ptr":
        return text.let(f"ptrtoint ptr {value} to i64")
    if kind in ("half", "float", "double"):
        wide = value if kind == "double" else text.let(f"fpext {kind} {value} to double")
        return text.let(f"bitcast double {wide} to i64")
    kind = _stored(kind)
    if kind == "i64":
        return value
    extend = "sext" if isinstance(leaf, Scalar) and leaf.is_signed else "zext"
    return text.let(f"{extend} {kind} {value} to i64")


def from_word(text: Text, kind: str, word: str) -> str:
    """A component in register form from an i64."""
    if kind == "ptr":
        return text.let(f"inttoptr i64 {word} to ptr")
    if kind in ("half", "float", "double"):
        wide = text.let(f"bitcast i64 {word} to double")
        return wide if kind == "double" else text.let(f"fptrunc double {wide} to {kind}")
    return word if kind == "i64" else text.let(f"trunc i64 {word} to {kind}")


_NO_MEMORY = "box.nomemory"
_WEAK_MAKERS = {
    Kind.INT: "PyLong_FromLongLong",
    Kind.FLOAT: "PyFloat_FromDouble",
    Kind.COMPLEX: "PyComplex_FromDoubles",
}

_Rule = Callable[[Boxer, Type], str]

_RULES: dict[type, _Rule] = {
    Scalar: Boxer.scalar,  # type: ignore[dict-item]
    ArrayType: Boxer.array,  # type: ignore[dict-item]
    TupleType: Boxer.plain_tuple,  # type: ignore[dict-item]
    NamedTupleType: Boxer.named_tuple,  # type: ignore[dict-item]
    OptionalType: Boxer.optional,  # type: ignore[dict-item]
    UnionType: Boxer.union,  # type: ignore[dict-item]
    NoneType: Boxer.none,  # type: ignore[dict-item]
    StrType: Boxer.string,  # type: ignore[dict-item]
    ObjectType: Boxer.string,  # type: ignore[dict-item]
    LiteralType: Boxer.literal,  # type: ignore[dict-item]
}

__all__ = ["FIRST_BOX", "Boxer", "Results", "from_word", "slow_types", "to_word"]
