"""Views: shapes in both orders, reinterpreted bytes, `flat`, windows and strides, and what walks the places of an array."""

from __future__ import annotations

import numpy as np
import pytest
from differential.running import check, compiled

TABLE, CUBE = np.arange(12.0).reshape(3, 4), np.arange(24).reshape(2, 3, 4)
ROW, BYTES = np.array([3.0, 1.0, 2.0, 5.0, 4.0]), np.arange(16, dtype=np.uint8)
FORTRAN, STRIDED = np.asfortranarray(TABLE), np.arange(40.0).reshape(5, 8)[::2, 1::2]
REPEATED, POINT, EMPTY = np.broadcast_to(ROW, (3, 5)), np.array(2.5), np.zeros((0, 4))
LAYOUTS = (TABLE, FORTRAN, STRIDED, TABLE[::-1, ::-1], CUBE, CUBE.transpose(1, 2, 0), REPEATED, ROW[::2], POINT, EMPTY)

ORDERS = (
    "lambda a: (a.ravel('F'), a.flatten('F'), np.ravel(a, order='F'), a.flatten(order='C'), a.ravel('A'))",
    "lambda a: (a.reshape((-1, 1), order='F'), np.reshape(a, -1, order='A'))",
    "lambda a: (a.copy(order='F'), a.copy('C'), a.astype(np.float32, order='F'), np.array(a, order='F'), np.copy(a, 'C'))",
    "lambda a: (a.flags.writeable, a.ravel(), a.strides, a.T.strides, a.nbytes)",
)


@pytest.mark.parametrize("source", ORDERS)
def test_orders(source):
    for array in LAYOUTS:
        check(source, array)


RESHAPES = {
    "lambda a, s: a.reshape(s)": [
        (TABLE, (6, 2)), (TABLE, (6, -1)), (TABLE, (5, 2)), (TABLE, (-1, -1)), (FORTRAN, (-2, 6)), (EMPTY, (2, 0)), (CUBE, (4, 3, 2)),
    ],
    "lambda a, n: a.reshape(n, -1)": [(TABLE, 3), (TABLE, -1), (CUBE.T, 6), (EMPTY, 3)],
    "lambda a: a.reshape(-1, 0)": [(TABLE,)],
    "lambda a: a.reshape(-1, 5)": [(TABLE,), (FORTRAN,)],
    "lambda a: (a.reshape(3, 4, order='F'), a.reshape(2, 3, 2, order='F'))": [(np.arange(12),), (TABLE.T,), (STRIDED,)],
    "lambda a: (a.T.reshape(3, 2, 4), a[:, ::2].reshape(2, 2, 4), a.transpose(1, 0, 2).reshape(3, -1))": [(CUBE,)],
}  # fmt: skip
#: Whatever NumPy gives a view of is written through.
WRITTEN = {
    "def f(a):\n    b = a.reshape(2, 2, 3)\n    b += 1\n    c = a.T.reshape(2, -1)\n    c[0] = 9\n    return a, b, c": [
        (TABLE,), (FORTRAN,), (np.arange(48.0).reshape(3, 4, 4)[:, 0],), (STRIDED,),
    ],
    "def f(a):\n    b = a[::2].reshape(-1, 1)\n    b += 1\n    return a, b.strides": [(ROW,), (TABLE,)],
    "def f(a):\n    b = a.reshape(a.shape)\n    b[0] = 0\n    return a": [(TABLE,), (FORTRAN,), (STRIDED,)],
    "def f(a):\n    b = a.ravel()\n    b[0] = -1\n    return a": [(TABLE,), (ROW,)],
    "def f(a):\n    b = a.view(np.int64)\n    b[0] = 0\n    return a": [(ROW,), (TABLE,), (TABLE.T,)],
}  # fmt: skip
BYTEWISE = {
    "lambda a: (a.view(np.uint8), a.view('f4'), a.view())": [(ROW,), (TABLE,), (CUBE,)],
    "lambda a: a.view(np.complex128)": [(TABLE,), (ROW,), (STRIDED,)],
    "lambda a: a.view(np.uint8)": [(STRIDED,), (POINT,), (ROW[::2],)],
    "lambda a: (a.view(np.int32), a.view(np.float64))": [(BYTES,), (BYTES.reshape(2, 8),)],
    "lambda a: (a.item(1), a.item(-1), a.item(1, 2), a.item((0, 1)))": [(TABLE,), (FORTRAN,)],
    "lambda a: a.item(12)": [(TABLE,), (np.arange(12),)],
    "lambda a: a.item()": [(POINT,), (ROW[:1],), (ROW,), (np.array([[3]], np.int8),)],
}  # fmt: skip
WINDOWS = {
    "lambda a: np.lib.stride_tricks.sliding_window_view(a, 3)": [(ROW,), (BYTES,), (ROW[:2],)],
    "lambda a: np.lib.stride_tricks.sliding_window_view(a, (2, 2)).sum(axis=(2, 3))": [(TABLE,), (STRIDED,)],
    "lambda a: np.lib.stride_tricks.sliding_window_view(a, 2, axis=1)": [(TABLE,), (FORTRAN,)],
    "lambda a: np.lib.stride_tricks.as_strided(a, (3, 2), (8, 8))": [(ROW,)],
    "lambda a: np.lib.stride_tricks.as_strided(a, (2, 3, 3), (0, 8, 0))": [(ROW,)],
}
FLAT = {
    "lambda a: (a.flat[3], a.flat[-1], a.flat[2:5], a.flat[[1, 2]], a.flat[a.flat[:] > 3], len(a.flat))": [
        (TABLE,), (FORTRAN,), (STRIDED,),
    ],
    "lambda a: (np.sum(a.flat), np.array(a.flat), max(a.flat))": [(TABLE,), (FORTRAN,)],
    "lambda a: a.flat[99]": [(TABLE,), (FORTRAN,)],
    "def f(a):\n    a.flat[3] = 7\n    a.flat[5:7] = 1\n    a.flat[[0, 8]] = 5, 6\n    return a": [(TABLE,), (FORTRAN,), (TABLE[::-1],)],
    "def f(a):\n    a.flat = 3\n    a.flat[:] = [1, 2]\n    return a": [(TABLE,), (FORTRAN,)],
    "def f(a): a.flat[-13] = 1": [(TABLE,)],
}  # fmt: skip
WALKS = {
    "def f(a):\n    s = 0.0\n    for x in a.flat: s = s * 2 + x\n    return s": [(TABLE,), (FORTRAN,), (STRIDED,), (POINT,)],
    "def f(a):\n    for i, x in enumerate(a.flat):\n        if x > 5: return i\n    return -1": [(FORTRAN,), (TABLE,)],
    "def f(a):\n    s = 0.0\n    for (i, j), x in np.ndenumerate(a): s += i * 10 + j * x\n    return s": [(TABLE,), (FORTRAN,)],
    "def f(a):\n    for i, x in np.ndenumerate(a): a[i] = x * 2\n    return a": [(TABLE,), (ROW,), (CUBE,), (POINT,)],
    "def f(a):\n    s = 0.0\n    for i, k in enumerate(np.ndindex(a.shape)): s += i * a[k]\n    return s": [(TABLE,), (FORTRAN,)],
    "def f(a):\n    s = 0.0\n    for x, k in zip(a.flat, np.ndindex(a.shape)): s += x * a[k] + k[0]\n    return s": [(FORTRAN,), (CUBE,)],
    "def f(a):\n    s = 0.0\n    for x in np.nditer(a): s = s * 2 + x.item()\n    return s": [(TABLE,), (FORTRAN,), (ROW[::2],)],
}  # fmt: skip
GRIDS = {
    "lambda: (np.mgrid[0:3, 0:2], np.mgrid[0:1:5j], np.mgrid[-1:1:3j, 0:2:2j], np.mgrid[0:4], np.ogrid[0:3, 0:2])": [
        ()
    ],
    "def f(n):\n    x, y = np.mgrid[0:n, 0:n]\n    return x + 10 * y": [(3,)],
    "lambda a: (np.r_[a, 0, a], np.r_[0:3, 5], np.c_[a, a], a[np.s_[1:2]])": [(ROW,)],
    "lambda a: (a[np.ix_([0, 1], [1, 2])], a[np.ix_(np.array([True, False, True]), [0])])": [(TABLE,)],
    "def f(a):\n    a[np.ix_([0, 1], [1, 2])] = 5\n    return a": [(TABLE,), (FORTRAN,)],
}


@pytest.mark.parametrize(
    ("source", "calls"),
    [
        pytest.param(source, calls, id=source.replace("\n", " ")[:60])
        for table in (RESHAPES, WRITTEN, BYTEWISE, WINDOWS, FLAT, WALKS, GRIDS)
        for source, calls in table.items()
    ],
)
def test_row(source, calls):
    for args in calls:
        check(source, *args)


#: Whether these give a view or a copy is a matter of the strides, and of axes with one element.
CONTIGUOUS = (
    "np.ravel(b)",
    "b.ravel('F')",
    "np.ascontiguousarray(b)",
    "np.asfortranarray(b)",
    "b.reshape(-1)",
    "b.T.ravel()",
)
PARTS = ("a", "a[::-1].T", "a[1:2]", "a[:, 1:2]", "a[1:2, ::-1]", "a[1:2, 1:2]", "a[::2]", "a[:0]", "a[1:, :2]")


@pytest.mark.parametrize("call", CONTIGUOUS)
@pytest.mark.parametrize("part", PARTS)
def test_what_is_contiguous_at_run_time_is_a_view(call, part):
    source = f"def f(a):\n    b = {part}\n    c = {call}\n    c[...] = -5\n    return a, c"
    for array in (
        TABLE,
        FORTRAN,
        STRIDED,
        np.zeros((4, 4))[:, 1:2],
        np.zeros((4, 4))[1:2],
        np.zeros((3, 3))[1:-1, 1:-1],
    ):
        check(source, array)


def test_strides_stay_in_the_memory():
    """NumPy lets as_strided look anywhere; compiled code does not."""
    beyond = compiled("lambda a, n: np.lib.stride_tricks.as_strided(a, (n,), (8,))")
    assert beyond(ROW, 5).sum() == 15
    for count in (6, 1 << 40):
        with pytest.raises(ValueError, match="outside of the array's memory"):
            beyond(ROW, count)


def test_what_has_no_order_is_refused():
    with pytest.raises(TypeError, match="order depends on"):
        compiled("def f(a):\n    for x in np.nditer(a): x\n")(STRIDED)
    with pytest.raises(TypeError, match="takes one array"):
        compiled("def f(a):\n    for x, y in np.nditer((a, a)): x\n")(TABLE)
