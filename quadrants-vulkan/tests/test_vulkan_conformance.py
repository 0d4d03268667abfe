"""The Vulkan backend against the conformance suite."""

from __future__ import annotations

import pytest

from quadrants.backend.conformance.suite import *  # noqa: F403


@pytest.fixture(scope="module")
def backend_name() -> str:
    return "vulkan"
