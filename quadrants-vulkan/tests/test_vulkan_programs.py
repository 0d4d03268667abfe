"""Whole programs of the portable language on Vulkan devices: each asserts its own results. And what errors say there."""

from __future__ import annotations

import runpy
import traceback
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from vulkan_harness import needed

import quadrants as qd
from quadrants.api.portable import runtime
from quadrants.backend import registry

PROGRAMS = sorted(Path(__file__).parents[2].glob("quadrants-core/tests/portable/programs/*.py"))
QUICK = ("fractal", "structs")


@pytest.fixture
def everywhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Programs run on lavapipe, whatever device they choose."""
    monkeypatch.setitem(registry._REGISTRY._instances, "vulkan", needed("lavapipe").backend)
    monkeypatch.setattr(runtime, "_device", lambda arch, fallback: "vulkan")
    qd.init()
    yield
    qd.reset()


@pytest.mark.parametrize(
    "path", [pytest.param(p, id=p.stem, marks=() if p.stem in QUICK else pytest.mark.slow) for p in PROGRAMS]
)
def test_program(path: Path, everywhere: None) -> None:
    runpy.run_path(str(path))


def test_an_index_out_of_bounds_names_its_line(everywhere: None) -> None:
    @qd.kernel
    def run(x, n: int):
        for i in range(n):
            x[i] = 1

    qd.init(debug=True)
    run(np.zeros(4, np.float32), 4)
    with pytest.raises(
        IndexError, match=r"index 4 is out of bounds for axis 0 with size 4 \(in block \(0, 0, 0\), thread"
    ):
        run(np.zeros(4, np.float32), 6)
    x = qd.field(float, 3)
    run(x, 5)
    with pytest.raises(IndexError) as error:
        qd.sync()
    frame = traceback.extract_tb(error.value.__traceback__)[-1]
    assert frame.name == "run" and frame.lineno == run.py_func.__code__.co_firstlineno + 3


def test_launches_are_asynchronous_and_in_order(everywhere: None) -> None:
    x = qd.field(qd.i32, 100)

    @qd.kernel
    def step(k: int):
        for i in x:
            x[i] = x[i] * 3 + k

    expected = np.zeros(100, np.int32)
    for k in range(20):
        step(k)
        expected = expected * np.int32(3) + np.int32(k)
    assert np.array_equal(x.to_numpy(), expected)
