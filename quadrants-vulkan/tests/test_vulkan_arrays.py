"""Arrays in kernels: layouts, views, slices and ranks, the same on Vulkan devices as on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from vulkan_harness import Bench

import quadrants as qd
from quadrants.backend import registry


@pytest.fixture(autouse=True)
def on_device(device: Bench) -> Iterator[Bench]:
    """Kernels run on the device; what the validation layer says fails the test."""
    instances = registry._REGISTRY._instances
    registry.get_backend("vulkan")
    before, instances["vulkan"] = instances["vulkan"], device.backend
    yield device
    instances["vulkan"] = before
    device.check()


def both(make: Callable[[Any], Any], *args: Any, block: Any = 8, grid: Any = 1) -> None:
    """A kernel leaves the same in its arrays on the CPU and on the device."""
    left, right = ([np.copy(a, order="K") if isinstance(a, np.ndarray) else a for a in args] for _ in range(2))
    make(qd.cpu)[grid, block](*left)
    make(qd.vulkan)[grid, block](*right)
    for a, b in zip(left, right):
        if isinstance(a, np.ndarray):
            assert np.array_equal(a, b), (a, b)


def grid_of(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype)


def _slices(ns: Any) -> Any:
    @ns.kernel
    def slices(x, out):
        i = ns.grid(1)
        back = x[::-1]
        part = x[1:7:2]
        if i < 8:
            out[i] = back[i] * 10 + part[i % 3] + x[-1] + part.shape[0]

    return slices


def _planes(ns: Any) -> Any:
    @ns.kernel
    def planes(x, out):
        i = ns.grid(1)
        row = x[i % x.shape[0]]
        column = x[:, i % x.shape[1]]
        corner = x.T[1:, ::-1]
        out[i] = row[0, 1] + column[1, 0] * 3 + corner[0, i % corner.shape[1], 1] + x[-1, -1, -1]

    return planes


def _strides(ns: Any) -> Any:
    @ns.kernel
    def strides(x, out):
        i = ns.grid(1)
        out[i] = x.strides[0] + x[::2].strides[0] * 100 + x.size * 10000 + x.ndim

    return strides


def _assigned(ns: Any) -> Any:
    @ns.kernel
    def assigned(x, y):
        i = ns.grid(1)
        if i == 0:
            y[1:4] = x[2:5]
            y[5:] = 7
            x[::3] += 1

    return assigned


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.int64, np.float16, np.float32])
def test_slices(dtype: Any) -> None:
    both(_slices, grid_of(8, dtype=dtype), grid_of(8, dtype=np.float32))
    both(_slices, grid_of(16, dtype=dtype)[::2], grid_of(8, dtype=np.float32))
    both(_slices, grid_of(8, dtype=dtype)[::-1], grid_of(8, dtype=np.float32))


@pytest.mark.parametrize("order", ["C", "F", "A"])
def test_planes(order: str) -> None:
    x = grid_of(3, 4, 5)
    arranged = {"C": x, "F": np.asfortranarray(x), "A": grid_of(3, 4, 10)[:, :, ::2]}[order]
    both(_planes, arranged, np.zeros(8, np.float32))


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.int64])
def test_strides_of_views(dtype: Any) -> None:
    both(_strides, grid_of(8, dtype=dtype), np.zeros(8, np.int64))


def test_assignments_that_overlap_need_memory() -> None:
    @qd.vulkan.kernel
    def shift(x, n):
        x[1:n] = x[: n - 1]

    with pytest.raises(MemoryError, match="a device has no memory for the copy"):
        shift[1, 1](grid_of(9), 9)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int64, np.float32])
def test_assignments_to_slices(dtype: Any) -> None:
    both(_assigned, grid_of(9, dtype=dtype), grid_of(9, dtype=dtype), block=1)


def test_truth_values_in_memory() -> None:
    def make(ns: Any) -> Any:
        @ns.kernel
        def flip(flags, out):
            i = ns.grid(1)
            flags[i] = not flags[i]
            out[i] = flags[i] and i > 2

        return flip

    both(make, np.array([True, False] * 4), np.zeros(8, np.bool_))


def test_complex_numbers_in_memory() -> None:
    def make(ns: Any) -> Any:
        @ns.kernel
        def turn(z, w):
            i = ns.grid(1)
            z[i] = z[i] * w[7 - i] + w[i].real

        return turn

    z = (grid_of(8) + 1j * grid_of(8)[::-1]).astype(np.complex64)
    both(make, z, z[::-1].copy())


def test_arrays_without_elements() -> None:
    def make(ns: Any) -> Any:
        @ns.kernel
        def fill(x, y):
            i = ns.grid(1)
            if i < x.size:
                x[i] = 1
            y[i] = x.size

        return fill

    both(make, np.zeros(0, np.float32), np.zeros(8, np.float32))


def test_arrays_larger_than_a_chunk_of_the_pool() -> None:
    @qd.vulkan.kernel
    def double(x, n):
        i = qd.vulkan.grid(1)
        step = qd.vulkan.gridsize(1)
        while i < n:
            x[i] *= 2
            i += step

    x = np.ones(10_000_000, np.float32)
    double[512, 128](x, x.size)
    assert np.all(x == 2)
