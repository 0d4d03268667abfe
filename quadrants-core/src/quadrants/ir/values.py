"""What the reference semantics compute with.

A machine value is: bool for `bool`; int in the range of the type for integers; a NumPy scalar of the exact width for floats
and complex numbers; `InterpArray` for arrays; `Raised` (or None, the zero value) for `exc`; str (or None) for `str`;
`Variable` for `ref`; a tuple of scalars for `lanes`.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from quadrants._frozen import frozen, record
from quadrants.ir.origin import Loc, Scope
from quadrants.types import ArrayType, CellsType, ExcType, LanesType, ObjectType, RefType, Scalar, StrType, Type
from quadrants.types.dtypes import dtype_of

#: What memory that was never written holds: no plausible number, and NaN as a float16.
GARBAGE = 0xFD
#: The largest array that a program may make in the interpreter.
MAX_BYTES = 1 << 31


class InterpError(Exception):
    """The interpreter cannot go on: a limit, a broken promise, or a leak. Not an exception of the program."""


class Undefined(InterpError):
    """The program does what the definition of an op leaves undefined: a promise of whoever made the op is broken."""


class Raised(Exception):
    """An exception of the program: "module:qualname" of its class, its arguments, where, and the calls that led there.

    Args:
        bases: the names of the classes above its own, where that cannot be found by its name.
    """

    def __init__(
        self, cls: str, values: tuple[object, ...] = (), loc: Loc | None = None, bases: tuple[str, ...] = ()
    ) -> None:
        super().__init__(cls, values)
        self.cls = cls
        self.bases = bases
        self.values = values
        self.loc = loc
        self.trace: list[tuple[Scope, Loc | None]] = []
        self.thread: object = None  # of a device, where it happened

    def __str__(self) -> str:
        return f"{self.cls}({', '.join(map(repr, self.values))}) {self.loc or ''}".rstrip()


@record(eq=False)
class Block:
    """A piece of memory.

    Args:
        data: its bytes.
        external: whether it belongs to the caller, and so is neither counted nor freed.
        keep: what owns the bytes, when they are external.
    """

    data: np.ndarray
    external: bool = False
    keep: object = None
    refcount: int = 1
    freed: bool = False

    def retain(self) -> None:
        if self.freed:
            raise Undefined("retains memory that was freed")
        self.refcount += not self.external

    def release(self) -> None:
        if self.freed:
            raise Undefined("releases memory that was freed")
        self.refcount -= not self.external
        self.freed = self.refcount == 0


@record(eq=False)
class InterpCells:
    """The memory of a list. `block` counts the references to it; None for the zero value."""

    items: list[Any]
    block: Block | None


@record(eq=False)
class Variable:
    """The content of a `ref`."""

    value: Any


@frozen(eq=False)
class InterpArray:
    """An array value. `block` is None for the zero value."""

    type: ArrayType
    block: Block | None
    offset: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]

    def numpy(self) -> np.ndarray:
        """The array as NumPy sees it, on the same memory."""
        if self.block is None or 0 in self.dims:
            return np.empty(self.dims, dtype_of(self.type.dtype))
        return np.ndarray(self.dims, dtype_of(self.type.dtype), self.block.data, self.offset, self.strides)

    def bounds(self) -> tuple[int, int]:
        """The lowest byte and the one after the highest, in the block; an empty range if there are no elements."""
        if 0 in self.dims:
            return self.offset, self.offset
        steps = [stride * (dim - 1) for stride, dim in zip(self.strides, self.dims)]
        low = self.offset + sum(min(step, 0) for step in steps)
        return low, self.offset + sum(max(step, 0) for step in steps) + self.type.dtype.itemsize

    def load(self, indices: Sequence[int]) -> Any:
        """The element at the indices, each in [0, n)."""
        return canonical(self.type.dtype, self._element(indices)[()])

    def store(self, value: Any, indices: Sequence[int]) -> None:
        self._element(indices)[()] = value

    def _element(self, indices: Sequence[int]) -> np.ndarray:
        for index, dim in zip(indices, self.dims):
            if not 0 <= index < dim:
                raise Undefined(f"the index {index} is outside of the size {dim}")
        place = self.offset + sum(index * stride for index, stride in zip(indices, self.strides))
        if self.block is None:
            raise Undefined("reaches into an array without memory")
        if self.block.freed:
            raise Undefined("reaches into memory that was freed")
        if not 0 <= place <= self.block.data.nbytes - self.type.dtype.itemsize:
            raise Undefined(f"reaches byte {place} of {self.block.data.nbytes}")
        return np.ndarray((), dtype_of(self.type.dtype), self.block.data, place)


def contiguous_strides(dims: Sequence[int], itemsize: int, layout: str = "C") -> tuple[int, ...]:
    """The strides of a new array; a dimension of 0 counts as 1."""
    order = reversed(dims) if layout == "C" else iter(dims)
    strides = list(itertools.accumulate((max(dim, 1) for dim in order), lambda a, b: a * b, initial=itemsize))[:-1]
    return tuple(reversed(strides)) if layout == "C" else tuple(strides)


#: What NumPy says of an array that no machine could hold.
TOO_BIG = "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size."


def new_array(type: ArrayType, dims: Sequence[int], *, zero: bool = False) -> InterpArray:
    """A new array on a block of its own. Raises ValueError and MemoryError as the program's exceptions."""
    if any(dim < 0 for dim in dims):
        raise Raised("builtins:ValueError", ("negative dimensions are not allowed",))
    strides = contiguous_strides(dims, type.dtype.itemsize, type.layout)
    nbytes = type.dtype.itemsize
    for dim in dims:
        nbytes *= max(dim, 1)
    if nbytes >= 2**63:  # as NumPy, also when an axis is empty
        raise Raised("builtins:ValueError", (TOO_BIG,))
    nbytes = 0 if 0 in dims else nbytes
    if nbytes > MAX_BYTES:
        raise Raised("builtins:MemoryError")
    return InterpArray(type, Block(np.full(nbytes, 0 if zero else GARBAGE, np.uint8)), 0, tuple(dims), strides)


class Importer:
    """Makes array values from NumPy arrays, on their own memory. Arrays that may overlap share a block.

    Args:
        sources: all the arrays that will be asked for.
    """

    __slots__ = ("_blocks",)

    def __init__(self, sources: Iterable[np.ndarray]) -> None:
        roots = {id(root): root for root in map(_root, sources)}
        ranges = sorted((*np.lib.array_utils.byte_bounds(root), key) for key, root in roots.items())
        merged: list[tuple[int, int, list[np.ndarray]]] = []
        for low, high, key in ranges:
            if merged and low < merged[-1][1]:
                start, end, keep = merged.pop()
                merged.append((start, max(end, high), [*keep, roots[key]]))
            else:
                merged.append((low, high, [roots[key]]))
        #: The first address of each block, ascending.
        self._blocks = [(low, _external(low, high, keep)) for low, high, keep in merged]

    def array(self, type: ArrayType, source: np.ndarray) -> InterpArray:
        """The array value. Raises TypeError when the array is not of the type."""
        if source.dtype != dtype_of(type.dtype) or source.ndim != type.ndim:
            raise TypeError(f"an array of {source.dtype} and rank {source.ndim} is not an {type}")
        address = source.__array_interface__["data"][0]
        low, _ = np.lib.array_utils.byte_bounds(_root(source))
        start, block = next((start, block) for start, block in reversed(self._blocks) if start <= low)
        return InterpArray(type, block, address - start, source.shape, source.strides)


def _root(array: np.ndarray) -> np.ndarray:
    """The array that the memory belongs to."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _external(low: int, high: int, keep: list[np.ndarray]) -> Block:
    """The block of memory between two addresses, which `keep` keeps alive."""
    memory = (ctypes.c_uint8 * (high - low)).from_address(low)
    return Block(np.ctypeslib.as_array(memory), external=True, keep=keep)


_FLOATS: dict[int, Callable[[Any], Any]] = {16: np.float16, 32: np.float32, 64: np.float64}
_COMPLEXES: dict[int, Callable[[Any], Any]] = {64: np.complex64, 128: np.complex128}


def wrap(value: int, type: Scalar) -> int:
    """The value modulo 2 to the width, in the range of the integer type."""
    value &= (1 << type.bits) - 1
    return value - (1 << type.bits) if type.is_signed and value >> (type.bits - 1) else value


def canonical(type: Scalar, value: Any) -> Any:
    """A Python or NumPy number as the machine value of the type: rounded or wrapped to its width."""
    if type.is_bool:
        return bool(value)
    if type.is_integer:
        return wrap(int(value), type)
    make = _FLOATS[type.bits] if type.is_float else _COMPLEXES[type.bits]
    try:
        with np.errstate(over="ignore"):  # past the largest is infinite
            return make(value)
    except OverflowError:  # an int past the largest float
        return make(np.inf if value > 0 else -np.inf)


def zero(type: Type) -> Any:
    """The zero value of a machine type."""
    if isinstance(type, Scalar):
        return canonical(type, 0)
    if isinstance(type, ArrayType):
        return InterpArray(type, None, 0, (0,) * type.ndim, (0,) * type.ndim)
    if isinstance(type, LanesType):
        return (canonical(type.item, 0),) * type.count
    if isinstance(type, CellsType):
        return InterpCells([], None)
    if isinstance(type, (ExcType, ObjectType, StrType)):
        return None
    raise TypeError(f"{type} has no zero value")


def imported(type: Type, value: Any, importer: Importer) -> Any:
    """An argument of the caller as a machine value. Raises TypeError when it does not fit."""
    if isinstance(type, ArrayType):
        if isinstance(value, InterpArray) and value.type == type:
            return value
        if isinstance(value, np.ndarray):
            return importer.array(type, value)
    elif isinstance(type, Scalar):
        if isinstance(value, (bool, int, float, complex, np.generic)):
            result = canonical(type, value)
            if type.is_integer and result != value:
                raise TypeError(f"{value!r} is outside of {type}")
            return result
    elif isinstance(type, StrType):
        if isinstance(value, str):
            return value
    elif not isinstance(type, RefType) and (value is None or isinstance(value, Raised)):
        return value
    raise TypeError(f"{value!r} is not a value of type {type}")
