"""Tensors: what `qd.ndarray`, `qd.field`, `qd.tensor`, and the same of `qd.Vector` and `qd.Matrix`, make.

Takes a type, a shape and perhaps a layout; gives a `Tensor` over a NumPy array with the element's axes last. Its memory is in
the order that `layout` names, its indices are in the order of `shape` always. Kernels take tensors as arguments and as globals.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from quadrants.api.portable.runtime import settings
from quadrants.diagnostics.codes import Code
from quadrants.diagnostics.errors import QuadrantsError
from quadrants.types import Scalar
from quadrants.types.dtypes import dtype_of
from quadrants.types.names import PUBLIC, TypeName, as_type
from quadrants.types.vectors import TensorArg, from_array


class Backend(enum.Enum):
    """Where a tensor of `qd.tensor` is kept. On the CPU both are the same memory."""

    NDARRAY = "ndarray"
    FIELD = "field"


class Layout(enum.Enum):
    """The order of the members of a field of structs."""

    AOS = "array of structs"
    SOA = "struct of arrays"


def scalar_of_type(dtype: Any) -> Scalar:
    """The scalar that a type names in the portable language: `int` and `float` are the defaults of `qd.init`."""
    if dtype is float:
        return settings().default_fp
    if dtype is int:
        return settings().default_ip
    try:
        found = as_type(dtype)
    except TypeError:
        found = None  # type: ignore[assignment]
    if not isinstance(found, Scalar):
        raise QuadrantsError(
            Code.BAD_DTYPE, f"{dtype!r} is not the type of a number", hint="use qd.f32, qd.i32, float, int, ..."
        )
    return found


def _name_of(scalar: Scalar) -> TypeName:
    return PUBLIC[str(scalar)] if str(scalar) in PUBLIC else TypeName(scalar)


def _shape(shape: Any) -> tuple[int, ...]:
    sizes = shape if isinstance(shape, (tuple, list)) else () if shape is None else (shape,)
    found = tuple(int(size) for size in sizes)
    if any(size < 0 for size in found):
        raise QuadrantsError(Code.BAD_VALUE, f"the shape {found} of a tensor has a negative size")
    return found


def _memory(shape: tuple[int, ...], element: tuple[int, ...], dtype: np.dtype, layout: Sequence[int] | None) -> Any:
    """Zeroed memory with the axes in the order of `layout`, seen with the axes in the order of `shape`."""
    if layout is None:
        return np.zeros((*shape, *element), dtype)
    order = [int(axis) for axis in layout]
    if sorted(order) != list(range(len(shape))):
        raise QuadrantsError(
            Code.BAD_VALUE, f"layout={tuple(layout)} does not name each of the {len(shape)} axes of the shape once"
        )
    rank = len(shape)
    physical = np.zeros((*(shape[axis] for axis in order), *element), dtype)
    back = [order.index(axis) for axis in range(rank)]
    return physical.transpose((*back, *range(rank, rank + len(element))))


class Tensor:
    """Numbers, vectors or matrices at the places of a shape."""

    __quadrants_tensor__ = True

    def __init__(self, array: np.ndarray, element: tuple[int, ...], layout: Sequence[int] | None = None) -> None:
        self.element_shape = element
        self.layout = None if layout is None else tuple(layout)
        self.grad: Tensor | None = None
        self.placed = True
        self._hold(array)

    def _hold(self, array: np.ndarray) -> None:
        self._np = array
        self.__quadrants_argument__: Any = array if not self.element_shape else _argument(array, self.element_shape)

    def _writable(self) -> np.ndarray:
        """The memory, to be written."""
        return self._np

    def put(self, shape: tuple[int, ...]) -> None:
        """Give a field that was made without a shape the one of its place (see `qd.root`)."""
        self.placed = True
        self._hold(_memory(shape, self.element_shape, self._np.dtype, None))
        if self.grad is not None:
            self.grad.put(shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape, without the axes of the elements."""
        return self._np.shape[: self._np.ndim - len(self.element_shape)]

    @property
    def dtype(self) -> TypeName:
        """The type of the numbers."""
        return _name_of(as_type(self._np.dtype))  # type: ignore[arg-type]

    @property
    def n(self) -> int:
        """Elements of a vector, rows of a matrix."""
        return self.element_shape[0]

    @property
    def m(self) -> int:
        """Columns of a matrix."""
        return self.element_shape[1] if len(self.element_shape) > 1 else 1

    def has_grad(self) -> bool:
        """Whether it was made with `needs_grad=True`."""
        return self.grad is not None

    def fill(self, value: Any) -> None:
        """Give every element the value."""
        self._writable()[...] = np.asarray(value)

    def from_numpy(self, array: Any) -> None:
        """Copy from an array of the same shape, that of the elements last."""
        found = np.asarray(array)
        if found.shape != self._np.shape:
            raise ValueError(f"from_numpy() takes an array of the shape {self._np.shape}, not {found.shape}")
        self._writable()[...] = found

    def to_numpy(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The elements as an array, a copy unless `copy=False` asks for the memory itself."""
        if copy is False:
            return self._shared()
        return np.array(self._np, dtype=dtype, order="C")

    def _shared(self) -> np.ndarray:
        """The memory itself."""
        return self._np

    def from_torch(self, tensor: Any) -> None:
        """Copy from a tensor of PyTorch."""
        self.from_numpy(tensor.detach().cpu().numpy())

    def to_torch(self, device: Any = None, copy: bool | None = None) -> Any:
        """The elements as a tensor of PyTorch; with `copy=False` it shares the memory."""
        import torch  # only who uses it has it

        found = torch.from_numpy(self._shared() if copy is False else np.array(self._np, order="C"))
        return found if device is None else found.to(device)

    def copy_from(self, other: Tensor) -> None:
        """Copy from a tensor of the same shape."""
        self.from_numpy(other._np)

    def _index(self, index: Any) -> Any:
        if index is None:
            index = ()
        items = tuple(index) if isinstance(index, (tuple, list)) else (index,)
        return items[:-1] if items and items[-1] is None else items

    def __getitem__(self, index: Any) -> Any:
        found = self._np[self._index(index)]
        if isinstance(found, np.ndarray) and found.ndim:
            return from_array(found) if found.ndim == len(self.element_shape) else found
        return found.item()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._writable()[self._index(index)] = np.asarray(value)

    def __len__(self) -> int:
        return len(self._np)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.to_numpy(dtype)

    def __repr__(self) -> str:
        what = {0: "", 1: "of vectors ", 2: "of matrices "}[len(self.element_shape)]
        return f"<tensor {what}{self.dtype!r} {self.shape}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (
            Field if isinstance(self, Field) else Ndarray,
            np.array(self._np, order="C"),
            self.element_shape,
            self.layout,
        )


class Field(Tensor):
    """What `qd.field` makes."""


class Ndarray(Tensor):
    """What `qd.ndarray` makes."""


def _unpickled(cls: type[Tensor], array: np.ndarray, element: tuple[int, ...], layout: Any) -> Tensor:
    memory = _memory(array.shape[: array.ndim - len(element)], element, array.dtype, layout)
    memory[...] = array
    return _class(cls)(memory, element, layout)


def _class(cls: type[Tensor]) -> type[Tensor]:
    """The class of tensors where `qd.init` has them."""
    if not settings().device:
        return cls
    from quadrants.api.portable import residents  # only a device needs it

    return residents.on_device(cls)


def _argument(array: np.ndarray, element: tuple[int, ...]) -> TensorArg:
    rows = (None,) * element[0]
    return TensorArg(array, rows, (None,) * element[1] if len(element) > 1 else None)


def make(
    cls: type[Tensor],
    dtype: Any,
    shape: Any,
    element: tuple[int, ...] = (),
    layout: Any = None,
    needs_grad: bool = False,
) -> Tensor:
    """A tensor of zeros."""
    inner = getattr(dtype, "element_shape", None)
    if inner is not None and not element:  # qd.field(vec3, shape=...)
        element, dtype = inner, dtype.dtype
    sizes = _shape(shape)
    order = layout if isinstance(layout, (tuple, list)) else None
    kind = dtype_of(scalar_of_type(dtype))
    if math.prod((*sizes, *element)) >= 2**46:
        raise MemoryError(f"a tensor of the shape {sizes} does not fit into memory")
    where = _class(cls)
    made = where(_memory(sizes, element, kind, order), element, order)
    made.placed = shape is not None or cls is not Field
    if needs_grad:
        made.grad = where(_memory(sizes, element, kind, order), element, order)
    return made


def field(dtype: Any, shape: Any = None, *, needs_grad: bool = False, layout: Any = None, **others: Any) -> Tensor:
    """A field of numbers: a tensor that kernels also use as a global. Without a shape it waits for `qd.root`.

    >>> import quadrants as qd
    >>> x = qd.field(qd.f32, shape=(4, 4))
    >>> x[1, 2] = 3
    >>> x[1, 2]
    3.0
    """
    return make(Field, dtype, shape, (), layout, needs_grad)


def ndarray(dtype: Any, shape: Any = None, *, needs_grad: bool = False, layout: Any = None) -> Tensor:
    """An array of numbers, vectors or matrices.

    >>> import quadrants as qd
    >>> qd.ndarray(qd.i32, (2, 3)).shape
    (2, 3)
    """
    return make(Ndarray, dtype, shape, (), layout, needs_grad)


def tensor(
    dtype: Any,
    shape: Any = None,
    *,
    backend: Backend = Backend.NDARRAY,
    layout: Any = None,
    needs_grad: bool = False,
    **others: Any,
) -> Tensor:
    """A tensor of numbers; `layout` is the order of the axes in memory, the slowest first.

    >>> import quadrants as qd
    >>> qd.tensor(qd.f32, (4, 8), layout=(1, 0)).to_numpy(copy=False).strides
    (4, 16)
    """
    return make(Field if backend is Backend.FIELD else Ndarray, dtype, shape, (), layout, needs_grad)
