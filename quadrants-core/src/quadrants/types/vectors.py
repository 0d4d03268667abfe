"""Vectors and matrices as values of the host: what kernels return, and what globals of a program hold.

A vector is a tuple of numbers, a matrix a tuple of its rows; each length has a class of its own, made when it is first asked for.
Arithmetic is element by element and NumPy's. `TensorArg` is how a tensor of vectors reaches compiled code: the array with the
element's axes last, and the element's sizes in the type.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

_NAMES = "xyzw"


class TensorArg(NamedTuple):
    """An array whose last axes are those of a vector or a matrix. A size is a tuple of so many Nones: part of the type."""

    data: np.ndarray
    rows: tuple[None, ...]
    columns: tuple[None, ...] | None


def _binary(function: Callable[[Any, Any], Any], swapped: bool = False) -> Callable[[Any, Any], Any]:
    def method(self: Value, other: Any) -> Any:
        if not isinstance(other, (Value, int, float, np.generic, np.ndarray, list, tuple)):
            return NotImplemented
        left, right = self.to_numpy(), np.asarray(other)
        return from_array(function(right, left) if swapped else function(left, right))

    return method


class Value(tuple):
    """What vectors and matrices have in common."""

    __slots__ = ()
    _fields: tuple[str, ...] = ()

    @classmethod
    def _make(cls, items: Iterable[Any]) -> Value:
        return cls(*items)

    def to_numpy(self) -> np.ndarray:
        """The elements as an array."""
        return np.array([item.to_numpy() if isinstance(item, Value) else item for item in self])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.to_numpy().astype(dtype) if dtype is not None else self.to_numpy()

    def to_list(self) -> list[Any]:
        """The elements as a list, of lists for a matrix."""
        found: list[Any] = self.to_numpy().tolist()
        return found

    __add__ = _binary(operator.add)
    __radd__ = _binary(operator.add, True)
    __sub__ = _binary(operator.sub)
    __rsub__ = _binary(operator.sub, True)
    __mul__ = _binary(operator.mul)
    __rmul__ = _binary(operator.mul, True)
    __truediv__ = _binary(operator.truediv)
    __rtruediv__ = _binary(operator.truediv, True)
    __floordiv__ = _binary(operator.floordiv)
    __mod__ = _binary(operator.mod)
    __pow__ = _binary(operator.pow)
    __matmul__ = _binary(operator.matmul)

    def __neg__(self) -> Any:
        return from_array(-self.to_numpy())

    def norm(self) -> float:
        """The Euclidean length; Frobenius' norm of a matrix."""
        return float(np.linalg.norm(self.to_numpy()))

    def sum(self) -> Any:
        """The sum of the elements."""
        return self.to_numpy().sum().item()

    def max(self) -> Any:
        """The greatest element."""
        return self.to_numpy().max().item()

    def min(self) -> Any:
        """The least element."""
        return self.to_numpy().min().item()


class VectorValue(Value):
    """A vector; `vector_class` makes the class of a length."""

    __slots__ = ()

    def __new__(cls, *items: Any) -> VectorValue:
        return tuple.__new__(cls, items)

    def __getitem__(self, index: Any) -> Any:
        found = tuple.__getitem__(self, index)
        return vector(found) if isinstance(index, slice) else found

    def __repr__(self) -> str:
        return f"[{', '.join(map(str, self))}]"

    @property
    def n(self) -> int:
        """How many elements there are."""
        return len(self)

    def dot(self, other: Sequence[Any]) -> Any:
        """The scalar product."""
        return np.dot(self.to_numpy(), np.asarray(other)).item()

    def cross(self, other: Sequence[Any]) -> Any:
        """The vector product."""
        return from_array(np.cross(self.to_numpy(), np.asarray(other)))

    def normalized(self) -> Any:
        """The vector of length 1 in the same direction."""
        return self / self.norm()


class MatrixValue(Value):
    """A matrix; its items are its rows. `matrix_class` makes the class of a number of rows."""

    __slots__ = ()

    def __new__(cls, *rows: Any) -> MatrixValue:
        return tuple.__new__(cls, (row if isinstance(row, VectorValue) else vector(row) for row in rows))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, tuple):
            found = self.to_numpy()[index]
            return from_array(found) if found.ndim else found.item()
        return tuple.__getitem__(self, index)

    def __repr__(self) -> str:
        return f"[{', '.join(map(str, self))}]"

    @property
    def n(self) -> int:
        """How many rows there are."""
        return len(self)

    @property
    def m(self) -> int:
        """How many columns there are."""
        return len(tuple.__getitem__(self, 0))

    def transpose(self) -> Any:
        """Rows as columns."""
        return from_array(self.to_numpy().T)

    def determinant(self) -> float:
        """The determinant."""
        return float(np.linalg.det(self.to_numpy()))

    def inverse(self) -> Any:
        """The inverse matrix."""
        return from_array(np.linalg.inv(self.to_numpy()))

    def trace(self) -> Any:
        """The sum of the diagonal."""
        return self.to_numpy().trace().item()


def _fields(n: int) -> tuple[str, ...]:
    return tuple(_NAMES[:n]) if n <= len(_NAMES) else tuple(f"c{k}" for k in range(n))


@functools.cache
def vector_class(n: int) -> type[VectorValue]:
    """The class of vectors with `n` elements."""
    fields = _fields(n)
    members: dict[str, Any] = {"__slots__": (), "_fields": fields, "__module__": __name__}
    members |= {name: property(operator.itemgetter(k)) for k, name in enumerate(fields)}
    return type(f"Vector{n}", (VectorValue,), members)


@functools.cache
def matrix_class(n: int) -> type[MatrixValue]:
    """The class of matrices with `n` rows."""
    fields = tuple(f"r{k}" for k in range(n))
    return type(f"Matrix{n}", (MatrixValue,), {"__slots__": (), "_fields": fields, "__module__": __name__})


def __getattr__(name: str) -> Any:
    for prefix, make in (("Vector", vector_class), ("Matrix", matrix_class)):
        if name.startswith(prefix) and name[len(prefix) :].isdecimal():
            return make(int(name[len(prefix) :]))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def vector(items: Iterable[Any]) -> VectorValue:
    """A vector of the items."""
    known = tuple(items)
    return vector_class(len(known))(*known)


def matrix(rows: Iterable[Iterable[Any]]) -> MatrixValue:
    """A matrix of the rows."""
    known = tuple(map(vector, rows))
    return matrix_class(len(known))(*known)


def from_array(array: Any) -> Any:
    """A NumPy array of rank 1 or 2 as a vector or a matrix of Python numbers; any other as it is."""
    found = np.asarray(array)
    if found.ndim == 1:
        return vector(found.tolist())
    return matrix(found.tolist()) if found.ndim == 2 else array
