"""Portable programs: reductions, results, atomic steps.

Without annotations of the future: kernels read theirs when they are defined.
"""
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, disallow-untyped-calls=False, disable-error-code="valid-type"

from typing import Any

import numpy as np

from quadrants.backend.conformance.portable.program import Found, Rng, floats, program

# Reductions and results


@program(rtol=1e-5)
def sums_and_extremes(qd: Any, rng: Rng) -> Found:
    @qd.kernel
    def run(x):
        total, low, high, product = 10.0, 1e30, -1e30, 1.0
        for i in range(x.shape[0]):
            total += x[i]
            low = min(low, x[i])
            high = max(high, x[i])
            if i < 5:
                product *= 2.0
        return total, low, high, product

    x = rng.standard_normal(20_000).astype(np.float32)
    total, low, high, product = run(x)
    exact = x.astype(np.float64).sum() + 10
    return [(np.array([total, 200.0]), np.array([exact, 200.0])), ([low, high, product], [x.min(), x.max(), 32.0])]


@program()
def sums_of_integers(qd: Any, rng: Rng) -> Found:
    @qd.kernel
    def run(x):
        count, bits, odd = 0, 0, 0
        for i in range(x.shape[0]):
            if x[i] > 3:
                count += 1
            bits |= x[i]
            odd ^= x[i]
        return count, bits, odd

    x = rng.integers(0, 1 << 20, 3000).astype(np.int32)
    return [(list(run(x)), [(x > 3).sum(), np.bitwise_or.reduce(x), np.bitwise_xor.reduce(x)])]


@program()
def places_of_extremes(qd: Any, rng: Rng) -> Found:
    @qd.kernel
    def run(x):
        best, place = -1, -1
        for i in range(x.shape[0]):
            if x[i] > best:
                best = x[i]
                place = i
        return best, place

    x = rng.integers(0, 50, 5000).astype(np.int32)
    return [(list(run(x)), [x.max(), x.argmax()]), (list(run(x[:0])), [-1, -1])]


@program()
def last_values(qd: Any, rng: Rng) -> Found:
    @qd.kernel
    def run(x, n: int):
        last = -1
        for i in range(n):
            last = x[i] * 2
        return last

    x = rng.integers(0, 50, 777).astype(np.int32)
    return [([run(x, 777), run(x, 1), run(x, 0)], [2 * x[776], 2 * x[0], -1])]


@program()
def results_of_kernels(qd: Any, rng: Rng) -> Found:
    vec3 = qd.types.vector(3, float)

    @qd.kernel
    def vector(a: float) -> vec3:
        return qd.Vector([a, a + 1, 2 * a])

    @qd.kernel
    def of_arguments(a: int, b: float, c: bool):
        return a + 1, b * 2, not c

    @qd.kernel
    def element(x, i: int):
        return x[i]

    x = floats(rng, 9)
    a, b, c = of_arguments(3, 1.5, True)
    found = [isinstance(a, int), isinstance(b, float), c is False, type(element(x, 4)) is float]
    return [(vector(1.5).to_list(), [1.5, 2.5, 3.0]), ([a, b], [4, 3.0]), (found, [True] * 4), (element(x, 4), x[4])]


# Atomics


@program()
def histogram(qd: Any, rng: Rng) -> Found:
    @qd.kernel
    def run(x, bins):
        for i in range(x.shape[0]):
            bins[x[i]] += 1

    x, bins = rng.integers(0, 10, 5000).astype(np.int32), np.zeros(10, np.int32)
    run(x, bins)
    return [(bins, np.bincount(x, minlength=10))]


@program()
def atomicfloats(qd: Any, rng: Rng) -> Found:
    total, low = qd.field(float, ()), qd.field(float, 3)
    v = qd.Vector.field(2, float, ())

    @qd.kernel
    def run(x):
        for i in range(x.shape[0]):
            total[None] += x[i]
            qd.atomic_min(low[i % 3], x[i])
            v[None] += [1.0, x[i]]

    x = floats(rng, 900)
    total[None] = 1.0
    run(x)
    least = np.minimum([x[k::3].min() for k in range(3)], 0)
    return [(total[None], x.sum() + 1), (low.to_numpy(), least), (v.to_numpy(), [900, x.sum()])]


@program()
def old_values_of_atomics(qd: Any, rng: Rng) -> Found:
    count = qd.field(qd.i32, ())

    @qd.kernel
    def compact(x, out):
        for i in range(x.shape[0]):
            if x[i] % 3 == 0:
                out[qd.atomic_add(count[None], 1)] = x[i]

    x, out = rng.permutation(400).astype(np.int32), np.full(400, -1, np.int32)
    compact(x, out)
    n = count[None]
    return [(n, 134), (np.sort(out[:n]), np.arange(0, 400, 3)), (out[n:], np.full(400 - n, -1))]


@program()
def updates_of_own_elements(qd: Any, rng: Rng) -> Found:
    @qd.kernel
    def run(x, y):
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                y[i] += x[i, j]
        for i, j in qd.ndrange(x.shape[0], x.shape[1]):
            y[i] += x[i, j]
            x[i, j] *= 2

    x = floats(rng, 30, 12)
    y, expected = np.zeros(30, np.float32), 2 * x.sum(1)
    doubled = 2 * x
    run(x, y)
    return [(y, expected), (x, doubled)]
