"""The conformance suite: a pytest module that a backend's package takes over, with a fixture `backend_name`.

Each golden program runs with one dtype; the others are marked `slow`. What the device's capabilities say it lacks is not run.
Programs of the portable language run with the device chosen by `qd.init`.
A backend that cannot be used on this machine skips everything but the tests of the contract, with its own reason.
"""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from quadrants.backend.conformance.golden import GOLDEN
from quadrants.backend.conformance.portable import PROGRAMS
from quadrants.backend.conformance.running import compare, missing, run
from quadrants.backend.contract import Availability, Backend, Capabilities, Target, missing_members
from quadrants.backend.registry import get_backend

__all__ = [
    "backend",
    "capabilities",
    "namespace",
    "portable",
    "test_availability_says_why",
    "test_blocks_beyond_one_axis",
    "test_capabilities_are_of_a_target",
    "test_device_memory",
    "test_golden_program",
    "test_implements_the_contract",
    "test_launches_that_do_nothing",
    "test_launches_that_are_too_large",
    "test_portable_program",
    "test_streams_and_events",
    "test_targets_are_text",
]


def _programs() -> Iterator[Any]:
    """Every golden program with every dtype; one dtype a program, in turn, is quick."""
    for position, (name, golden) in enumerate(GOLDEN.items()):
        for place, dtype in enumerate(golden.dtypes):
            quick = place == position % len(golden.dtypes)
            yield pytest.param(name, dtype, marks=() if quick else pytest.mark.slow, id=f"{name}-{dtype}")


@pytest.fixture(scope="module")
def backend(backend_name: str) -> Backend:
    """The backend."""
    return get_backend(backend_name)


@pytest.fixture(scope="module")
def capabilities(backend: Backend) -> Capabilities:
    """Of the first device; skips where there is none."""
    state = backend.availability()
    if not state.ok:
        pytest.skip(state.reason)
    return backend.capabilities(backend.target_of(backend.devices()[0]))


@pytest.fixture(scope="module")
def namespace(backend: Backend, capabilities: Capabilities) -> Any:
    """The explicit language, on a machine that has the device."""
    return backend.namespace


@pytest.fixture
def portable(backend_name: str, capabilities: Capabilities) -> Iterator[Any]:
    """The portable language, with the backend's device chosen."""
    language = importlib.import_module("quadrants")
    language.init(arch=backend_name, enable_fallback=False)
    yield language
    language.reset()


@pytest.mark.parametrize("program", list(PROGRAMS))
def test_portable_program(program: str, portable: Any, capabilities: Capabilities) -> None:
    wanted = PROGRAMS[program]
    lacking = [dtype for dtype in wanted.dtypes if dtype not in capabilities.dtypes]
    if lacking:
        pytest.skip(f"the device has no {', '.join(lacking)}")
    pairs = wanted.run(portable, np.random.default_rng(zlib.crc32(program.encode())))
    for position, (found, expected) in enumerate(pairs):
        compare(f"{program}, result {position}", np.asarray(found), np.asarray(expected), wanted.rtol)


@pytest.mark.parametrize(("program", "dtype"), list(_programs()))
def test_golden_program(program: str, dtype: str, namespace: Any, capabilities: Capabilities) -> None:
    golden = GOLDEN[program]
    lacking = missing(golden, dtype, capabilities)
    if lacking:
        pytest.skip(f"the device has {lacking}")
    run(golden, namespace, dtype)


def test_implements_the_contract(backend: Backend, backend_name: str) -> None:
    assert missing_members(backend) == []
    assert backend.name == backend_name
    assert get_backend(backend_name) is backend


def test_availability_says_why(backend: Backend) -> None:
    state = backend.availability()
    assert isinstance(state, Availability)
    assert state.ok or (state.reason and state.fix)


def test_targets_are_text(backend: Backend) -> None:
    for target in backend.targets():
        assert target.backend == backend.name
        assert Target.from_json(target.to_json()) == target


def test_capabilities_are_of_a_target(backend: Backend, capabilities: Capabilities) -> None:
    assert {"i32", "f32", "bool"} <= capabilities.dtypes
    assert capabilities.max_threads_per_block >= 128
    assert capabilities.shared_bytes >= 16 << 10
    for target in backend.targets():
        assert isinstance(backend.capabilities(target), Capabilities)


def _marking(ns: Any) -> Any:
    @ns.kernel
    def marking(out):  # type: ignore[no-untyped-def]
        ns.atomic.add(out, 0, 1)

    return marking


@pytest.mark.parametrize(("grid", "block"), [(0, 32), (3, 0), ((4, 0), 8), ((1, 1, 0), (8, 8)), (0, 0)])
def test_launches_that_do_nothing(namespace: Any, grid: Any, block: Any) -> None:
    out = np.zeros(1, np.int32)
    _marking(namespace)[grid, block](out)
    assert out[0] == 0


@pytest.mark.parametrize("grid", [70_000, (1, 70_000), (1, 1, 70_000), (300, 300)])
def test_blocks_beyond_one_axis(namespace: Any, grid: Any) -> None:
    out = np.zeros(1, np.int32)
    _marking(namespace)[grid, 1](out)
    assert out[0] == np.prod(grid)


def test_launches_that_are_too_large(namespace: Any, capabilities: Capabilities) -> None:
    out = np.zeros(1, np.int32)
    for shape in (
        (1, capabilities.max_threads_per_block + 1),
        (1, 1, 0, capabilities.shared_bytes + 1),
    ):
        with pytest.raises(Exception, match="QD412"):
            _marking(namespace)[shape](out)
    assert out[0] == 0


def test_device_memory(backend: Backend, capabilities: Capabilities) -> None:
    memory = backend.memory(backend.devices()[0])
    source, target = np.arange(256, dtype=np.uint8), np.zeros(256, np.uint8)
    first, second = memory.allocate(256), memory.allocate(256)
    assert first != second and first % 64 == 0
    memory.copy_in(first, source.data)
    memory.copy(second, first, 256)
    memory.copy_out(target.data, second)
    assert np.array_equal(source, target)
    memory.free(first)
    memory.free(second)


def test_streams_and_events(backend: Backend, capabilities: Capabilities) -> None:
    device = backend.devices()[0]
    stream, first, last = backend.stream(device), backend.event(device), backend.event(device)
    first.record(stream)
    last.record(stream)
    last.wait(stream)
    stream.synchronize()
    assert first.elapsed_ms(last) >= 0
