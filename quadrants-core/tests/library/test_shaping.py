"""Joining, repeating, rearranging; diagonals and triangles; against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from library.modes import check, layouts, sample

A = sample(np.dtype(float), (3, 4))
B = sample(np.dtype(np.int32), (3, 4), seed=1)
T = sample(np.dtype(float), (2, 3, 4))
V = sample(np.dtype(float), (5,))


def test_concatenate(mode):
    for axis in (0, 1, -1, None):
        check(mode, np.concatenate, (A, B), axis=axis)
    check(mode, np.concatenate, (V,))
    check(mode, np.concatenate, (V, V[:0], V[::-1]))
    check(mode, np.concatenate, (T, T[:1]), axis=0)
    check(mode, np.concatenate, (np.asfortranarray(A), A[:, ::2]), axis=1)
    check(mode, np.concatenate, (A, A), dtype=np.float32)


def test_concatenate_errors(mode):
    check(mode, np.concatenate, (A, A[:, :2]))
    check(mode, np.concatenate, (A, A), axis=2)


def test_concatenate_of_different_ranks():
    check("python", np.concatenate, (A, V))
    check("python", np.concatenate, (np.float64(1.0), np.float64(2.0)))


def test_stacks(mode):
    for axis in (0, 1, 2, -1):
        check(mode, np.stack, (A, B), axis=axis)
    check(mode, np.stack, (A, A[:2]))
    for original in (np.hstack, np.vstack, np.dstack, np.column_stack):
        check(mode, original, (A, B))
        check(mode, original, (V, V))
    check(mode, np.column_stack, (V, sample(np.dtype(float), (5, 2))))
    check(mode, np.hstack, (T, T))


def test_append_repeat_tile(mode):
    check(mode, np.append, V, 3.5)
    check(mode, np.append, A, B)
    check(mode, np.append, A, B, axis=0)
    check(mode, np.repeat, A, 2)
    check(mode, np.repeat, A, 3, axis=1)
    check(mode, np.repeat, A, np.array([0, 2, 1]), axis=0)
    check(mode, np.repeat, V, -1)
    for reps in (2, 0, (2,), (2, 3), (2, 1, 2)):
        check(mode, np.tile, V, reps=reps)
        check(mode, np.tile, A, reps=reps)


def test_roll(mode):
    for shift in (0, 1, -2, 7):
        check(mode, np.roll, V, shift)
        check(mode, np.roll, A, shift)
        check(mode, np.roll, A, shift, axis=1)
    check(mode, np.roll, A, (1, 2), axis=(0, 1))
    check(mode, np.roll, A, 1, axis=(0, 1))
    check(mode, np.roll, V[:0], 3)


def test_flips(mode):
    for axis in (None, 0, 1, -1, (0, 1)):
        check(mode, np.flip, A, axis=axis)
    for original in (np.fliplr, np.flipud):
        check(mode, original, A)
        check(mode, original, T)
    for k in (0, 1, 2, 3, -1):
        check(mode, np.rot90, A, k=k)
    check(mode, np.rot90, T, k=1, axes=(1, 2))


def test_axes(mode):
    for axis in (0, 1, -1, (0, 1), (0, -1)):
        check(mode, np.expand_dims, V, axis=axis)
        check(mode, np.expand_dims, A, axis=axis)
    check(mode, np.squeeze, A[:1], axis=0)
    check(mode, np.squeeze, T[:1, :, :1], axis=(0, 2))
    check(mode, np.squeeze, A, axis=0)
    check(mode, np.swapaxes, T, axis1=0, axis2=2)
    check(mode, np.swapaxes, T, axis1=-1, axis2=1)
    check(mode, np.moveaxis, T, source=0, destination=-1)
    check(mode, np.moveaxis, T, source=(0, 1), destination=(-1, 0))
    check(mode, np.moveaxis, T, source=2, destination=0)
    for original in (np.atleast_1d, np.atleast_2d, np.atleast_3d):
        for x in (2.5, V, A, T):
            check(mode, original, x)
    check(mode, np.atleast_2d, V, A)


def test_broadcasting(mode):
    check(mode, np.broadcast_arrays, A, A[:1], A[:, :1])
    check(mode, np.broadcast_shapes, (3, 1), (4,), (2, 1, 1))
    check(mode, np.meshgrid, V, V[:3])
    check(mode, np.meshgrid, V, V[:3], indexing="ij")
    check(mode, np.meshgrid, V, V[:3], V[:2])


def test_views_are_views():
    from quadrants.library import shaping

    for view in (
        shaping.flip(A),
        shaping.rot90(A),
        shaping.expand_dims(A, 0),
        shaping.swapaxes(A, 0, 1),
        shaping.squeeze(A[:1], 0),
        shaping.at_least(V, 2),
    ):
        assert np.shares_memory(view, A) or np.shares_memory(view, V)


def test_diagonals(mode):
    for k in (-4, -1, 0, 1, 5):
        check(mode, np.diag, V, k)
        check(mode, np.diag, A, k)
        check(mode, np.diagflat, A, k)
        check(mode, np.tri, 3, 4, k)
        for original in (np.tril, np.triu):
            check(mode, original, A, k)
        for original in (np.tril_indices, np.triu_indices):
            check(mode, original, 4, k, 3)
    check(mode, np.tril, V)
    check(mode, np.triu, T)
    check(mode, np.tri, 3, dtype=np.int32)
    check(mode, np.vander, V)
    check(mode, np.vander, V, 3)
    check(mode, np.vander, np.arange(4), increasing=True)


@pytest.mark.parametrize("shape", ((3, 3), (2, 4), (5, 3), (7, 2), (3, 3, 3)), ids=str)
@pytest.mark.parametrize("wrap", (False, True))
def test_fill_diagonal(shape, wrap):
    from quadrants.library.diagonals import fill_diagonal

    for value in (5.0, np.array([1.0, 2.0])):
        got = np.zeros(shape)
        want = np.zeros(shape)
        fill_diagonal(got, value, wrap)
        np.fill_diagonal(want, value, wrap)
        assert np.array_equal(got, want)


def test_every_layout_joins(mode):
    for a in layouts(A, mode):
        check(mode, np.vstack, (a, a))
        check(mode, np.roll, a, 1, axis=0)
        check(mode, np.tile, a, reps=(2, 2))
