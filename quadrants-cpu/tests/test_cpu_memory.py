"""Host memory behind the backend contract."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quadrants.backend.contract import DeviceMemory, Event, Stream
from quadrants_cpu.memory import HostEvent, HostMemory, HostStream


def test_meets_the_contract() -> None:
    assert isinstance(HostMemory(), DeviceMemory)
    assert isinstance(HostStream(), Stream)
    assert isinstance(HostEvent(), Event)


@given(st.binary(max_size=300), st.sampled_from([1, 8, 64, 4096]))
def test_round_trip(data: bytes, alignment: int) -> None:
    memory = HostMemory()
    address = memory.allocate(len(data), alignment)
    assert address % alignment == 0
    memory.copy_in(address, memoryview(data))
    back = bytearray(len(data))
    memory.copy_out(memoryview(back), address)
    assert bytes(back) == data
    memory.free(address)


def test_blocks_are_zeroed_and_typed_views_are_taken() -> None:
    memory = HostMemory()
    address = memory.allocate(80)
    values = np.ones(10)
    memory.copy_out(memoryview(values), address)
    assert not values.any()
    memory.copy_in(address, memoryview(np.arange(10.0)))
    other = memory.allocate(80)
    memory.copy(other, address + 8, 72)
    memory.copy_out(memoryview(values), other)
    assert values.tolist() == [*range(1, 10), 0]


@pytest.mark.parametrize("offset", [-1, 1, 81, 1 << 40])
def test_copies_outside_of_a_block_are_errors(offset: int) -> None:
    memory = HostMemory()
    address = memory.allocate(80, 64)
    with pytest.raises(ValueError, match="do not lie in a live block"):
        memory.copy_out(memoryview(bytearray(80)), address + offset)
    with pytest.raises(ValueError, match="do not lie in a live block"):
        memory.copy(address, address + offset, 80)


def test_free_twice_is_an_error() -> None:
    memory = HostMemory()
    address = memory.allocate(8)
    memory.free(address)
    with pytest.raises(ValueError, match="not the address of a live block"):
        memory.free(address)


@pytest.mark.parametrize(("nbytes", "alignment"), [(-1, 64), (8, 0), (8, 48)])
def test_bad_requests(nbytes: int, alignment: int) -> None:
    with pytest.raises(ValueError, match="cannot allocate"):
        HostMemory().allocate(nbytes, alignment)


@pytest.mark.parametrize("nbytes", [1 << 61, 1 << 62, 1 << 63, 1 << 100])
def test_too_much_is_a_memory_error(nbytes: int) -> None:
    with pytest.raises(MemoryError):
        HostMemory().allocate(nbytes)


def test_events_measure() -> None:
    first, second, stream = HostEvent(), HostEvent(), HostStream()
    with pytest.raises(ValueError, match="recorded"):
        first.elapsed_ms(second)
    first.record(stream)
    second.record(stream)
    second.wait(stream)
    stream.synchronize()
    assert first.elapsed_ms(second) >= 0
