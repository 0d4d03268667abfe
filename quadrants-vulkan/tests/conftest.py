"""The devices that tests of the Vulkan backend run on."""

from __future__ import annotations

import pytest
from vulkan_harness import Bench, needed


@pytest.fixture(params=["lavapipe", "swiftshader"])
def device(request: pytest.FixtureRequest) -> Bench:
    """Every device of this machine that tests know."""
    return needed(request.param)


@pytest.fixture
def lavapipe() -> Bench:
    """Mesa's Vulkan on the CPU."""
    return needed("lavapipe")
