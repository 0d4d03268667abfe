"""Portable programs: loops, one and several.

Without annotations of the future: kernels read theirs when they are defined.
"""
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, disallow-untyped-calls=False, disable-error-code="valid-type"

from typing import Any

import numpy as np

from quadrants.backend.conformance.portable.program import Found, Rng, floats, program

# One parallel loop


@program()
def saxpy(qd: Any, rng: Rng) -> Found:
    @qd.kernel
    def run(a: float, x: qd.types.ndarray(), y: qd.types.ndarray()):
        for i in range(x.shape[0]):
            y[i] += a * x[i]

    x, y = floats(rng, 1000), floats(rng, 1000)
    expected = y + np.float32(2.5) * x
    run(2.5, x, y)
    return [(y, expected)]


@program()
def indices_of_a_range(qd: Any, rng: Rng) -> Found:
    @qd.kernel
    def run(x, first: int, last: int):
        for i in range(first, last, 3):
            x[i] = 10 * i
        for i in range(last, first, -7):
            x[i] += 1

    x, expected = np.zeros(300, np.int32), np.zeros(300, np.int32)
    expected[5:290:3] = 10 * np.arange(5, 290, 3)
    expected[290:5:-7] += 1
    run(x, 5, 290)
    return [(x, expected)]


@program()
def nothing_to_do(qd: Any, rng: Rng) -> Found:
    @qd.kernel
    def run(x, n: int):
        total = 7
        for i in range(n):
            x[i] = 1
            total += 1
        for i, j in qd.ndrange(n, 4):
            x[i + j] = 2
        return total

    x = np.zeros(4, np.float32)
    return [(run(x, 0), 7), (run(x, -3), 7), (x, np.zeros(4)), (run(np.zeros(0, np.float32), 0), 7)]


@program()
def nests(qd: Any, rng: Rng) -> Found:
    @qd.kernel
    def run(x, y):
        for i, j in qd.ndrange(x.shape[0], (1, x.shape[1])):
            x[i, j] = 100 * i + j
        for i, j, k in qd.ndrange(2, 3, 50):
            y[i, j, k] = i + 10 * j + 100 * k
        for i, j in qd.ndrange(2, 3, axes=(1, 0)):
            y[i, j, 0] += 1000

    x, y = np.zeros((30, 17), np.int32), np.zeros((2, 3, 50), np.int32)
    i, j = np.mgrid[0:30, 0:17]
    wanted = np.where(j > 0, 100 * i + j, 0)
    a, b, c = np.mgrid[0:2, 0:3, 0:50]
    run(x, y)
    return [(x, wanted), (y, a + 10 * b + 100 * c + 1000 * (c == 0))]


@program()
def loops_over_tensors(qd: Any, rng: Rng) -> Found:
    x, v = qd.field(float, (9, 14)), qd.Vector.field(2, float, 21)

    @qd.kernel
    def run():
        for i, j in x:
            x[i, j] = i - j
        for i in v:
            v[i] = [i, 2 * i]
        for index in qd.grouped(x):
            x[index] += index.x

    run()
    i, j = np.mgrid[0:9, 0:14]
    k = np.arange(21)
    return [(x.to_numpy(), 2 * i - j), (v.to_numpy(), np.stack([k, 2 * k], axis=-1))]


@program()
def branches_and_whiles(qd: Any, rng: Rng) -> Found:
    @qd.kernel
    def collatz(steps):
        for i in range(1, steps.shape[0]):
            n, count = i, 0
            while n != 1:
                if n % 2 == 0:
                    n //= 2
                else:
                    n = 3 * n + 1
                count += 1
                if count > 60:
                    break
            steps[i] = count

    def of(n: int) -> int:
        count = 0
        while n != 1 and count <= 60:
            n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
        return count

    steps = np.zeros(200, np.int32)
    collatz(steps)
    return [(steps[1:], np.array([of(n) for n in range(1, 200)]))]


@program()
def continue_and_inner_loops(qd: Any, rng: Rng) -> Found:
    @qd.kernel
    def run(x, y):
        for i in range(x.shape[0]):
            if x[i, 0] < 0:
                continue
            s = 0
            for j in range(x.shape[1]):
                if x[i, j] == 3:
                    continue
                if x[i, j] > 12:
                    break
                s += x[i, j]
            y[i] = s

    x = rng.integers(-4, 16, (70, 20)).astype(np.int32)
    y, expected = np.full(70, -1, np.int32), np.full(70, -1, np.int32)
    for i in range(70):
        if x[i, 0] >= 0:
            stop = next((k for k in range(20) if x[i, k] > 12), 20)
            expected[i] = x[i, :stop][x[i, :stop] != 3].sum()
    run(x, y)
    return [(y, expected)]


# Several loops, and code between them


@program()
def loops_one_after_another(qd: Any, rng: Rng) -> Found:
    @qd.kernel
    def run(x, y):
        for i in range(x.shape[0]):
            y[i] = x[i] + 1
        for i in range(x.shape[0]):
            x[i] = y[x.shape[0] - 1 - i] * 2
        x[0] = 5
        a = x[1]
        for i in range(2, x.shape[0]):
            x[i] += a

    x, y = np.arange(500, dtype=np.int32), np.zeros(500, np.int32)
    expected = (np.arange(500)[::-1] + 1) * 2
    expected[2:] += expected[1]
    expected[0] = 5
    run(x, y)
    return [(x, expected), (y, np.arange(500) + 1)]


@program()
def conditions_around_loops(qd: Any, rng: Rng) -> Found:
    @qd.kernel
    def run(x, flag: int) -> int:
        if flag > 1:
            for i in range(x.shape[0]):
                x[i] += 10
        elif flag == 1:
            for i in range(x.shape[0]):
                x[i] += 1
        if x[3] > 10:
            for i in range(x.shape[0]):
                x[i] *= 2
            return 1
        for i in range(x.shape[0]):
            x[i] -= 1
        return 0

    x = np.arange(100, dtype=np.int32)
    found = [run(x, 1), run(x, 2), run(x, 0)]
    k = np.arange(100)
    return [(found, [0, 1, 1]), (x, 4 * (k + 10))]


@program()
def loops_in_order(qd: Any, rng: Rng) -> Found:
    @qd.kernel
    def run(x):
        qd.loop_config(serialize=True)
        for i in range(1, x.shape[0]):
            x[i] += x[i - 1]
        k = 0
        while k < 3:
            for i in range(x.shape[0]):
                x[i] += 1
            k += 1

    x = rng.integers(0, 9, 40).astype(np.int32)
    expected = np.cumsum(x) + 3
    run(x)
    return [(x, expected)]


@program()
def variables_handed_on(qd: Any, rng: Rng) -> Found:
    @qd.kernel
    def fibonacci(n: int) -> int:
        a, b = 0, 1
        for _ in range(n):
            a, b = b, a + b
        return a

    @qd.kernel
    def first(x, limit: int) -> int:
        found = -1
        for i in range(x.shape[0]):
            if x[i] > limit:
                found = i
                break
        return found

    x = np.arange(0, 90, 3, dtype=np.int32)
    return [([fibonacci(n) for n in (0, 1, 10)], [0, 1, 55]), ([first(x, 10), first(x, 1000)], [4, -1])]


@program()
def widths_of_blocks(qd: Any, rng: Rng) -> Found:
    @qd.kernel
    def run(x) -> int:
        total = 0
        qd.loop_config(block_dim=32)
        for i in range(x.shape[0]):
            x[i] += i
        qd.loop_config(block_dim=48)
        for i in range(x.shape[0]):
            total += x[i]
        return total

    x = np.ones(700, np.int32)
    found = run(x)
    return [(x, np.arange(700) + 1), (found, 700 * 701 // 2)]
