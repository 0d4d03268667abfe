"""The device that tests of the CUDA backend run on."""

from __future__ import annotations

import pytest
from cuda_harness import Bench, bench


@pytest.fixture
def device() -> Bench:
    """The stand-in for a device."""
    return bench()


@pytest.fixture
def lavapipe(device: Bench) -> Bench:
    """Where tests of other backends want a device that has everything."""
    return device
