"""Products of vectors and matrices against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from library.modes import check, layouts, sample

NUMBERS = tuple(
    np.dtype(name) for name in ("bool", "int32", "uint8", "float16", "float32", "float64", "complex64", "complex128")
)
PAIRS = (
    ((3,), (3,)),
    ((300,), (300,)),
    ((2, 3), (3,)),
    ((3,), (3, 2)),
    ((2, 3), (3, 4)),
    ((0, 3), (3, 4)),
    ((2, 0), (0, 4)),
    ((2, 3, 4), (4,)),
    ((2, 3, 4), (4, 5)),
)


@pytest.mark.parametrize("original", (np.dot, np.matmul), ids=lambda f: f.__name__)
@pytest.mark.parametrize("shapes", PAIRS, ids=str)
def test_dot(mode, original, shapes):
    for dtype in NUMBERS if mode == "python" else NUMBERS[1::3]:
        for a in layouts(sample(dtype, shapes[0]), mode):
            for b in layouts(sample(dtype, shapes[1], seed=1), mode):
                check(mode, original, a, b)


def test_dot_of_mixed_dtypes(mode):
    a = sample(np.dtype(np.int32), (3, 4))
    b = sample(np.dtype(np.float32), (4, 2))
    check(mode, np.dot, a, b)
    check(mode, np.matmul, a, b)
    check(mode, np.dot, a, 2.5)
    check(mode, np.dot, a, b, out=np.empty((3, 2)))


def test_stacks(mode):
    a = sample(np.dtype(float), (2, 3, 4))
    b = sample(np.dtype(float), (2, 4, 5), seed=1)
    check(mode, np.matmul, a, b)
    check(mode, np.matmul, a[:1], b)
    check(mode, np.matmul, a[0], b)
    check(mode, np.matmul, a[0, 0], b)
    check(mode, np.matmul, a, b[0, :, 0])
    check(mode, np.dot, a, b)
    check(mode, np.inner, a, a)


def test_errors(mode):
    for original in (np.dot, np.matmul):
        check(mode, original, np.ones(3), np.ones(4))
        check(mode, original, np.ones((2, 3)), np.ones((2, 4)))
        check(mode, original, np.ones((2, 3)), np.ones(4))
    check(mode, np.matmul, np.ones(3), np.float64(2.0))
    check(mode, np.vdot, np.ones(3), np.ones(4))
    check(mode, np.trace, np.ones(3))
    check(mode, np.diagonal, np.ones((2, 2)), axis1=0, axis2=0)


def test_vector_products(mode):
    for dtype in NUMBERS[1:] if mode == "python" else NUMBERS[5:]:
        a = sample(dtype, (4, 3))
        b = sample(dtype, (4, 3), seed=1)
        check(mode, np.vdot, a, b)
        check(mode, np.inner, a, b)
        check(mode, np.inner, a[0], b[0])
        check(mode, np.inner, a, b[0])
        check(mode, np.outer, a, b)
        check(mode, np.cross, a, b)
        check(mode, np.cross, a[0], b[0])
        check(mode, np.cross, a, b[0])
        check(mode, np.kron, a, b[:2])
        check(mode, np.kron, a[0], b)
        check(mode, np.trace, a)
        check(mode, np.trace, a, offset=1)
        check(mode, np.trace, a, offset=-1)
        check(mode, np.diagonal, a)
        check(mode, np.diagonal, a, offset=-2)
    check(mode, np.trace, np.arange(24).reshape(2, 3, 4), axis1=1, axis2=2)


def test_tensordot(mode):
    a = sample(np.dtype(float), (2, 3, 4))
    b = sample(np.dtype(float), (3, 4, 5), seed=1)
    check(mode, np.tensordot, a, b)
    check(mode, np.tensordot, a, b, axes=2)
    check(mode, np.tensordot, a, b, axes=((1, 2), (0, 1)))
    check(mode, np.tensordot, a, b, axes=((1,), (0,)))
    check(mode, np.tensordot, a, b, axes=(1, 0))
    check(mode, np.tensordot, a, b, axes=0)
    check(mode, np.tensordot, a, b, axes=1)
