"""The CUDA backend against the conformance suite: its host code on a stand-in for the driver, its kernels executed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from cuda_harness import needed

from quadrants.backend import registry
from quadrants.backend.conformance.suite import *  # noqa: F403


@pytest.fixture(scope="module")
def backend_name() -> Iterator[str]:
    """The backend's name, which stands for the stand-in while the tests run."""
    found = needed()
    instances = registry._REGISTRY._instances
    before = instances.get("cuda")
    instances["cuda"] = found
    yield "cuda"
    del instances["cuda"]
    if before is not None:
        instances["cuda"] = before
