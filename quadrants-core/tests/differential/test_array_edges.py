"""Edges of arrays: what fails half-way leaves the array as it was, limits beyond a type, powers that cannot be, rows compared."""

from __future__ import annotations

import numpy as np
import pytest
from differential.running import check

ROW, TABLE = np.arange(12) * 1.25 - 4, (np.arange(24) * 1.5 - 7).reshape(4, 6)
BYTES, PLACES = np.array([249, 0, 3, 255], np.uint8), np.array([1, 2, 0])

#: Every index is looked at before the first element is written, and the indices are read before they are.
ASSIGNED = {
    "def f(a, i, v):\n    a[i] = v\n    return a": [
        (ROW, np.array([0, 3, 40]), 1.0), (ROW, np.array([0, 3, -40]), 1.0), (ROW, np.array([0, 3, 1]), ROW[:4]),
        (TABLE, np.array([0, 3, 1]), ROW[:4]), (TABLE, np.array([0, 3]), TABLE), (TABLE, np.array([0, 30]), TABLE[:2]),
        (TABLE.reshape(2, 3, 4), np.array([[0, 1]]), TABLE),
    ],
    "def f(a, v):\n    a[a] = v\n    return a": [(PLACES, np.array([2, 1, 1])), (PLACES, 9)],
    "def f(a, v):\n    a[a, 0] = v\n    a[:, a[0]] = 7\n    return a": [(np.array([[1, 2], [0, 1]]), 1)],
    "def f(a, i, j, v):\n    a[i, j] = v\n    a[1:, j] = v\n    a[0, j] = v\n    return a": [
        (TABLE, np.array([0, 1]), np.array([0, 5]), 1.0), (TABLE, np.array([0, 1]), np.array([0, 6]), 1.0),
        (TABLE, np.array([0, 9]), np.array([0, 5]), 1.0), (TABLE, np.array([0, 1]), np.array([0, 5, 2]), 1.0),
        (TABLE, np.array([0, 1]), np.array([0, 5]), ROW[:3]),
    ],
    "def f(a, i, v):\n    np.add.at(a, i, v)\n    return a": [(ROW, np.array([0, 0, 40]), 1.0), (ROW, np.array([0, 0, -1]), ROW[:3])],
    "def f(a, i, j):\n    np.subtract.at(a, (i, j), 1)\n    return a": [(TABLE, PLACES, PLACES), (TABLE, PLACES, PLACES + 4)],
}  # fmt: skip
LIMITS = {
    "lambda a, low, high: (np.clip(a, low, high), a.clip(low, high))": [
        (a, low, high)
        for a in (BYTES, BYTES.view(np.int8), BYTES.astype(np.uint64), BYTES.astype(np.int64), BYTES.astype(np.float32))
        for low, high in ((-1, 3), (0, 300), (-500, 500), (300, 400), (1.5, 2), (-(2**63), 2**63 - 1))
    ],
    "lambda a: (np.clip(a, -1, 300), np.clip(a, -1, 3), a.clip(-5), np.clip(a, None, None))": [(BYTES,), (ROW,)],
    "def f(a):\n    b = np.clip(a, -1, 300)\n    b[0] = 1\n    return a": [(BYTES,)],
    "lambda a: a.clip(300, 400)": [(BYTES,)],
}
#: The check of a constant exponent fails in every element: it stays one of a loop, and an array without elements passes.
POWERS = {
    "lambda a: a**-1": [(PLACES,), (BYTES.view(np.int8),), (ROW,), (TABLE,)],
    "lambda a: np.power(a, -2) + a": [(PLACES,), (ROW,)],
    "def f(a, b):\n    if a.size > 100:\n        b += a**-3\n    return b": [(PLACES, PLACES)],
    "lambda a, k: a**k": [(PLACES, -1), (PLACES, 2)],
}
COMPARED = {
    "lambda a: max(a)": [(np.ones((2, 2)),), (ROW[:, None],), (ROW,), (np.array(3.0),), (np.ones((0, 3)),)],
    "lambda a: min(a)": [(np.ones((2, 2)),), (ROW[::-1, None],), (TABLE[None],), (np.ones((0, 3)),)],
    "lambda a: bool(a)": [(np.empty(0),), (np.empty((0, 3)),), (np.ones((1, 1)),), (ROW,)],
    "def f(a):\n    if not a:\n        return 1\n    return 2": [(np.empty(0),), (np.zeros(1),), (ROW,)],
}
REFUSED = {
    "lambda a, k: (np.partition(a, k)[k], np.argpartition(a, k)[k])": [(ROW, 3), (ROW, -1), (ROW, 12), (ROW, -13)],
    "lambda a: np.partition(a, (1, 9), axis=0)": [(TABLE,)],
    "def f(a):\n    a.partition(40)\n    return a": [(ROW,)],
    "lambda a: np.bincount(a)": [(ROW,), (PLACES.astype(np.uint64),), (PLACES > 0,), (PLACES - 1,), (PLACES[:0],), (PLACES[None],)],
}  # fmt: skip
LINE = np.array([0.0, 0.5, 1.5, 2.0, 4.0])
WRITTEN = {
    "def f(a, b, out):\n    r = np.matmul(a, b, out=out)\n    return r is out, out": [
        (TABLE, TABLE.T, np.zeros((4, 4))), (TABLE, TABLE.T, np.zeros((4, 4), np.float32)), (TABLE, ROW[:6], np.zeros(4)),
    ],
    "lambda a, b, out: np.dot(a, b, out=out)": [
        (TABLE, TABLE.T, np.zeros((4, 4))), (TABLE, TABLE.T, np.zeros((2, 4, 4))), (TABLE, TABLE.T, np.zeros((4, 4), np.float32)),
        (TABLE, TABLE.T, np.zeros((4, 4), order="F")),
    ],
    "lambda a, b: np.dot(a, b)": [(np.ones((2, 3, 4)), np.ones((3, 5))), (np.ones((2, 3, 4)), np.ones(5)), (np.ones(3), np.ones(4))],
    "lambda a: (np.matmul(a, a.T, dtype=np.float64), np.matmul(a, a.T))": [(TABLE.astype(np.int8),)],
    "lambda x, y, w: (np.polyfit(x, y, 2, w=w), np.polyfit(x, y, 1))": [
        (LINE, LINE**2, 1 + LINE), (LINE, LINE**2, LINE[1:]), (LINE, np.stack((LINE, LINE**3), 1), 1 + LINE),
    ],
}  # fmt: skip
MESHES = {
    "lambda a, b: np.meshgrid(a, b, sparse=True)": [(ROW, PLACES)],
    "lambda a, b: tuple(x.sum() for x in np.meshgrid(a, b, b, indexing='ij', sparse=True, copy=False))": [
        (ROW, PLACES)
    ],
}

CUBE = np.arange(24).reshape(2, 3, 4) * 5 % 7
#: An axis that is only known when the function runs: an argument, or the variable of a loop.
ALONG = (
    "lambda a, k: (np.take(a, 1, axis=-1), np.take(a, 0, axis=0), np.take(a, 2, -1, mode='wrap'), k)",
    "lambda a, k: (np.sort(a, axis=k), np.argsort(a, axis=k, kind='stable'), np.flip(a, k), np.roll(a, 1, axis=k))",
    "lambda a, k: (np.diff(a, axis=k), np.gradient(a, 0.5, axis=k), np.trapezoid(a, axis=k), np.cumsum(a, axis=k))",
    "lambda a, k: (np.concatenate((a, a), axis=k), np.stack((a, a), axis=k), np.repeat(a, 2, axis=k), np.append(a, a, k))",
    "lambda a, k: (np.take(a, 0, axis=k), np.take(a, (0, -1), axis=k), np.take_along_axis(a, np.argsort(a, k, 'stable'), k))",
    "lambda a, k: (np.delete(a, 0, axis=k), np.expand_dims(a, k), np.array_split(a, 2, k)[1], np.median(a, axis=k))",
    "def f(a, k):\n    b = a.copy()\n    b.sort(axis=k)\n    for d in range(a.ndim):\n"
    "        b = b + np.roll(a, 1, d) - np.flip(a, axis=-1 - d)\n    return b",
)


@pytest.mark.parametrize("source", ALONG)
def test_axes_known_when_running(source):
    for axis in (0, 1, 2, -1, -3, 3, -4):
        check(source, CUBE, axis)
    check(source, PLACES, 0)
    check(source, TABLE.T, -1)


@pytest.mark.parametrize("source", (*ASSIGNED, *LIMITS, *POWERS, *COMPARED, *REFUSED, *WRITTEN, *MESHES))
def test_edges(source):
    for args in ({**ASSIGNED, **LIMITS, **POWERS, **COMPARED, **REFUSED, **WRITTEN, **MESHES})[source]:
        check(source, *args)
