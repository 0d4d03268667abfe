"""`qd.kernel` and `qd.func`: arguments, results, loops, control flow; against NumPy and the interpreter."""

from __future__ import annotations

import numpy as np
import pytest

import quadrants as qd


def test_arrays_are_updated_in_place() -> None:
    @qd.kernel
    def saxpy(a: float, x: qd.types.ndarray(), y: qd.types.ndarray(dtype=qd.f32, ndim=1)):
        for i in range(x.shape[0]):
            y[i] += a * x[i]

    x, y = np.arange(1000, dtype=np.float32), np.ones(1000, dtype=np.float32)
    saxpy(2.0, x, y)
    assert np.array_equal(y, 1 + 2 * np.arange(1000, dtype=np.float32))
    saxpy(a=0.5, x=x, y=y)
    assert np.array_equal(y, 1 + 2.5 * np.arange(1000, dtype=np.float32))


def test_several_loops_run_one_after_another() -> None:
    @qd.kernel
    def steps(x, y):
        for i in range(x.shape[0]):
            x[i] = i * 2
        for i in range(x.shape[0]):
            y[i] = x[x.shape[0] - 1 - i]

    x, y = np.zeros(5000, np.int32), np.zeros(5000, np.int32)
    steps(x, y)
    assert np.array_equal(y, (2 * np.arange(5000))[::-1])


def test_results() -> None:
    @qd.kernel
    def number(x) -> qd.f32:
        total = 0.0
        for i in range(x.shape[0]):
            total += x[i]
        return total

    @qd.kernel
    def pair(n: int):
        return n + 1, n * 0.5

    @qd.kernel
    def vector(a: float) -> qd.types.vector(3, qd.f32):
        return qd.Vector([a, a + 1, a + 2])

    x = np.ones(100_000, np.float32)
    assert number(x) == 100_000.0 and type(number(x)) is float
    assert pair(3) == (4, 1.5)
    assert vector(1.0).to_list() == [1.0, 2.0, 3.0]


def test_functions_defaults_keywords_and_early_return() -> None:
    @qd.func
    def sign(x):
        if x < 0:
            return -1
        if x == 0:
            return 0
        return 1

    @qd.func()
    def scaled(x: float, factor: float = 2.0, shift=0.0):
        return x * factor + shift

    @qd.kernel
    def run(x, y, limit: int = 10):
        for i in range(x.shape[0]):
            if i >= limit:
                y[i] = -1
            else:
                y[i] = scaled(x[i], shift=sign(x[i]))

    x = np.linspace(-1, 1, 21).astype(np.float32)
    y = np.zeros(21, np.float32)
    run(x, y)
    expected = np.where(np.arange(21) < 10, 2 * x + np.sign(x), -1)
    assert np.allclose(y, expected)
    run(x, y, limit=21)
    assert np.allclose(y, 2 * x + np.sign(x))


def test_names_defined_in_both_branches_and_types_that_widen() -> None:
    @qd.kernel
    def run(x, y):
        for i in range(x.shape[0]):
            if x[i] > 0:
                z = 1
            else:
                z = 2.5
            w = 0
            w = w + 1.5
            y[i] = z + w

    x, y = np.array([1.0, -1.0], np.float32), np.zeros(2, np.float32)
    run(x, y)
    assert y.tolist() == [2.5, 4.0]


def test_conditions_above_loops_and_while_around_them() -> None:
    @qd.kernel
    def run(x, flag: qd.i32):
        if flag > 0:
            for i in range(x.shape[0]):
                x[i] = i
        k = 0
        while k < 3:
            for i in range(x.shape[0]):
                x[i] += 1
            k += 1

    x = np.zeros(100, np.int64)
    run(x, 1)
    assert np.array_equal(x, np.arange(100) + 3)
    run(x, 0)
    assert np.array_equal(x, np.arange(100) + 6)


def test_ndrange_grouped_and_loop_config() -> None:
    @qd.kernel
    def box(x, seen):
        for i, j in qd.ndrange(x.shape[0], (1, x.shape[1])):
            x[i, j] = 10 * i + j
        for i, j in qd.ndrange(x.shape[0], x.shape[1], axes=(1, 0)):
            x[i, j] += 1
        for index in qd.grouped(qd.ndrange(x.shape[0], x.shape[1])):
            x[index] += index[0] + index.y
        qd.loop_config(serialize=True)
        for i in range(1, x.shape[0]):
            seen[i] = seen[i - 1] + 1

    x, seen = np.zeros((3, 100), np.int32), np.zeros(50, np.int32)
    box(x, seen[:3])
    i, j = np.mgrid[0:3, 0:100]
    assert np.array_equal(x, np.where(j > 0, 10 * i + j, 0) + 1 + i + j)
    assert seen[:3].tolist() == [0, 1, 2]


def test_updates_of_shared_memory_are_atomic() -> None:
    @qd.kernel
    def histogram(x, bins, total):
        for i in range(x.shape[0]):
            bins[x[i]] += 1
            qd.atomic_max(total[0], x[i])
            qd.atomic_add(total[1], 1)

    x = np.random.default_rng(1).integers(0, 16, 200_000).astype(np.int32)
    bins, total = np.zeros(16, np.int32), np.zeros(2, np.int32)
    histogram(x, bins, total)
    assert np.array_equal(bins, np.bincount(x, minlength=16))
    assert total.tolist() == [15, 200_000]


def test_reductions_of_variables() -> None:
    @qd.kernel
    def run(x):
        total, high = 0.0, -1e30
        for i in range(x.shape[0]):
            total += x[i]
            high = max(high, x[i])
        return total, high

    x = np.random.default_rng(1).standard_normal(100_000)
    total, high = run(x)
    assert np.isclose(total, x.sum(), rtol=1e-3, atol=1e-2) and np.isclose(high, x.max())


def test_an_index_out_of_bounds_raises() -> None:
    @qd.kernel
    def run(x, n: int):
        for i in range(n):
            x[i] = 1

    x = np.zeros(4, np.float32)
    run(x, 4)
    with pytest.raises(IndexError):
        run(x, 5)


def test_negative_indices_none_and_closures() -> None:
    shift = 3

    @qd.kernel
    def run(x, more):
        bonus = 1 if more is None else 2
        for i in range(x.shape[0]):
            f = lambda v: v + shift
            x[-1 - i] = f(i) + bonus

    x = np.zeros(5, np.int32)
    run(x, None)
    assert x.tolist() == [8, 7, 6, 5, 4]


def test_init_chooses_the_types_of_numbers() -> None:
    @qd.kernel
    def third(x: float) -> float:
        return x / 3

    try:
        assert third(1.0) == float(np.float32(1) / np.float32(3))
        qd.init(arch=qd.cpu, default_fp=qd.f64, default_ip=qd.i64, cpu_max_num_threads=1, log_level="warn")
        assert third(1.0) == 1 / 3
        qd.reset()
        assert third(1.0) == float(np.float32(1) / np.float32(3))
    finally:
        qd.reset()
    with pytest.raises(qd.QuadrantsError, match="default_fp"):
        qd.init(default_fp=qd.i32)
    with pytest.warns(qd.QuadrantsWarning, match="no option"):
        qd.init(what=3)
    qd.sync()


def test_a_changed_global_is_seen() -> None:
    globals()["SCALE"] = 2

    @qd.kernel
    def run(x):
        for i in range(x.shape[0]):
            x[i] = SCALE  # noqa: F821

    x = np.zeros(3, np.int32)
    for value in (2, 3, 4, 5):
        globals()["SCALE"] = value
        run(x)
        assert x.tolist() == [value] * 3


def test_templates_and_static() -> None:
    @qd.kernel
    def run(x, n: qd.template(), double: qd.template()):
        for i in range(x.shape[0]):
            for k in qd.static(range(n)):
                x[i] += k
            if qd.static(double):
                x[i] *= 2

    x = np.zeros(4, np.int32)
    run(x, 4, False)
    assert x.tolist() == [6] * 4
    run(x, 2, True)
    assert x.tolist() == [14] * 4


def test_functions_change_their_template_arguments() -> None:
    @qd.func
    def grow(v: qd.template(), by):
        v[0] += by
        v.y = 5.0

    @qd.kernel
    def run(x):
        for i in range(x.shape[0]):
            v = qd.Vector([1.0, 2.0])
            grow(v, i)
            x[i] = v[0] * 10 + v[1]

    x = np.zeros(3, np.float32)
    run(x)
    assert x.tolist() == [15.0, 25.0, 35.0]


def test_data_oriented_classes() -> None:
    @qd.data_oriented
    class Wave:
        def __init__(self, n: int) -> None:
            self.n = n
            self.x = qd.field(qd.f32, shape=n)
            self.v = qd.Vector.field(2, qd.f32, shape=n)

        @qd.func
        def height(self, i):
            return self.x[i] * 2

        @qd.kernel
        def fill(self, a: float):
            for i in range(self.n):
                self.x[i] = a * i
                self.v[i] = [self.height(i), i]

    wave, other = Wave(4), Wave(3)
    wave.fill(0.5)
    other.fill(1.0)
    assert wave.x.to_numpy().tolist() == [0.0, 0.5, 1.0, 1.5]
    assert other.v.to_numpy().tolist() == [[0.0, 0.0], [2.0, 1.0], [4.0, 2.0]]


def test_loops_that_end_early_run_in_order() -> None:
    @qd.kernel
    def until(x):
        for i in range(x.shape[0]):
            if i == 3:
                break
            x[i] = 1

    @qd.kernel
    def find(x, v: int) -> int:
        for i in range(x.shape[0]):
            if x[i] == v:
                return i
        return -1

    x = np.zeros(6, np.float32)
    until(x)
    assert x.tolist() == [1, 1, 1, 0, 0, 0]
    assert find(np.arange(10, dtype=np.int32), 7) == 7 and find(np.arange(10, dtype=np.int32), 70) == -1


def test_a_carried_dependence_is_an_error() -> None:
    @qd.kernel
    def prefix(x):
        for i in range(1, x.shape[0]):
            x[i] = x[i] + x[i - 1]

    with pytest.raises(qd.CompileError, match="the outermost loop in line .* cannot be parallel") as caught:
        prefix(np.zeros(5))
    assert "loop_config(serialize=True)" in str(caught.value)


def test_functions_in_lists_variable_arguments_and_shifts() -> None:
    @qd.func
    def up(a):
        return a + 1

    @qd.func
    def twice(a):
        return a * 2

    @qd.func
    def summed(*args):
        s = 0.0
        for a in qd.static(args):
            s += a
        return s

    chain = [up, twice]

    @qd.kernel
    def run(x):
        for i in range(x.shape[0]):
            for k in qd.static(range(2)):
                x[i] = chain[k](x[i])
            x[i] = summed(x[i], 1.0, 2.5)

    @qd.kernel
    def scrambled(x):
        for i in range(x.shape[0]):
            a = qd.u32(i) * qd.u32(747796405) + qd.u32(2891336453)
            w = ((a >> ((a >> 28) + 4)) ^ a) * qd.u32(277803737)
            x[i] = (w >> 22) ^ w

    def expected(i: int) -> int:
        a = (i * 747796405 + 2891336453) % 2**32
        w = (((a >> ((a >> 28) + 4)) ^ a) * 277803737) % 2**32
        return (w >> 22) ^ w

    x, y = np.ones(3, np.float32), np.zeros(9, np.uint32)
    run(x)
    scrambled(y)
    assert x.tolist() == [7.5] * 3 and y.tolist() == [expected(i) for i in range(9)]


def test_conditions() -> None:
    @qd.kernel
    def run(x):
        for i in range(x.shape[0]):
            if 0 < x[i] < 5 and not (x[i] == 3) or x[i] in (7, 9):
                x[i] = -1

    x = np.arange(10.0)
    run(x)
    assert x.tolist() == [0, -1, -1, 3, -1, 5, 6, -1, 8, -1]


def test_struct_methods_change_their_struct() -> None:
    @qd.dataclass
    class Counter:
        n: int
        v: qd.math.vec2

        @qd.func
        def add(self, k):
            self.n += k
            self.v.x += 1

    @qd.kernel
    def run(k: int):
        c = Counter(n=1)
        c.add(k)
        c.add(k)
        return c.n, c.v

    n, v = run(3)
    assert n == 7 and v.to_list() == [2, 0]
    with pytest.raises(qd.QuadrantsError, match="no member 'm'"):
        Counter(m=1)


def test_updates_of_elements_of_its_own_are_plain() -> None:
    @qd.kernel
    def own(x, v):
        for i in range(x.shape[0]):
            x[i] += 2
            for k in range(v.shape[1]):
                v[i, k] -= x[i]

    @qd.kernel
    def others(x, at):
        for i in range(at.shape[0]):
            x[at[i]] += 2

    @qd.kernel
    def moved(x):
        for i in range(x.shape[0] - 1):
            x[i] += 1
            x[i + 1] += 2

    x, v = np.zeros(1000, np.float32), np.zeros((1000, 3), np.float32)
    own(x, v)
    assert (x == 2).all() and (v == -2).all()
    others(x, np.array([1, 1, 999] * 1000))
    assert x[1] == 4002 and x[999] == 2002
    moved(x[10:20])
    assert x[10:20].tolist() == [3, *[5] * 8, 4]

    def has_atomic(kernel) -> bool:
        return " atomic " in "".join(kernel.dispatcher.inspect_ir().values())

    assert not has_atomic(own) and has_atomic(others) and has_atomic(moved)


def test_random_numbers_begin_where_the_seed_says() -> None:
    @qd.kernel
    def draw() -> float:
        return qd.random()

    try:
        qd.init(random_seed=7)
        first = [draw() for _ in range(3)]
        qd.init(random_seed=7)
        assert [draw() for _ in range(3)] == first
        qd.init(random_seed=8)
        assert [draw() for _ in range(3)] != first
    finally:
        qd.reset()


def test_names_of_modules_are_constants_of_the_code() -> None:
    @qd.kernel
    def area(r: float) -> float:
        return qd.math.pi * r**2

    assert np.isclose(area(2.0), 4 * np.pi) and np.isclose(area(1.0), np.pi)
    assert sum(area.dispatcher.stats.cache_misses.values()) + sum(area.dispatcher.stats.cache_hits.values()) == 1
    assert isinstance(qd.field(int, 3), qd.Tensor) and not isinstance(np.zeros(3), qd.Tensor)


def test_updates_of_one_element_are_reduced() -> None:
    """Each thread adds to a part of its own; the module holds together after all passes."""
    from quadrants.ir.parser import parse_module
    from quadrants.ir.spec import verify

    total, high = qd.field(float, ()), qd.field(qd.i32, ())

    @qd.kernel
    def run(x, count):
        for i in range(x.shape[0]):
            total[None] += x[i]
            if x[i] > 0.5:
                count[None] += 1
            for k in range(3):
                high[None] |= k

    x = np.random.default_rng(1).random(50_000).astype(np.float32)
    count = np.zeros((), np.int64)
    total[None] = 1
    run(x, count)
    assert np.isclose(total[None], x.sum() + 1, rtol=1e-4) and count[()] == (x > 0.5).sum() and high[None] == 3
    (text,) = run.dispatcher.inspect_ir().values()
    verify(parse_module(text))
    assert text.count("var.set") == 3

    @qd.kernel
    def before(x, y):
        for i in range(x.shape[0]):
            y[i] = qd.atomic_add(total[None], 1)

    y = np.zeros(5000, np.int32)
    total[None] = 0
    before(y, y)
    assert sorted(y) == list(range(5000))  # who wants the value from before gets the element itself
