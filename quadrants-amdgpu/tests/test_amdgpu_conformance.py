"""The AMDGPU backend against the conformance suite: its host code and its LLVM IR, on simulated devices with waves of 32 and 64."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from amdgpu_harness import backend as simulated

from quadrants.backend import registry
from quadrants.backend.conformance.suite import *  # noqa: F403
from quadrants_amdgpu.driver import linking


@pytest.fixture(scope="module", params=["gfx1100", "gfx90a"])
def backend_name(request: pytest.FixtureRequest) -> Iterator[str]:
    """The backend's name, which stands for one device while the tests run."""
    if not linking.linkers():
        pytest.skip("there is no linker for AMD GPUs (Debian: apt-get install lld)")
    instances = registry._REGISTRY._instances
    before = instances.get("amdgpu")
    instances["amdgpu"] = simulated(request.param)
    yield "amdgpu"
    del instances["amdgpu"]
    if before is not None:
        instances["amdgpu"] = before
