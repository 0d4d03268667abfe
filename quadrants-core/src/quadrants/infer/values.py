"""Abstract values: what the typed walk knows about a Python value.

Each has a `type` (hashable; what signatures and merges look at) and `leaves` (the SSA values that hold its run-time part).
Tuples, slices, ranges and functions exist only here: in QIR there are just their leaves.
"""

from __future__ import annotations

import types as pytypes
from collections.abc import Iterator, Sequence

from quadrants._frozen import frozen
from quadrants.ir import Value
from quadrants.types import (
    BOOL,
    EXC,
    I64,
    NONE,
    OBJECT,
    STR,
    ArrayType,
    ChoiceType,
    FormatHole,
    FormatType,
    ListType,
    LiteralType,
    NamedTupleType,
    NoneType,
    OptionalType,
    Scalar,
    SliceType,
    TupleType,
    Type,
)


class Abstract:
    """Base of the abstract values."""

    __slots__ = ()

    @property
    def type(self) -> Type:
        raise AssertionError("every abstract value has a type")

    @property
    def leaves(self) -> tuple[Value, ...]:
        return ()


@frozen(eq=False)
class Const(Abstract):
    """A value known at compile time: a number, a string, None, a class, a function, a module, a dtype, ..."""

    value: object

    @property
    def type(self) -> Type:
        return NONE if self.value is None else LiteralType(self.value)


@frozen(eq=False)
class Num(Abstract):
    """A number in a register; `scalar` may be weak."""

    scalar: Scalar
    value: Value

    @property
    def type(self) -> Scalar:
        return self.scalar

    @property
    def leaves(self) -> tuple[Value, ...]:
        return (self.value,)


@frozen(eq=False)
class Arr(Abstract):
    """An array. `origin` is set on views made by a subscript: the base and the index, to recognise `a[i] += x`."""

    array: ArrayType
    value: Value
    origin: object = None

    @property
    def type(self) -> ArrayType:
        return self.array

    @property
    def leaves(self) -> tuple[Value, ...]:
        return (self.value,)


@frozen(eq=False)
class Tup(Abstract):
    """A tuple, or a named tuple when `named` is its type. `origin` is set on vectors loaded from a tensor: the place."""

    items: tuple[Abstract, ...]
    named: tuple[tuple[str, ...], type] | None = None
    origin: object = None

    @property
    def type(self) -> Type:
        items = tuple(item.type for item in self.items)
        return TupleType(items) if self.named is None else NamedTupleType(items, *self.named)

    @property
    def leaves(self) -> tuple[Value, ...]:
        return tuple(leaf for item in self.items for leaf in item.leaves)


@frozen(eq=False)
class ListDisplay(Abstract):
    """A list written out in the program, `[a, b, c]`, as long as it is only read: an argument of `np.array`, a sequence to walk."""

    items: tuple[Abstract, ...]
    depth: int = 0  # how many loops were around where it was made
    site: object = None  # where it was made

    @property
    def type(self) -> Type:
        return DisplayType(tuple(item.type for item in self.items), self.site)

    @property
    def leaves(self) -> tuple[Value, ...]:
        return tuple(leaf for item in self.items for leaf in item.leaves)


@frozen(eq=False)
class List(Abstract):
    """A list that changes, or whose length depends on the run; `site`: where it was made (see `lists`)."""

    item: Type
    cells: tuple[Value, ...]
    site: object = None

    @property
    def type(self) -> Type:
        return ListType(self.item)

    @property
    def leaves(self) -> tuple[Value, ...]:
        return self.cells


@frozen(eq=False)
class DisplayType(Type):
    """The type of a `ListDisplay`. Its site is no part of it."""

    items: tuple[Type, ...]
    site: object = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DisplayType) and self.items == other.items

    def __hash__(self) -> int:
        return hash(self.items)

    def leaves(self) -> tuple[Type, ...]:
        return tuple(leaf for item in self.items for leaf in item.leaves())

    def __str__(self) -> str:
        return f"list[{', '.join(map(str, self.items))}]"


@frozen(eq=False)
class Opt(Abstract):
    """None, or `item` where the flag is true."""

    flag: Value
    item: Abstract

    @property
    def type(self) -> Type:
        return OptionalType(self.item.type)

    @property
    def leaves(self) -> tuple[Value, ...]:
        return (self.flag, *self.item.leaves)


@frozen(eq=False)
class SliceValue(Abstract):
    """A slice; the bounds are None or integers."""

    start: Abstract
    stop: Abstract
    step: Abstract

    @property
    def type(self) -> Type:
        return SliceType(self.start.type, self.stop.type, self.step.type)

    @property
    def leaves(self) -> tuple[Value, ...]:
        return (*self.start.leaves, *self.stop.leaves, *self.step.leaves)


@frozen(eq=False)
class Text(Abstract):
    """A string made at run time by an f-string, `str()` or concatenation; formatted when it leaves the kernel."""

    format: FormatType
    values: tuple[Value, ...]

    @property
    def type(self) -> Type:
        return self.format

    @property
    def leaves(self) -> tuple[Value, ...]:
        return self.values


@frozen(eq=False)
class Str(Abstract):
    """A string that is an object of the interpreter: an argument, or one that was made at run time."""

    value: Value

    @property
    def type(self) -> Type:
        return STR

    @property
    def leaves(self) -> tuple[Value, ...]:
        return (self.value,)


@frozen(eq=False)
class Choice(Abstract):
    """One of several known strings: a variable that got constants on several paths."""

    texts: tuple[str, ...]
    value: Value

    @property
    def type(self) -> Type:
        return ChoiceType(self.texts)

    @property
    def leaves(self) -> tuple[Value, ...]:
        return (self.value,)


@frozen(eq=False)
class Object(Abstract):
    """An object of the interpreter, opaque."""

    value: Value

    @property
    def type(self) -> Type:
        return OBJECT

    @property
    def leaves(self) -> tuple[Value, ...]:
        return (self.value,)


@frozen
class SequenceType(Type):
    """The type of an iterable that exists only while it is walked: range, enumerate, zip, reversed, ndindex."""

    kind: str
    parts: tuple[Type, ...]

    def leaves(self) -> tuple[Type, ...]:
        return tuple(leaf for part in self.parts for leaf in part.leaves())

    def __str__(self) -> str:
        return f"{self.kind}<{', '.join(map(str, self.parts))}>"


@frozen(eq=False)
class Sequence_(Abstract):
    """A range (start, stop, step), enumerate (iterable, start), zip (iterables), reversed (iterable), ndindex (dims), or flat,
    ndenumerate, nditer (array). `parallel`: a loop over it may run in any order.
    """

    kind: str
    parts: tuple[Abstract, ...]
    parallel: bool = False

    @property
    def type(self) -> Type:
        return SequenceType(self.kind, tuple(part.type for part in self.parts))

    @property
    def leaves(self) -> tuple[Value, ...]:
        return tuple(leaf for part in self.parts for leaf in part.leaves)


@frozen
class Namespace:
    """The globals of a module. They are a dict, which has no hash: the same dict makes equal namespaces."""

    globals: dict[str, object]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Namespace) and self.globals is other.globals

    def __hash__(self) -> int:
        return id(self.globals)

    def __repr__(self) -> str:
        return f"Namespace({self.globals.get('__name__')})"


@frozen
class ClosureType(Type):
    """The type of a function made in a kernel: its code, its module, and the types of its defaults and free variables."""

    code: pytypes.CodeType
    namespace: Namespace
    defaults: tuple[Type, ...]
    kwdefaults: tuple[tuple[str, Type], ...]
    free: tuple[tuple[str, Type | None], ...]

    def leaves(self) -> tuple[Type, ...]:
        captured = [t for _, t in self.free if t is not None]
        parts = (*self.defaults, *(t for _, t in self.kwdefaults), *captured)
        return tuple(leaf for part in parts for leaf in part.leaves())

    def __str__(self) -> str:
        return f"function<{self.code.co_qualname}>"


@frozen(eq=False)
class Closure(Abstract):
    """A function made in the kernel, with what it captured. `globals` is the namespace of its module."""

    code: pytypes.CodeType
    globals: dict[str, object]
    defaults: tuple[Abstract, ...] = ()
    kwdefaults: tuple[tuple[str, Abstract], ...] = ()
    free: tuple[tuple[str, Abstract | None], ...] = ()

    @property
    def type(self) -> Type:
        return ClosureType(
            self.code,
            Namespace(self.globals),
            tuple(value.type for value in self.defaults),
            tuple((name, value.type) for name, value in self.kwdefaults),
            tuple((name, None if value is None else value.type) for name, value in self.free),
        )

    @property
    def leaves(self) -> tuple[Value, ...]:
        captured = [value for _, value in self.free if value is not None]
        parts: Sequence[Abstract] = (*self.defaults, *(v for _, v in self.kwdefaults), *captured)
        return tuple(leaf for part in parts for leaf in part.leaves)


@frozen
class FunctionsType(Type):
    """The type of `Functions`."""

    items: tuple[Type, ...]

    def leaves(self) -> tuple[Type, ...]:
        return (I64, *(leaf for item in self.items for leaf in item.leaves()))

    def __str__(self) -> str:
        return " or ".join(map(str, self.items))


@frozen(eq=False)
class Functions(Abstract):
    """One of several functions: a variable that got a function on each of several paths. A call chooses among them."""

    chosen: Value
    items: tuple[Abstract, ...]

    @property
    def type(self) -> Type:
        return FunctionsType(tuple(item.type for item in self.items))

    @property
    def leaves(self) -> tuple[Value, ...]:
        return (self.chosen, *(leaf for item in self.items for leaf in item.leaves))


@frozen(eq=False)
class Method(Abstract):
    """A bound method, until it is called."""

    owner: Abstract
    name: str

    @property
    def type(self) -> Type:
        return SequenceType(f"method {self.name}", (self.owner.type,))

    @property
    def leaves(self) -> tuple[Value, ...]:
        return self.owner.leaves


@frozen(eq=False)
class Exc(Abstract):
    """A caught exception; `classes` are those that the handler named, as far as known."""

    value: Value
    classes: tuple[type, ...] = (BaseException,)

    @property
    def type(self) -> Type:
        return EXC

    @property
    def leaves(self) -> tuple[Value, ...]:
        return (self.value,)


@frozen(eq=False)
class NewExc(Abstract):
    """An exception that the program made but has not raised yet."""

    cls: type
    args: tuple[Abstract, ...]

    @property
    def type(self) -> Type:
        return SequenceType(f"{self.cls.__module__}:{self.cls.__qualname__}", tuple(arg.type for arg in self.args))

    @property
    def leaves(self) -> tuple[Value, ...]:
        return tuple(leaf for arg in self.args for leaf in arg.leaves)


@frozen(eq=False)
class Generator(Abstract):
    """A generator expression that nobody has taken items from yet: its function, and the iterable that it walks."""

    function: Closure
    iterable: Abstract

    @property
    def type(self) -> Type:
        return SequenceType("generator", (self.function.type, self.iterable.type))

    @property
    def leaves(self) -> tuple[Value, ...]:
        return (*self.function.leaves, *self.iterable.leaves)


@frozen
class MaybeType(Type):
    """A local that may be unbound."""

    item: Type

    def leaves(self) -> tuple[Type, ...]:
        return (BOOL, *self.item.leaves())

    def __str__(self) -> str:
        return f"{self.item} or unbound"


@frozen(eq=False)
class Maybe(Abstract):
    """A local that is bound where the flag is true."""

    flag: Value
    item: Abstract

    @property
    def type(self) -> Type:
        return MaybeType(self.item.type)

    @property
    def leaves(self) -> tuple[Value, ...]:
        return (self.flag, *self.item.leaves)


@frozen
class ConflictType(Type):
    """The type of a local that has types which do not unify on different paths: an error only when it is read."""

    kinds: tuple[Type, ...]

    def leaves(self) -> tuple[Type, ...]:
        return ()

    def __str__(self) -> str:
        return " or ".join(map(str, self.kinds))


@frozen(eq=False)
class Conflict(Abstract):
    """See `ConflictType`."""

    kinds: tuple[Type, ...]

    @property
    def type(self) -> Type:
        return ConflictType(self.kinds)


class Env:
    """The state of the walk at a point: locals by name (absent: unbound), the stack, and the exceptions being handled."""

    __slots__ = ("handling", "locals", "stack")

    def __init__(
        self,
        locals: dict[str, Abstract] | None = None,
        stack: list[Abstract] | None = None,
        handling: tuple[Exc, ...] = (),
    ) -> None:
        self.locals = {} if locals is None else locals
        self.stack = [] if stack is None else stack
        self.handling = handling

    def copy(self) -> Env:
        return Env(dict(self.locals), list(self.stack), self.handling)


def rebuild(type_: Type, leaves: Iterator[Value]) -> Abstract:
    """The abstract value of the type whose leaves are the next of the iterator."""
    if isinstance(type_, Scalar):
        return Num(type_, next(leaves))
    if isinstance(type_, ArrayType):
        return Arr(type_, next(leaves))
    rule = _REBUILD.get(type(type_))
    found: Abstract = rule(type_, leaves) if rule is not None else type_.rebuild(leaves)  # type: ignore[attr-defined]
    return found


def _rebuild_closure(t: ClosureType, leaves: Iterator[Value]) -> Abstract:
    defaults = tuple(rebuild(item, leaves) for item in t.defaults)
    kwdefaults = tuple((name, rebuild(item, leaves)) for name, item in t.kwdefaults)
    free = tuple((name, None if item is None else rebuild(item, leaves)) for name, item in t.free)
    return Closure(t.code, t.namespace.globals, defaults, kwdefaults, free)


def _rebuild_text(t: FormatType, leaves: Iterator[Value]) -> Abstract:
    count = sum(len(part.type.leaves()) for part in t.parts if isinstance(part, FormatHole))
    return Text(t, tuple(next(leaves) for _ in range(count)))


def _rebuild_sequence(t: SequenceType, leaves: Iterator[Value]) -> Abstract:
    parts = tuple(rebuild(part, leaves) for part in t.parts)
    if t.kind == "generator":
        assert isinstance(parts[0], Closure)
        return Generator(parts[0], parts[1])
    return Method(parts[0], t.kind[7:]) if t.kind.startswith("method ") else Sequence_(t.kind, parts)


_REBUILD = {
    NoneType: lambda t, leaves: Const(None),
    LiteralType: lambda t, leaves: Const(t.value),
    TupleType: lambda t, leaves: Tup(tuple(rebuild(item, leaves) for item in t.items)),
    NamedTupleType: lambda t, leaves: Tup(tuple(rebuild(item, leaves) for item in t.items), (t.fields, t.cls)),
    DisplayType: lambda t, leaves: ListDisplay(tuple(rebuild(item, leaves) for item in t.items), 0, t.site),
    ListType: lambda t, leaves: List(t.item, tuple(next(leaves) for _ in t.cells())),
    FunctionsType: lambda t, leaves: Functions(next(leaves), tuple(rebuild(item, leaves) for item in t.items)),
    OptionalType: lambda t, leaves: Opt(next(leaves), rebuild(t.item, leaves)),
    MaybeType: lambda t, leaves: Maybe(next(leaves), rebuild(t.item, leaves)),
    SliceType: lambda t, leaves: SliceValue(rebuild(t.start, leaves), rebuild(t.stop, leaves), rebuild(t.step, leaves)),
    FormatType: _rebuild_text,
    ChoiceType: lambda t, leaves: Choice(t.texts, next(leaves)),
    type(OBJECT): lambda t, leaves: Object(next(leaves)),
    type(STR): lambda t, leaves: Str(next(leaves)),
    type(EXC): lambda t, leaves: Exc(next(leaves)),
    SequenceType: _rebuild_sequence,
    ClosureType: _rebuild_closure,
    ConflictType: lambda t, leaves: Conflict(t.kinds),
}
