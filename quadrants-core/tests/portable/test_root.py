"""Fields that are placed in a tree of dense blocks."""

from __future__ import annotations

import numpy as np
import pytest

import quadrants as qd


def test_fields_get_the_shape_of_their_place() -> None:
    x, y = qd.field(float), qd.Vector.field(3, float, needs_grad=True)
    count, cells = qd.field(qd.i32), qd.field(qd.i32)
    qd.root.dense(qd.i, 10).place(x, y)
    grid = qd.root.dense(qd.ij, (4, 5))
    grid.place(count)
    grid.dense(qd.k, 6).place(cells)
    blocked = qd.field(float)
    qd.root.dense(qd.ij, (2, 3)).dense(qd.ij, 4).place(blocked)
    assert x.shape == (10,) and y.shape == y.grad.shape == (10,) and count.shape == (4, 5)
    assert cells.shape == (4, 5, 6) and blocked.shape == (8, 12)

    @qd.kernel
    def fill():
        for i in x:
            y[i] = [i, 0, 1]
            k = qd.atomic_add(count[i % 4, 0], 1)
            cells[i % 4, 0, k] = i

    fill()
    assert np.array_equal(y.to_numpy()[:, 0], range(10)) and count.to_numpy()[:, 0].tolist() == [3, 3, 2, 2]
    assert sorted(cells.to_numpy()[1, 0][:3]) == [1, 5, 9]


def test_what_cannot_be_placed() -> None:
    x = qd.field(float, shape=3)
    with pytest.raises(qd.QuadrantsError, match="no field that waits for a shape"):
        qd.root.dense(qd.i, 10).place(x)
    with pytest.raises(qd.QuadrantsError, match="takes 2 sizes"):
        qd.root.dense(qd.ij, (1, 2, 3))
