"""`qd.Vector`, `qd.Matrix`, and the types of vectors and matrices.

On the host they make values (`quadrants.types.vectors`) and tensors of them; in kernels inference knows them by name.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from quadrants.api.portable.tensors import Backend, Field, Ndarray, Tensor, make, scalar_of_type
from quadrants.types.dtypes import dtype_of
from quadrants.types.names import TypeName
from quadrants.types.vectors import from_array, matrix, vector


class ElementType:
    """The type of a vector or a matrix: `qd.types.vector(3, qd.f32)`. Called, it makes a value."""

    __quadrants_literal__ = True

    def __init__(self, element_shape: tuple[int, ...], dtype: Any = None) -> None:
        self.element_shape = element_shape
        self._dtype = dtype

    def __quadrants_key__(self) -> tuple[object, ...]:
        return (self.element_shape, self._dtype)

    @property
    def dtype(self) -> TypeName:
        """The type of the numbers."""
        return TypeName(scalar_of_type(float if self._dtype is None else self._dtype))

    @property
    def n(self) -> int:
        """Elements of a vector, rows of a matrix."""
        return self.element_shape[0]

    @property
    def m(self) -> int:
        """Columns of a matrix."""
        return self.element_shape[1] if len(self.element_shape) > 1 else 1

    def __call__(self, *items: Any) -> Any:
        flat = np.concatenate([np.ravel(np.asarray(item)) for item in items]) if items else np.zeros(1)
        if flat.size == 1:
            flat = np.repeat(flat, int(np.prod(self.element_shape)))
        return from_array(flat.astype(dtype_of(scalar_of_type(self.dtype))).reshape(self.element_shape))

    def field(self, shape: Any = None, *, needs_grad: bool = False, layout: Any = None, **others: Any) -> Tensor:
        """A field of such elements."""
        return make(Field, self.dtype, shape, self.element_shape, layout, needs_grad)

    def ndarray(self, shape: Any = None, *, needs_grad: bool = False, layout: Any = None) -> Tensor:
        """An array of such elements."""
        return make(Ndarray, self.dtype, shape, self.element_shape, layout, needs_grad)

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, ElementType) and self.element_shape == other.element_shape
        return same and self.dtype == other.dtype  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(self.element_shape)

    def __repr__(self) -> str:
        what = "vector" if len(self.element_shape) == 1 else "matrix"
        return f"{what}({', '.join(map(str, self.element_shape))}, {self.dtype!r})"


def vector_type(n: int, dtype: Any = None, unpacked: bool = False) -> ElementType:
    """The type of vectors with `n` elements; without a type they are `float`s.

    >>> import quadrants as qd
    >>> qd.types.vector(3, qd.f32)(1, 2, 3)
    [1.0, 2.0, 3.0]
    """
    return ElementType((int(n),), dtype)


def matrix_type(n: int, m: int, dtype: Any = None) -> ElementType:
    """The type of matrices with `n` rows and `m` columns.

    >>> import quadrants as qd
    >>> qd.types.matrix(2, 2, qd.i32)(1, 2, 3, 4)
    [[1, 2], [3, 4]]
    """
    return ElementType((int(n), int(m)), dtype)


def _cast(items: Any, dtype: Any) -> Any:
    return items if dtype is None else np.asarray(items).astype(dtype_of(scalar_of_type(dtype))).tolist()


class Vector:
    """`qd.Vector([x, y, z])` is a vector of the numbers, here and in kernels.

    >>> import quadrants as qd
    >>> qd.Vector([3.0, 4.0]).norm()
    5.0
    >>> qd.Vector.field(2, qd.f32, shape=8).shape
    (8,)
    """

    __quadrants_builtin__ = "portable:Vector"

    def __new__(cls, items: Any, dt: Any = None) -> Any:
        return vector(_cast(list(items), dt))

    @staticmethod
    def field(n: int, dtype: Any = float, shape: Any = None, **options: Any) -> Tensor:
        """A field of vectors."""
        return ElementType((n,), dtype).field(shape, **options)

    @staticmethod
    def ndarray(n: int, dtype: Any = float, shape: Any = None, **options: Any) -> Tensor:
        """An array of vectors."""
        return ElementType((n,), dtype).ndarray(shape, **options)

    @staticmethod
    def tensor(
        n: int, dtype: Any = float, shape: Any = None, *, backend: Backend = Backend.NDARRAY, **options: Any
    ) -> Tensor:
        """A tensor of vectors."""
        return _tensor(ElementType((n,), dtype), shape, backend, options)

    @staticmethod
    def zero(dt: Any, n: int) -> Any:
        """The vector of zeros."""
        return ElementType((n,), dt)(0)

    @staticmethod
    def one(dt: Any, n: int) -> Any:
        """The vector of ones."""
        return ElementType((n,), dt)(1)

    @staticmethod
    def unit(n: int, i: int, dt: Any = int) -> Any:
        """The unit vector along an axis."""
        return ElementType((n,), dt)(*(int(k == i) for k in range(n)))


class Matrix:
    """`qd.Matrix([[a, b], [c, d]])` is a matrix of the rows, here and in kernels.

    >>> import quadrants as qd
    >>> qd.Matrix([[2.0, 0.0], [0.0, 3.0]]) @ qd.Vector([1.0, 1.0])
    [2.0, 3.0]
    """

    __quadrants_builtin__ = "portable:Matrix"

    def __new__(cls, rows: Any, dt: Any = None) -> Any:
        known = [list(row) if hasattr(row, "__iter__") else row for row in rows]
        if known and not isinstance(known[0], list):
            return vector(_cast(known, dt))
        return matrix(_cast(known, dt))

    @staticmethod
    def field(n: int, m: int, dtype: Any = float, shape: Any = None, **options: Any) -> Tensor:
        """A field of matrices."""
        return ElementType((n, m), dtype).field(shape, **options)

    @staticmethod
    def ndarray(n: int, m: int, dtype: Any = float, shape: Any = None, **options: Any) -> Tensor:
        """An array of matrices."""
        return ElementType((n, m), dtype).ndarray(shape, **options)

    @staticmethod
    def tensor(
        n: int, m: int, dtype: Any = float, shape: Any = None, *, backend: Backend = Backend.NDARRAY, **options: Any
    ) -> Tensor:
        """A tensor of matrices."""
        return _tensor(ElementType((n, m), dtype), shape, backend, options)

    @staticmethod
    def zero(dt: Any, n: int, m: int | None = None) -> Any:
        """The matrix of zeros; a vector without a number of columns."""
        return ElementType((n,) if m is None else (n, m), dt)(0)

    @staticmethod
    def one(dt: Any, n: int, m: int | None = None) -> Any:
        """The matrix of ones."""
        return ElementType((n,) if m is None else (n, m), dt)(1)

    @staticmethod
    def identity(dt: Any, n: int) -> Any:
        """The identity matrix."""
        return ElementType((n, n), dt)(*np.eye(n).ravel())

    @staticmethod
    def diag(n: int, value: Any) -> Any:
        """The matrix with the value along the diagonal."""
        return matrix((np.eye(n) * value).tolist())

    @staticmethod
    def rows(rows: Any) -> Any:
        """The matrix of the vectors as rows."""
        return matrix(rows)

    @staticmethod
    def cols(columns: Any) -> Any:
        """The matrix of the vectors as columns."""
        return from_array(np.asarray([list(column) for column in columns]).T)


def _tensor(element: ElementType, shape: Any, backend: Backend, options: dict[str, Any]) -> Tensor:
    return (element.field if backend is Backend.FIELD else element.ndarray)(shape, **options)


for _class in (Vector, Matrix):
    for _name, _member in list(vars(_class).items()):
        if isinstance(_member, staticmethod):
            _member.__func__.__quadrants_builtin__ = f"portable:{_class.__name__}.{_name}"  # type: ignore[attr-defined]
