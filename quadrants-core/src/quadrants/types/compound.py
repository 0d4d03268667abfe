"""Types made of others: arrays, tuples, optionals, and the compile-time values."""

from __future__ import annotations

from quadrants._frozen import frozen
from quadrants.types.scalar import BOOL, I64, Scalar, Type

#: The address spaces: memory of the device, memory that a block's threads share, memory of one thread.
SPACES = ("global", "shared", "local")


@frozen
class ArrayType(Type):
    """An n-dimensional array of scalars.

    Args:
        dtype: the (machine) type of an element.
        ndim: the rank, 0 or more.
        layout: "C" (row-major contiguous), "F" (column-major contiguous) or "A" (any strides). Arrays of rank 0 and 1
            that are contiguous are "C".
        readonly: whether writing to it is an error.
        mixed: of what is read-only, whether it is so on some of the paths only that lead here.
        space: where its memory is, on a device: one of `SPACES`. Code for the host knows "global" only.
    """

    dtype: Scalar
    ndim: int
    layout: str = "C"
    readonly: bool = False
    space: str = "global"
    mixed: bool = False

    @property
    def heap(self) -> bool:
        return True

    @property
    def contiguous(self) -> bool:
        return self.layout != "A"

    def __str__(self) -> str:
        access = ", mixed" if self.mixed else ", ro" if self.readonly else ""
        space = f", {self.space}" if self.space != "global" else ""
        return f"array<{self.dtype}, {self.ndim}, {self.layout}{access}{space}>"


@frozen
class TupleType(Type):
    """A tuple; every item has a type of its own."""

    items: tuple[Type, ...]

    def leaves(self) -> tuple[Type, ...]:
        return tuple(leaf for item in self.items for leaf in item.leaves())

    def __str__(self) -> str:
        return f"tuple<{', '.join(map(str, self.items))}>"


@frozen
class NamedTupleType(Type):
    """A named tuple.

    Args:
        items: the type of each field.
        fields: the names of the fields.
        cls: the Python class (identity matters; its text form is `module:qualname`).
    """

    items: tuple[Type, ...]
    fields: tuple[str, ...]
    cls: type

    def leaves(self) -> tuple[Type, ...]:
        return tuple(leaf for item in self.items for leaf in item.leaves())

    def __str__(self) -> str:
        body = ", ".join(f"{name}={item}" for name, item in zip(self.fields, self.items, strict=True))
        return f'namedtuple<"{self.cls.__module__}:{self.cls.__qualname__}"{", " if body else ""}{body}>'


@frozen
class NoneType(Type):
    """The type of None."""

    def leaves(self) -> tuple[Type, ...]:
        return ()

    def __str__(self) -> str:
        return "none"


@frozen
class OptionalType(Type):
    """Either None or a value of `item`. Leaves: a bool (true: present), then those of the item."""

    item: Type

    def leaves(self) -> tuple[Type, ...]:
        return (BOOL, *self.item.leaves())

    def __str__(self) -> str:
        return f"optional<{self.item}>"


@frozen
class UnionType(Type):
    """A value of one of several types: what an entry returns whose paths return different ones. Leaves: the position of the type
    (i64), then those of all the types; only those of the one are meaningful.
    """

    items: tuple[Type, ...]

    def leaves(self) -> tuple[Type, ...]:
        return (I64, *(leaf for item in self.items for leaf in item.leaves()))

    def __str__(self) -> str:
        return f"union<{', '.join(map(str, self.items))}>"


@frozen(eq=False)
class LiteralType(Type):
    """A value known at compile time: int, float, complex, bool, str, bytes or a Python object such as a class.

    Two literal types are equal if the values have the same type and representation (0.0 and -0.0 differ, 1 and True too).
    """

    value: object

    def _key(self) -> tuple[object, object]:
        return _literal_key(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LiteralType) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def leaves(self) -> tuple[Type, ...]:
        return ()

    def __str__(self) -> str:
        return f"literal<{self.value!r}>"


def _literal_key(value: object) -> tuple[object, object]:
    """What two equal literals have in common: the representation of numbers and texts, the identity of other objects."""
    if isinstance(value, (int, float, complex, str, bytes)):
        return type(value), repr(value)
    if type(value) is tuple:
        return tuple, tuple(_literal_key(item) for item in value)
    return type(value), id(value)


@frozen
class CellsType(Type):
    """Memory for any number of scalars, or of such memory, which grows: what a list consists of, one a leaf of its items.

    Args:
        dtype: the (machine) type of a cell: a scalar, or cells in turn.
    """

    dtype: Scalar | CellsType

    @property
    def heap(self) -> bool:
        return True

    @property
    def nested(self) -> bool:
        """Whether the cells refer to other cells, and own them."""
        return isinstance(self.dtype, CellsType)

    @property
    def itemsize(self) -> int:
        """The bytes of a cell."""
        return 8 if isinstance(self.dtype, CellsType) else self.dtype.itemsize

    def __str__(self) -> str:
        return f"cells<{self.dtype}>"


@frozen
class ListType(Type):
    """A list whose items are all of one type. It is a reference, as in Python."""

    item: Type

    def leaves(self) -> tuple[Type, ...]:
        return tuple(CellsType(leaf) for leaf in self.cells())

    def cells(self) -> tuple[Scalar | CellsType, ...]:
        """The types of the cells: those of the leaves of an item, or one that only counts the items."""
        found = tuple(leaf for leaf in self.item.leaves() if isinstance(leaf, (Scalar, CellsType)))
        return tuple(leaf.machine if isinstance(leaf, Scalar) else leaf for leaf in found) or (BOOL,)

    def __str__(self) -> str:
        return f"list<{self.item}>"


@frozen
class StrType(Type):
    """A string whose text is only known at run time (an argument); opaque to compiled code."""

    def __str__(self) -> str:
        return "str"

    @property
    def heap(self) -> bool:
        return False


@frozen
class ChoiceType(Type):
    """One of several known strings. The leaf is its position among them."""

    texts: tuple[str, ...]

    def leaves(self) -> tuple[Type, ...]:
        return (I64,)

    def __str__(self) -> str:
        return f"choice<{', '.join(map(repr, self.texts))}>"


@frozen
class ObjectType(Type):
    """An object of the interpreter that compiled code only passes on to it, such as an argument of a caught exception."""

    def __str__(self) -> str:
        return "object"

    @property
    def heap(self) -> bool:
        return False


@frozen
class FormatHole:
    """A replacement field of an f-string: the type of the value, the conversion ("", "s", "r", "a") and the format spec."""

    type: Type
    conversion: str = ""
    spec: str = ""


@frozen
class FormatType(Type):
    """A string made of literal text and values, formatted by Python when it leaves the kernel."""

    parts: tuple[str | FormatHole, ...]

    def leaves(self) -> tuple[Type, ...]:
        return tuple(leaf for part in self.parts if isinstance(part, FormatHole) for leaf in part.type.leaves())

    def __str__(self) -> str:
        texts = (
            f"{{{part.type}, {part.conversion!r}, {part.spec!r}}}" if isinstance(part, FormatHole) else repr(part)
            for part in self.parts
        )
        return f"format<{', '.join(texts)}>"


@frozen
class SliceType(Type):
    """A slice; each bound is none, or an integer type."""

    start: Type
    stop: Type
    step: Type

    def leaves(self) -> tuple[Type, ...]:
        return (*self.start.leaves(), *self.stop.leaves(), *self.step.leaves())

    def __str__(self) -> str:
        return f"slice<{self.start}, {self.stop}, {self.step}>"


@frozen
class ExcType(Type):
    """A raised exception, as a handler sees it: a machine word (class and record, see `lower.abi`)."""

    def __str__(self) -> str:
        return "exc"

    @property
    def heap(self) -> bool:
        return False


@frozen
class RefType(Type):
    """A mutable variable inside one function, which carries a value from a `try` body to its handler."""

    item: Type

    @property
    def heap(self) -> bool:
        return self.item.heap

    def __str__(self) -> str:
        return f"ref<{self.item}>"
