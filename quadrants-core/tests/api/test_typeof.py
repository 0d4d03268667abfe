from __future__ import annotations

import collections
import decimal
import enum
import math
import sys
import types
from typing import Any, NamedTuple

import numpy as np
import pytest

from quadrants.api.coerce import coerce
from quadrants.api.typeof import typeof
from quadrants.diagnostics import Code, QuadrantsError
from quadrants.types import (
    NONE,
    PYBOOL,
    PYCOMPLEX,
    PYFLOAT,
    PYINT,
    STR,
    ArrayType,
    LiteralType,
    NamedTupleType,
    TupleType,
)
from quadrants.types.scalar import SCALARS


class Point(NamedTuple):
    x: float
    y: int


class Derived(Point):
    @property
    def norm(self) -> float:
        return math.hypot(self.x, self.y)


Old = collections.namedtuple("Old", "a b")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, PYBOOL),
        (1, PYINT),
        (-(2**63), PYINT),
        (2**63 - 1, PYINT),
        (1.5, PYFLOAT),
        (1j, PYCOMPLEX),
        (None, NONE),
        ("text", STR),
        ((), TupleType(())),
        ((1, (2.0, None)), TupleType((PYINT, TupleType((PYFLOAT, NONE))))),
        (Point(1.0, 2), NamedTupleType((PYFLOAT, PYINT), ("x", "y"), Point)),
        (Derived(1.0, 2), NamedTupleType((PYFLOAT, PYINT), ("x", "y"), Derived)),
        (Old(1, "s"), NamedTupleType((PYINT, STR), ("a", "b"), Old)),
    ],
)
def test_python_values(value: object, expected: object) -> None:
    assert typeof(value) == expected


@pytest.mark.parametrize("char", "?bhilqBHILQefdFD")
def test_numpy_scalars_and_arrays_of_every_dtype(char: str) -> None:
    dtype = np.dtype(char)
    name = {"b": "bool", "i": "i", "u": "u", "f": "f", "c": "c"}[dtype.kind]
    scalar = SCALARS[name if name == "bool" else f"{name}{dtype.itemsize * 8}"]
    assert typeof(dtype.type(1)) == scalar
    assert typeof(np.zeros((2, 2), dtype)) == ArrayType(scalar, 2, "C")


def test_layouts() -> None:
    a = np.zeros((3, 4, 5))
    layouts = {
        "C": [
            a,
            a[0],
            a[:1, :, :],
            np.zeros(()),
            np.zeros(0)[::2],
            np.zeros((0, 3)).T,
            np.zeros(1)[::2],
            a[0, 0],
            a[:, :, :1][0, 0],
        ],
        "F": [a.T, np.zeros((3, 2), order="F")],
        "A": [
            a[::2],
            a[:, :, ::2],
            a[0, 0, ::2],
            a.transpose(1, 0, 2),
            a[0, 0, ::-1],
            np.broadcast_to(np.zeros(1), (3,)),
        ],
    }
    for layout, arrays in layouts.items():
        for array in arrays:
            assert typeof(array).layout == layout, (array.shape, array.strides)  # type: ignore[attr-defined]


def test_readonly() -> None:
    array = np.zeros(3)
    array.flags.writeable = False
    assert typeof(array) == ArrayType(SCALARS["f64"], 1, "C", readonly=True)


def plain() -> None: ...


@pytest.mark.parametrize(
    "value", [plain, len, math.sin, np.sin, np.sum, int, np.float32, math, np.dtype("f4"), Point, ValueError]
)
def test_literals_are_known_by_identity(value: object) -> None:
    assert typeof(value) == LiteralType(value)
    assert typeof(value) != LiteralType(abs)


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        ([1, 2], "np.array"),
        ({"a": 1}, "named tuple"),
        ({1}, "sorted"),
        (b"x", "frombuffer"),
        (range(3), "np.arange"),
        (decimal.Decimal(1), "float(value)"),
        ((i for i in range(3)), "np.fromiter"),
        ("abc".upper, "pass"),
        (np.longdouble(1), "np.float64"),
        (np.datetime64("2020-01-01"), "astype"),
        (np.array(["a"]), "numeric dtype"),
        (np.array([object()]), "astype(np.float64)"),
        (np.zeros(3, "f4,i4"), "value['name']"),
        (np.zeros(3, ">f8"), "newbyteorder"),
        (np.zeros(3, np.longdouble), "astype(np.float64)"),
        (np.zeros(17, np.uint8)[1:].view(np.float64), "copy()"),
        (np.zeros(3, "M8[s]"), "np.int64"),
        (np.matrix([[1]]), "np.asarray"),
        (np.ma.zeros(3), "filled"),
        (types.SimpleNamespace(), "NumPy arrays"),
    ],
)
def test_refused_with_the_way_out(value: object, hint: str) -> None:
    with pytest.raises(QuadrantsError) as caught:
        typeof(coerce(value, "argument 'x' of f()"), "argument 'x' of f()")
    assert caught.value.code is Code.UNSUPPORTED_TYPE
    assert isinstance(caught.value, TypeError)
    assert "argument 'x' of f()" in str(caught.value)
    assert hint in (caught.value.hint or "")


def test_bound_method_of_a_builtin_object_is_refused() -> None:
    with pytest.raises(QuadrantsError, match="method"):
        typeof([].append)


def test_names_the_item_of_a_tuple() -> None:
    with pytest.raises(QuadrantsError, match=r"argument 'x'\[1\]\.y is of type list"):
        typeof((0, Point(1.0, [])), "argument 'x'")  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 10**400])
def test_wide_int(value: int) -> None:
    with pytest.raises(OverflowError, match="argument 'n'.*64 bits"):
        typeof(value, "argument 'n'")


class Color(enum.IntEnum):
    RED = 1


class Exporter:
    """A DLPack object of before version 1."""

    def __init__(self, array: np.ndarray, device: tuple[int, int] = (1, 0)) -> None:
        self.array, self.device = array, device

    def __dlpack__(self, *, stream: object = None) -> Any:
        return self.array.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device


class Interface:
    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.__array_interface__ = array.__array_interface__


@pytest.mark.parametrize("wrap", [Exporter, Interface, lambda a: a.view(type("Sub", (np.ndarray,), {}))])
def test_objects_that_share_their_memory(wrap: Any) -> None:
    array = np.arange(4.0)
    shared = coerce(wrap(array))
    assert type(shared) is np.ndarray
    assert typeof(shared) == ArrayType(SCALARS["f64"], 1, "C")
    shared[1] = 9
    assert array[1] == 9


def test_inside_tuples() -> None:
    array = np.zeros(3)
    value = (1, Exporter(array), Point(Exporter(array), 2))  # type: ignore[arg-type]
    assert str(typeof(coerce(value))).count("array<f64, 1, C>") == 2
    untouched = (1, 2.0)
    assert coerce(untouched) is untouched


def test_read_only_memory_stays_so() -> None:
    array = np.zeros(3)
    array.flags.writeable = False
    assert typeof(coerce(Interface(array))).readonly  # type: ignore[attr-defined]


def test_object_on_a_gpu() -> None:
    with pytest.raises(QuadrantsError, match="CUDA GPU") as caught:
        coerce(Exporter(np.zeros(3), (2, 0)), "argument 'x'")
    assert "copy it to the CPU" in (caught.value.hint or "")


def test_memory_map(tmp_path: Any) -> None:
    mapped = np.memmap(tmp_path / "data", dtype="f8", mode="w+", shape=(5,))
    shared = coerce(mapped)
    shared[:] = 3
    assert type(shared) is np.ndarray and mapped[4] == 3


def test_int_enum() -> None:
    assert coerce(Color.RED) == 1 and type(coerce(Color.RED)) is int


def test_tensor_of_a_loaded_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for PyTorch: tensors are recognised through `sys.modules`, never by an import."""

    class Tensor:
        def __init__(self, array: np.ndarray | None) -> None:
            self.array = array

        def numpy(self) -> np.ndarray:
            if self.array is None:
                raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
            return self.array

    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(Tensor=Tensor))  # type: ignore[arg-type]
    array = np.zeros(3)
    assert coerce(Tensor(array)) is array
    with pytest.raises(QuadrantsError, match="requires grad"):
        coerce(Tensor(None), "argument 'x'")
