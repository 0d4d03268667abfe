"""NumPy's functions with all their parameters: masks, initial values, `out`, axes, methods, and the ones made of several steps."""

from __future__ import annotations

import numpy as np
import pytest
from differential.outcome import run
from differential.running import check, compiled, function_of

import quadrants

TABLE, COUNTS, CUBE = np.arange(12.0).reshape(3, 4), np.arange(12).reshape(3, 4), np.arange(24.0).reshape(2, 3, 4)
ROW, INTS = np.array([3.0, 1.0, 2.0, 5.0, 4.0]), np.array([3, 1, 2, 5, 4, 8, 9, 7, 6, 0])
GAPS, SOME = np.array([1.0, np.nan, 3.0, 2.0]), np.array([3, 1, 3, 1, 2, 2, 2])
SYMMETRIC = np.array([[4.0, 1.0, 2.0], [1.0, 3.0, 0.0], [2.0, 0.0, 5.0]])
GENERAL = np.array([[1.0, 2.0, 0.0], [3.0, -1.0, 1.0], [0.5, 2.0, 4.0]])
STACK = np.stack([SYMMETRIC, GENERAL])

MIXED = {
    "lambda a, b: np.dot(a, b)": [(2.0, TABLE), (np.array(2.0), TABLE), (TABLE, 3)],
    "lambda a, b: (np.arctan2(a, b), np.hypot(a, b), np.copysign(a, b), np.logaddexp(a, b), np.heaviside(a, b), np.divide(a, b))": [
        (np.array([1, 2, 3], first), np.array([2, 2, 2], second))
        for first, second in (
            ("i1", "u1"),
            ("u1", "i2"),
            ("i2", "u2"),
            ("f2", "i1"),
            ("f2", "i2"),
            ("u4", "f4"),
            ("?", "i1"),
        )
    ],
    "lambda a: (a[[]], a[:1, []], a[[True, False, True]], a[[True, False, True], 1])": [(TABLE,)],
    "def f(a):\n    a[[True, False, True]] = 0\n    a[[]] = 5\n    return a": [(TABLE,)],
}
INPLACE = {
    "def f(a, b):\n    a += b\n    return a": [
        (TABLE.astype(kind), TABLE.astype(other)) for kind in ("u1", "i2", "u4", "f4") for other in ("i1", "u1", "i8", "f8")
    ],
    "def f(a, b):\n    a @= b\n    return a": [(SYMMETRIC, GENERAL), (TABLE, TABLE), (COUNTS[:, :3], SYMMETRIC), (ROW, ROW)],
    "lambda a: a ** 2": [(np.ones(3, bool),), (np.arange(3, dtype=np.int8),)],
    "lambda a, o: np.add(a, 1.5, out=o)": [
        (ROW, np.zeros(5, int)), (ROW, np.zeros(5, "f4")), (ROW, np.zeros((2, 5))), (ROW, np.broadcast_to(ROW, (5,))),
    ],
    "def f(a, o):\n    np.sqrt(a, o)\n    np.multiply(a, 2, out=o, where=a > 2)\n    np.add(a, 1, out=o, where=[True, False, True, False, True])\n    return o": [
        (ROW, np.zeros(5)),
    ],
    "lambda a, o: np.less(a, 2, out=o)": [(ROW, np.zeros(5, bool)), (ROW, np.zeros(5, int))],
    "def f(a, b):\n    np.copyto(a, b, where=a > 2)\n    return a": [(TABLE, COUNTS), (COUNTS, TABLE), (TABLE, 7)],
}  # fmt: skip
MASKED = {
    "lambda a: (a.sum(where=a > 2), a.prod(where=a > 9), a.mean(where=a > 2), a.var(where=a > 2), a.any(where=a > 2))": [(TABLE,), (COUNTS,)],
    "lambda a: (np.std(a, axis=1, where=a > 2, ddof=1), np.all(a, axis=0, where=a > 2), np.mean(a, 1, where=a > 0))": [(TABLE,), (TABLE.T,)],
    "lambda a: (a.sum(initial=5), a.max(initial=3), a.min(axis=0, initial=2), a.prod(axis=1, initial=2, keepdims=True))": [(TABLE,), (COUNTS,)],
    "lambda a: (np.max(a, where=a > 2, initial=0), np.min(a, axis=1, where=a > 2, initial=99))": [(TABLE,), (COUNTS,)],
    "lambda a: np.max(a, where=a > 2)": [(TABLE,)],
    "lambda a: (np.min(a, axis=1, initial=9), np.max(a, initial=-1))": [(np.zeros((3, 0)),)],
    "lambda a: np.min(a, axis=0)": [(np.zeros((0, 3)),)],
    "lambda a: (np.var(a, correction=1), np.std(a, axis=0, correction=1), np.nanvar(a, correction=1))": [(TABLE,)],
    "lambda a: (np.add.reduce(a, initial=10), np.maximum.reduce(a, axis=1, initial=5), np.power.outer(a[0], a[1]))": [(TABLE,)],
    "def f(a, o):\n    a.sum(axis=0, out=o)\n    np.maximum.accumulate(a[0], out=o)\n    return o": [(TABLE, np.zeros(4)), (TABLE, np.zeros(4, int))],
    "lambda a: (np.nancumprod(a), np.nancumsum(a), np.cumulative_sum(a), np.cumulative_prod(a, include_initial=True))": [(GAPS,), (ROW,)],
    "lambda a: np.cumulative_sum(a, axis=1, include_initial=True)": [(TABLE,)],
}  # fmt: skip
METHODS = (
    "linear lower higher nearest midpoint hazen weibull median_unbiased normal_unbiased inverted_cdf averaged_inverted_cdf"
    " closest_observation interpolated_inverted_cdf"
).split()


@pytest.mark.parametrize("method", METHODS)
def test_quantiles(method):
    for q in (0.0, 0.1, 0.3, 0.5, 0.75, 1.0):
        check(f"lambda a, q: np.quantile(a, q, method='{method}')", ROW, q)
        check(f"lambda a, q: np.quantile(a, q, method='{method}')", INTS, q)
    check(f"lambda a: np.percentile(a, [10, 30, 90], axis=0, method='{method}')", TABLE)


STATISTICS = {
    "lambda a: (np.nanquantile(a, [0.1, 0.5]), np.nanquantile(a, 0.5, method='lower'), np.nanpercentile(a, 50))": [
        (GAPS,)
    ],
    "lambda a: np.nanpercentile(a, (10, 50), axis=0)": [(TABLE,)],
    "lambda a: np.quantile(a, 0.5, method='best')": [(ROW,)],
    "lambda a, b: (np.histogram2d(a, b, bins=3), np.histogram2d(a, b, bins=(2, 3), range=((0, 6), (0, 6))))": [
        (ROW, ROW[::-1] * 1.0)
    ],
    "lambda a: (np.histogram_bin_edges(a, 5), np.histogram2d(a, a, bins=[0, 2, 4, 6], density=True))": [(ROW,)],
    "lambda a: (np.gradient(a), np.gradient(a, 0.5), np.gradient(a, edge_order=2))": [
        (ROW,),
        (INTS,),
        (ROW.astype("f4"),),
    ],
    "lambda a: (np.gradient(a), np.gradient(a, 0.1, 0.2), np.gradient(a, axis=1), np.gradient(a, 2.0, axis=0))": [
        (TABLE,)
    ],
    "lambda a: (np.gradient(a, axis=(0, 2)), np.gradient(a, 1.0, 2.0, 3.0))": [(CUBE,)],
    "lambda a: np.gradient(a, np.array([0.0, 1.0, 3.0, 4.0, 7.0]), edge_order=2)": [(ROW,)],
    "lambda a: np.gradient(a, np.array([0.0, 1.0, 3.0]), 2.0)": [(TABLE,)],
    "lambda a: np.gradient(a, 1.0, 2.0, 3.0)": [(TABLE,)],
    "lambda a: (np.linspace(a, a * 2, 4), np.linspace(0, a, 3, axis=1), np.logspace(0, 2, 3))": [(ROW,)],
    "lambda a: (np.full((), 3.0), np.spacing(a), np.frexp(a), np.i0(a), np.kaiser(5, 14.0))": [(ROW,)],
}
JOINING = {
    "lambda a: (np.stack(a, axis=1), np.vstack(a), np.hstack(a), np.concatenate(a, axis=1), np.column_stack(a), np.dstack(a))": [(TABLE,)],
    "lambda a: (np.stack(a), np.vstack(a), np.hstack(a), np.concatenate(a, axis=1), np.dstack(a))": [(CUBE,)],
    "def f(a, o):\n    r = np.concatenate((a, a), out=o)\n    np.stack((a, a), out=o.reshape(2, 5))\n    return o, r is o": [(ROW, np.zeros(10))],
    "lambda a: (np.delete(a, [0, 2]), np.insert(a, [1, 1, 3], [7, 8, 9]), np.insert(a, np.array([0, 2]), 5), np.insert(a, [-1], 4))": [(ROW,)],
    "lambda a: (np.insert(a, [0, 2], 5, axis=1), np.delete(a, [0], 1))": [(TABLE,)],
    "lambda a: (np.resize(a, (2, 4)), np.block([[a, a], [a, a]]), np.unwrap(a))": [(ROW,)],
    "lambda a, b: (np.cross(a, b, axis=0), np.cross(a.T, b.T), np.cross(a, b.T, axisa=0, axisb=1))": [(TABLE[:, :3], TABLE[:, 1:])],
    "lambda a: (np.tril_indices_from(a), np.triu_indices_from(a, 1), np.diag_indices_from(a))": [(SYMMETRIC,)],
    "def f(a):\n    np.put_along_axis(a, np.argmax(a, axis=1, keepdims=True), 0, axis=1)\n    return a": [(TABLE,), (TABLE.T,)],
    "lambda a: (np.choose(a % 2, [a, -a]), np.choose(a, (a, a * 2), mode='clip'), np.choose(a, [1, 2, 3], mode='wrap'))": [(SOME,)],
    "lambda a: np.choose(a, [a, -a])": [(SOME,)],
    "lambda a: np.piecewise(a, [a < 2, a >= 3], [0, lambda x: x * x, 7])": [(ROW,)],
    "lambda a: (np.astype(a, np.int32), np.can_cast(np.int64, np.float32), np.min_scalar_type(3) == np.uint8)": [(ROW,)],
}  # fmt: skip
EINSUM = {
    f"lambda a: np.einsum({text})": [(TABLE,), (COUNTS,)]
    for text in (
        "'ij,jk->ik', a, a.T", "'ij,ij->', a, a", "'ij->ji', a", "'ii->', a[:3, :3]", "'ii->i', a[:3, :3]", "'ij->', a",
        "'i,j->ij', a[0], a[1]", "'ij,j', a, a[0]", "'i,i', a[0], a[0]", "'ij,ik,il->jkl', a, a, a", "'...i->...', a",
        "'ij,kj->ik', a, a", "'ij,jk->ij', a, a.T", "'ij,kl->ik', a, a", "'ij,ij->i', a, a[:1]", "'ij->ik', a", "'ijk->i', a",
    )
}  # fmt: skip
EINSUM |= {
    "lambda a, b: np.einsum('...ij,...jk->...ik', a, b)": [(CUBE, CUBE.transpose(0, 2, 1)), (CUBE, TABLE.T)],
    "lambda a: np.einsum('bij,bjk->bik', a, a)": [(STACK,)],
    "lambda a: np.einsum('xyz,yz->x', a, a[0])": [(CUBE.astype("f4"),), (CUBE.astype(complex),)],
    "def f(a):\n    np.einsum('ii->i', a)[...] = 0\n    return a": [(SYMMETRIC,)],
    "lambda a, b: (np.vecdot(a, b), np.matvec(a, b[0]), np.vecmat(b[:, 0], a), np.tensordot(a, b, axes=([0], [0])))": [
        (TABLE, TABLE)
    ],
}
LINALG = {
    "lambda a: (np.linalg.svd(a)[1], np.linalg.svd(a, compute_uv=False), np.linalg.pinv(a), np.linalg.matrix_rank(a))": [
        (STACK,), (STACK[:, :2],), (SYMMETRIC,),
    ],
    "lambda a: (np.linalg.eigvalsh(a), np.linalg.eigh(a).eigenvalues, np.linalg.slogdet(a), np.linalg.cond(a, 1))": [(SYMMETRIC,)],
    "lambda a: (np.linalg.eigvalsh(a), np.linalg.eigh(a)[0])": [(np.stack([SYMMETRIC, SYMMETRIC * 2]),)],
    "def f(a):\n    q, r = np.linalg.qr(a)\n    return np.round(q @ r, 9), np.round(np.abs(r), 9)": [(STACK,), (GENERAL,)],
    "def f(a):\n    u, s, v = np.linalg.svd(a)\n    return np.round(u * s[:, None, :] @ v, 9) + 0.0": [(STACK,)],
    "lambda a: (np.linalg.trace(a), np.linalg.diagonal(a), np.linalg.outer(a[0], a[1]), np.linalg.multi_dot([a, a, a]))": [(GENERAL,)],
    "lambda a: (np.linalg.vector_norm(a), np.linalg.matrix_norm(a), np.linalg.svdvals(a), np.linalg.matmul(a, a))": [(GENERAL,)],
    "lambda a: (np.sort(np.linalg.eigvals(a)), np.linalg.eig(a).eigenvalues.sum())": [(SYMMETRIC,), (np.diag([3.0, 1.0, 2.0]),)],
    "lambda a: np.linalg.eigvals(a)": [(np.array([[1.0, np.nan], [0, 1]]),), (np.zeros((0, 0)),), (ROW,), (TABLE,)],
    "lambda a: np.roots(a)": [(np.array(p),) for p in ([1.0, -3, 2], [0.0, 1, -3, 2, 0], [5.0], [0.0, 0], [1, -3, 2])],
    "lambda: (np.poly([1.0, 2]), np.polyint([1, 2, 3]), np.polydiv([1.0, 5, 6], [1.0, 2]))": [()],
}  # fmt: skip


@pytest.mark.parametrize(
    ("source", "calls"),
    [
        pytest.param(source, calls, id=source.replace("\n", " ")[:60])
        for table in (MIXED, INPLACE, MASKED, STATISTICS, JOINING, EINSUM, LINALG)
        for source, calls in table.items()
    ],
)
def test_row(source, calls):
    """What the interpreter does; where it refuses, the compiler may refuse before anything runs."""
    for args in calls:
        expected = run(function_of(source), args).error
        actual = run(compiled(source), args).error
        if isinstance(actual, quadrants.CompileError):
            assert isinstance(expected, (TypeError, ValueError)), (source, expected, actual)
        else:
            check(source, *args, texts=expected is None)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 9])
@pytest.mark.parametrize("seed", range(3))
def test_eigenvectors(n, seed):
    """A v = v w for random matrices, and the eigenvalues are NumPy's in some order."""
    matrix = np.random.default_rng(seed).normal(size=(n, n)).astype(np.complex128)
    values, vectors = compiled("lambda a: np.linalg.eig(a)")(matrix)
    assert np.allclose(matrix @ vectors, vectors * values, atol=1e-12)
    assert np.allclose(np.abs(vectors).__pow__(2).sum(axis=0), 1.0)
    theirs = list(np.linalg.eigvals(matrix))
    for value in values:
        nearest = min(theirs, key=lambda other: abs(other - value))
        assert abs(nearest - value) < 1e-10
        theirs.remove(nearest)


def test_complex_eigenvalues_of_real_matrices():
    turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    if np.linalg.eigvals(np.eye(2)).dtype.kind == "c":  # NumPy since 2.5
        assert sorted(compiled("lambda a: np.linalg.eigvals(a)")(turn).imag) == pytest.approx([-1.0, 1.0])
        return
    with pytest.raises(ValueError, match=r"pass a.astype\(np.complex128\)"):
        compiled("lambda a: np.linalg.eigvals(a)")(turn)
