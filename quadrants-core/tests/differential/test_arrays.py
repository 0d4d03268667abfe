"""Indexing, slicing, masks, stores and element-wise expressions, on arrays of every layout."""

from __future__ import annotations

import numpy as np
import pytest
from differential.running import check

import quadrants

WHOLE, PARTS = np.arange(10), np.linspace(-1, 1, 7)
TABLE, CUBE = np.arange(12.0).reshape(3, 4), np.arange(24).reshape(2, 3, 4)
FORTRAN, STRIDED = np.asfortranarray(TABLE), np.arange(40.0).reshape(5, 8)[::2, 1::2]
REVERSED, TURNED = TABLE[::-1, ::-1], CUBE.transpose(2, 0, 1)
POINT, EMPTY = np.array(2.5), np.zeros((0, 3))
BYTES, COMPLEX = np.arange(6, dtype=np.uint8), np.arange(4) * (1 + 2j)
READONLY = np.arange(5.0)
READONLY.flags.writeable = False
LAYOUTS = (TABLE, FORTRAN, STRIDED, REVERSED)

SLICES = (
    "1:",
    "-3:",
    ":-1",
    "::2",
    "::-1",
    "5:2",
    "2:5:-1",
    "5:2:-1",
    "-100:100",
    "100:",
    "8:1:-3",
    ":",
    "1:1",
    "-20::-1",
    "::-2",
)


def test_slices_of_rank_one():
    for s in SLICES:
        check(f"lambda a: a[{s}]", WHOLE)
    check("lambda a: (" + ", ".join(f"a[{s}]" for s in SLICES) + ")", PARTS[::-1])


BOUNDS = [
    (0, 10, 1), (9, -11, -1), (-3, 3, -2), (3, -3, 2), (100, 0, -7), (0, 0, -1), (2, 8, 0), (2**62, -(2**62), -(2**61)),
    (-(2**63), 2**63 - 1, 2**63 - 1), (2**63 - 1, -(2**63), -(2**63)), (1, 7, 3),
]  # fmt: skip


@pytest.mark.parametrize("bounds", BOUNDS)
def test_slices_of_variables(bounds):
    check("lambda a, i, j, k: a[i:j:k]", WHOLE, *bounds)
    check("lambda a, i, j: a[i:j]", WHOLE, *bounds[:2])


def test_integer_indices():
    indices = [3, -1, 10, -11, np.int64(-2), np.uint8(3), np.int8(-1), 2**63 - 1, np.uint64(2**64 - 1), np.array(3)]
    for index in indices:
        check("lambda a, i: a[i]", WHOLE, index)
    for array in (*LAYOUTS, CUBE, TURNED, READONLY, BYTES):
        check("lambda a, i: a[i]", array, 1)
        check("lambda a, i: a[i]", array, -9)
    for index in ((1, 2), (1,), (-1, -4), (0, 4), (3, 0), ()):
        check("lambda a, t: a[t]", TABLE, index)
    check("lambda a, i: a[i]", EMPTY, 0)


SUBSCRIPTS = (
    "1, 2", "-1, -1", "1", "1, :", "..., 1", "1, ...", "...", "None", "None, 1", "1, None, 2", "()", ":, None, :", "::2, ::-1",
    ":, 1", "1:, 2:", "..., None", "1, 2, ...", "3, 0", "0, 4", "None, ..., None", ":, :", "-1:, ::2", "1, 1:3", ":, -1",
)  # fmt: skip
SUBSCRIPTS_3 = (
    "1",
    "1, 2",
    "..., 1",
    "1, ..., 2",
    ":, 1",
    ":, :, 1",
    ":, 1:, None, ::2",
    "1, 1:, 1",
    "None, 1, :, ::-1",
)


@pytest.mark.parametrize("subscript", SUBSCRIPTS)
def test_subscripts(subscript):
    for array in LAYOUTS:
        check(f"lambda a: a[{subscript}]", array)


@pytest.mark.parametrize("subscript", SUBSCRIPTS_3)
def test_subscripts_of_rank_three(subscript):
    check(f"lambda a: a[{subscript}]", CUBE)
    check(f"lambda a: a[{subscript}]", TURNED)


def test_arrays_of_rank_zero():
    for source in ("lambda a: a[()]", "lambda a: a[...]", "lambda a: a[None]", "lambda a: a + 1", "lambda a: -a * a"):
        check(source, POINT)
    check("def f(a):\n    a[...] = 5\n    a[()] += 1\n    return a.shape, a.ndim, a.size", POINT)


MASKS = {
    "lambda a: a[a > 3]": [(WHOLE,), (TABLE,), (CUBE,), (STRIDED,), (FORTRAN,)],
    "lambda a: a[a > 100]": [(WHOLE,), (TABLE,)],
    "lambda a: a[(a > 2) & ~(a > 7)]": [(TABLE,)],
    "lambda a, m: a[m]": [
        (WHOLE, WHOLE % 2 == 0), (TABLE, np.array([True, False, True])), (WHOLE, np.ones(9, bool)),
        (CUBE, np.array([[True, False, True], [False, False, True]])), (WHOLE, np.zeros(0, bool)), (TABLE, np.zeros((3, 0), bool)), (EMPTY, np.zeros(0, bool)),
    ],
    "lambda a, m: (a[m, 1], a[m, 1:], a[m, ::-2])": [(TABLE, np.array([True, False, True]))],
    "lambda a, m: (a[:, m], a[1, m])": [(TABLE, np.array([True, False, True, True]))],
    "def f(a):\n    a[a > 3] = -1\n    return a": [(WHOLE,), (TABLE,), (STRIDED,), (FORTRAN,)],
    "def f(a):\n    a[a > 3] *= 2\n    a[a > 5] += a[a > 5]\n    return a": [(WHOLE,), (TABLE,)],
    "def f(a, m, v): a[m] = v": [
        (WHOLE, WHOLE % 2 == 0, np.arange(5)), (WHOLE, WHOLE % 2 == 0, np.arange(4)), (WHOLE, WHOLE % 2 == 0, 3.7),
        (TABLE, np.array([True, False, True]), np.arange(4.0)), (TABLE, TABLE > 5, np.array(9.0)), (WHOLE, WHOLE > 4, WHOLE[5:]),
    ],
}  # fmt: skip
INDEX_ARRAYS = {
    "lambda a, i: a[i]": [
        (WHOLE, np.array([1, -1, 3])), (TABLE, np.array([0, 2, 0])), (WHOLE, np.array([[1, 2], [3, 4]])),
        (WHOLE, np.array([10])), (WHOLE, np.array([], int)), (TABLE, np.array([0, 2], np.uint8)), (WHOLE, np.array([-11])),
    ],
    "lambda a: a[[1, 2, 0]]": [(WHOLE,), (TABLE,)],
    "lambda a, i, j: a[i, j]": [
        (TABLE, np.array([0, 1]), np.array([2, 3])), (TABLE, np.array([[0], [1]]), np.array([2, 3])),
        (TABLE, 1, np.array([0, 3])), (TABLE, np.array([0, 3]), 0),
    ],
    "lambda a, i: (a[:, i], a[..., i])": [(TABLE, np.array([0, 2])), (CUBE, np.array([[0, 2]]))],
    "lambda a, i: a[i, :, i]": [(CUBE, np.array([0, 1]))],
    "def f(a, i, v): a[i] = v": [
        (WHOLE, np.array([1, 2]), 5), (WHOLE, np.array([1, 1]), np.array([5, 6])), (WHOLE, np.array([20]), 5),
        (TABLE, np.array([0, 2]), np.arange(4.0)),
    ],
    "def f(a, i):\n    a[i] += 1\n    return a": [(WHOLE, np.array([1, 1, 2]))],
}  # fmt: skip
STORES = {
    "def f(a, b): a[:] = b": [
        (WHOLE, PARTS), (PARTS, PARTS), (TABLE, np.arange(4)), (TABLE, np.arange(3)), (TABLE, np.ones((3, 1))),
        (TABLE, np.ones((1, 3, 4))), (TABLE, 5), (BYTES, 300), (BYTES, -1), (WHOLE, 2.9), (COMPLEX, 2), (EMPTY, 5),
        (TABLE, (1, 2, 3, 4)),
    ],
    "def f(a, v): a[0] = v": [
        (BYTES, 300), (BYTES, -1), (BYTES, 2.7), (BYTES, -2.7), (BYTES, np.int64(300)), (WHOLE, 2.9), (WHOLE, float("nan")),
        (WHOLE, float("inf")), (PARTS, 3), (COMPLEX, 1 + 2j), (np.zeros(2, bool), 5), (np.zeros(2, np.float32), 1e300),
        (np.zeros(2, np.float16), 1e6), (WHOLE, np.array(4)), (WHOLE, True), (EMPTY, 1.0),
    ],
    "def f(a):\n    a[1:] = a[:-1]\n    a[:-1] = a[1:]\n    a[:] = a[::-1]\n    return a": [(WHOLE,), (TABLE,), (STRIDED,), (FORTRAN,)],
    "def f(a):\n    a[:, 1:] = a[:, :-1]\n    a[0] = a[1] + a[2]\n    return a": [(TABLE,), (STRIDED,)],
    "def f(a):\n    a[1:] += a[:-1]\n    a[::2] *= a[::-1][::2]\n    return a": [(WHOLE,), (PARTS,)],
    "def f(a, b):\n    a[0] = b[0]\n    b[1] = a[1] * 2\n    return a is b": [(PARTS, PARTS), (PARTS, PARTS + 1)],
    "def f(a):\n    b = a[1:]\n    b[0] = 100\n    a = a * 2\n    b[1] = 200\n    return a, b": [(WHOLE,)],
    "def f(a):\n    a[0], a[1] = a[1], a[0]\n    return a": [(WHOLE,), (TABLE[0],)],
    "def f(a):\n    for i in range(len(a)): a[i] += a[i - 1]\n    return a": [(WHOLE,)],
    "def f(a):\n    a.T[0] = 5\n    a.reshape(-1)[5] = 9\n    return a": [(TABLE,)],
    "def f(a):\n    a.real = 5\n    a.imag[1] = 3\n    return a": [(COMPLEX,)],
    "def f(a): a[3, 1] = 1": [(TABLE,)],
}  # fmt: skip
EXPRESSIONS = {
    "lambda a, b: a + b * 2 - a / 4": [(TABLE, TABLE), (TABLE, np.arange(4)), (np.arange(3)[:, None], TABLE), (TABLE, np.arange(3))],
    "lambda a: (a.shape, a.ndim, a.size, a.dtype, a.itemsize, a.nbytes, a.strides, len(a))": [(TABLE,), (STRIDED,), (BYTES,)],
    "lambda a: (a.T, a.real, a.ravel(), a.flatten(), a.copy(), a.reshape(2, -1))": [(TABLE,), (STRIDED,), (FORTRAN,)],
    "lambda a: a.astype(np.int32)": [(TABLE / 3,), (BYTES,)],
    "lambda a: np.where(a > 2, a, -a) + np.sqrt(a)": [(TABLE,), (STRIDED,)],
    "lambda a: (a.sum(), a.sum(axis=0), a.mean(axis=1, keepdims=True), a.max(), a.min(axis=-1), a.prod())": [(TABLE,), (CUBE,)],
    "lambda a, b: a is b": [(TABLE, TABLE), (TABLE, FORTRAN)],
    "def f(a):\n    if a.any(): return 1\n    return 0": [(WHOLE,), (WHOLE * 0,)],
    "def f(a):\n    if a: return 1\n    return 0": [(WHOLE,), (WHOLE[3:4],), (np.array(0),)],
    "lambda a: a > 100": [(BYTES,)],
    "lambda a: a < 300": [(BYTES,)],
}  # fmt: skip


@pytest.mark.parametrize(
    ("source", "calls"),
    [
        pytest.param(source, calls, id=source.replace("\n", " ")[:60])
        for table in (MASKS, INDEX_ARRAYS, STORES, EXPRESSIONS)
        for source, calls in table.items()
    ],
)
def test_row(source, calls):
    for args in calls:
        check(source, *args)


def test_identity_and_bases():
    compiled = quadrants.njit(lambda a: (a, a[1:]))
    whole, view = compiled(WHOLE)
    assert whole is WHOLE
    assert np.shares_memory(view, WHOLE)
    assert quadrants.njit(lambda a: a[1:])(READONLY).flags.writeable is False


def test_overlapping_arguments():
    source = "def f(a, b):\n    a[:] = b * 2\n    a += b[::-1]\n    return a"
    base = np.arange(12.0)
    for first, second in ((base[1:], base[:-1]), (base[:-1], base[1:]), (base[::-1], base), (base[:6], base[6:])):
        check(source, first, second)
