"""What errors of the portable language say: the code, the message, and the hint where there is one."""

from __future__ import annotations

import numpy as np
import pytest

import quadrants as qd

X = qd.field(float, 4)
V = qd.Vector.field(3, float, 4)
M = qd.Matrix.field(2, 2, float, ())


def letter():
    return V[0].w


def unknown_method():
    return V[0].foo()


def wrong_size():
    V[1] = qd.Vector([1, 2])


def no_number():
    V[0].x = qd.Vector([1, 2])


def sizes():
    return V[0] + qd.Vector([1, 2])


def product():
    return M[None] @ V[0]


def truth():
    return 1 if V[0] == V[1] else 0


def not_static(n):
    for i in qd.static(range(n)):
        X[i] = 1


def static_element():
    return qd.static(X[0])


def loop_option():
    qd.loop_config(foo=3)


def lost_update():
    qd.atomic_add(X[0] + 1, 2)


def too_many_indices():
    X[0, 1] = 2


def index_of_tensor():
    V[0, 1] = 2


def static_assertion():
    qd.static_assert(1 > 2, "one is not more than two")


def inverse():
    return qd.Matrix.zero(float, 5, 5).inverse()


def not_square():
    return qd.Matrix.zero(float, 2, 3).trace()


def atomic_of_floats():
    for i in range(4):
        X[0] &= i


def bits():
    return qd.bit_cast(X[0], qd.i64)


CASES = [
    (letter, "QD202: vector(3, float32) has no 'w'"),
    (unknown_method, "QD202: vector(3, float32) has no 'foo'"),
    (wrong_size, "QD201: vector(2, int) is put where 3 goes"),
    (no_number, "QD201: vector(2, int) is put where a number goes"),
    (sizes, "QD208: vectors and matrices of different sizes do not go together: 2 and 3"),
    (product, "QD208: @ does not multiply matrix(2, 2, float32) and vector(3, float32)"),
    (truth, "QD227: the truth of vector(3, bool) is not clear"),
    (static_element, "QD301: static() takes what is known when the kernel is compiled, not float32"),
    (loop_option, "QD204: loop_config() has no option 'foo'"),
    (lost_update, "QD223: float32 is in no variable, so that atomic_add() has no effect"),
    (too_many_indices, "QD209: too many indices for array: array is 1-dimensional, but 2 were indexed"),
    (index_of_tensor, "QD209: a tensor of rank 1 takes 1 integer as its index, not 2"),
    (static_assertion, "static_assert() does not hold: one is not more than two"),
    (inverse, "QD208: inverse() is of matrices of up to 4 rows, not of 5"),
    (not_square, "QD208: trace() is of square matrices, not of 2 x 3"),
    (atomic_of_floats, "QD208"),
    (bits, "bit_cast() keeps the bits: f32 and i64 have different sizes"),
]


@pytest.mark.parametrize("body, expected", CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_the_message(body, expected) -> None:
    with pytest.raises(qd.CompileError) as caught:
        qd.kernel(body)()
    assert expected in str(caught.value)
    assert f" in {body.__name__}" in str(caught.value)  # where it is


def test_bounds_of_static_loops() -> None:
    with pytest.raises(qd.CompileError, match="static\\(\\) takes what is known when the kernel is compiled") as caught:
        qd.kernel(not_static)(3)
    assert "n: qd.template()" in str(caught.value)


def test_names_of_kernels_on_the_host() -> None:
    for name in ("atomic_add", "loop_config", "bit_cast"):
        with pytest.raises(qd.QuadrantsError, match=f"'{name}' means something in a kernel only"):
            getattr(qd, name)(1, 2)
    with pytest.raises(qd.QuadrantsError, match="a kernel has no option 'speed'"):
        qd.kernel(speed=3)
    with pytest.raises(qd.QuadrantsError, match="is not a Python function"):
        qd.kernel(3)
    with pytest.raises(qd.QuadrantsError, match="is not the type of a number"):
        qd.field("text", 3)
    with pytest.raises(qd.QuadrantsError, match="negative size"):
        qd.field(float, -3)
    with pytest.raises(qd.QuadrantsError, match="does not name each of the 2 axes"):
        qd.tensor(float, (2, 3), layout=(0, 0))


def test_run_time_errors() -> None:
    @qd.kernel
    def element(k: int) -> float:
        v = qd.Vector([1.0, 2.0])
        return v[k]

    @qd.kernel
    def rows(v: qd.types.vector(3, float)) -> float:
        return v.sum()

    assert element(-1) == 2
    with pytest.raises(IndexError):
        element(2)
    assert rows(np.ones(3)) == 3
    with pytest.raises(ValueError, match="too many values"):
        rows(np.ones(4))
