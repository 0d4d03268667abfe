"""Random numbers: after the same seed those of NumPy's legacy generator and of Python's `random`, bit for bit in strict mode."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import numpy as np
import pytest

import quadrants

SEEDS = (0, 1, 42, 2**32 - 1)
#: What is drawn after seeding.
DRAWN = (
    "np.random.rand(5)", "np.random.rand()", "np.random.rand(2, 3)", "np.random.random()",
    "np.random.random((2, 3))", "np.random.random_sample(700)",
    "np.random.randn(1001)", "np.random.standard_normal((3, 2))", "np.random.normal()", "np.random.normal(1.5, 0.1, 100)",
    "np.random.uniform(-1, 1, size=(20, 30))", "np.random.uniform(np.arange(4.0), 10)",
    "np.random.normal(np.arange(3.0), np.ones((2, 1)))",
    "np.random.randint(10)", "np.random.randint(-5, 100, 200)", "np.random.randint(0, 2**40, 20)",
    "np.random.randint(0, 2**32, 20)",
    "np.random.randint(0, 7, (3, 3), dtype=np.int32)", "np.random.exponential(2.0, 300)", "np.random.standard_exponential(300)",
    "np.random.lognormal(0.1, 0.5, 100)", "np.random.pareto(2.0, 100)", "np.random.laplace(2.0, 3.0, 100)",
    "np.random.logistic(2.0, 3.0, 100)", "np.random.gumbel(2.0, 3.0, 100)", "np.random.poisson(3.0, 100)",
    "np.random.poisson(30.0, 300)",
    "np.random.poisson(1000.0, 300)", "np.random.permutation(20)", "np.random.permutation(np.arange(12.0).reshape(4, 3))",
    "np.random.choice(10)", "np.random.choice(10, 5)", "np.random.choice(np.arange(9.0), 5, replace=False)",
    "np.random.choice(np.arange(3.0), size=(3, 2), p=[0.2, 0.3, 0.5])", "np.random.choice([5, 6, 7])",
    "(np.random.normal(), np.random.rand(), np.random.normal(), np.random.randint(6))",
)  # fmt: skip
PYTHONS = (
    "random.random()", "random.uniform(1, 3)", "random.randint(1, 6)", "random.randrange(100)", "random.randrange(3, 90, 7)",
    "(random.gauss(0, 1), random.gauss(1.0, 2.0), random.gauss(0.5, 1.5))", "random.expovariate(2.0)", "random.normalvariate(0, 2)",
    "random.getrandbits(40)", "random.choice((3, 4, 5))",
)  # fmt: skip


def function_of(expression, seed):
    return eval(f"lambda s: ({seed}(s), {expression})[1]", {"np": np, "random": random})


def check(function, *args):
    expected = function(*args)
    actual = quadrants.njit(function, fp="strict", cache=False)(*args)
    assert type(actual) is type(expected)
    assert np.asarray(actual).dtype == np.asarray(expected).dtype
    assert np.array_equal(np.asarray(actual), np.asarray(expected)), (expected, actual)


@pytest.mark.parametrize("expression", DRAWN)
def test_numpys(expression):
    function = function_of(expression, "np.random.seed")
    for seed in SEEDS:
        check(function, seed)


@pytest.mark.parametrize("expression", PYTHONS)
def test_pythons(expression):
    function = function_of(expression, "random.seed")
    for seed in (*SEEDS, -3, 2**40):
        check(function, seed)


def test_shuffling():
    def shuffled(seed, items, rows):
        np.random.seed(seed)
        np.random.shuffle(items)
        np.random.shuffle(rows)
        return items, rows

    compiled = quadrants.njit(shuffled, cache=False)
    for seed in SEEDS:
        expected = shuffled(seed, np.arange(12), np.arange(12.0).reshape(4, 3))
        for ours, theirs in zip(compiled(seed, np.arange(12), np.arange(12.0).reshape(4, 3)), expected, strict=True):
            assert np.array_equal(ours, theirs)


def test_weibull_within_rounding():
    """`x ** 0.5` may be a square root here."""
    function = function_of("np.random.weibull(2.0, 100)", "np.random.seed")
    assert np.allclose(quadrants.njit(function, cache=False)(3), function(3), rtol=1e-15, atol=0)


@pytest.mark.parametrize(
    "expression",
    [
        "np.random.normal(0, -1)", "np.random.randint(5, 5)", "np.random.randint(0)", "np.random.choice(0)",
        "np.random.choice(3, 4, False)",
        "np.random.choice(3, p=[0.5, 0.5])", "np.random.choice(2, p=[0.5, 0.6])",
        "np.random.choice(2, p=[1.5, -0.5])", "np.random.seed(-1)",
        "np.random.poisson(-1.0)", "np.random.exponential(-1.0)",
    ],
)  # fmt: skip
def test_errors(expression):
    function = function_of(expression, "np.random.seed")
    with pytest.raises(ValueError):
        function(1)
    with pytest.raises(ValueError):
        quadrants.njit(function, cache=False)(1)


def test_unseeded_numbers_differ_between_processes():
    program = "import numpy as np, quadrants\nprint(quadrants.njit(lambda: np.random.rand(), cache=False)())"
    drawn = {
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    assert len(drawn) == 2


def test_the_state_is_compiled_codes_own():
    draw = quadrants.njit(lambda: np.random.rand(), cache=False)
    start = quadrants.njit(lambda s: np.random.seed(s), cache=False)
    start(7)
    first = draw()
    np.random.seed(7)
    second = draw()
    assert first == np.random.rand() and second != first


PROGRAM = """
import numpy as np, quadrants

@quadrants.njit
def draw():
    np.random.seed(3)
    return np.random.rand()

print(draw(), draw.stats.cache_hits.total())
"""


def test_cached_code_finds_the_state(tmp_path):
    """Another process loads the state's module when it loads the code."""
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    environment = {**os.environ, "QUADRANTS_CACHE_DIR": str(tmp_path / "cache")}
    lines = [
        subprocess.run(
            [sys.executable, path], capture_output=True, text=True, check=True, env=environment
        ).stdout.split()
        for _ in range(2)
    ]
    np.random.seed(3)
    expected = str(np.random.rand())
    assert lines == [[expected, "0"], [expected, "1"]]
