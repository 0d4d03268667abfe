"""The device that tests of the Metal backend run on."""

from __future__ import annotations

import pytest
from metal_harness import Bench, needed


@pytest.fixture
def device() -> Bench:
    """The CPU, which stands in for a GPU."""
    return needed()
