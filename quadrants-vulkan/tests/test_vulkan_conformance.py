"""The Vulkan backend against the conformance suite, on every device that tests know, with the validation layer on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from vulkan_harness import needed

from quadrants.backend import registry
from quadrants.backend.conformance import suite
from quadrants.backend.conformance.suite import *  # noqa: F403
from quadrants.backend.contract import Capabilities
from quadrants.diagnostics import CompileError


@pytest.fixture(scope="module", params=["lavapipe", "swiftshader"])
def backend_name(request: pytest.FixtureRequest) -> Iterator[str]:
    """The backend's name, which stands for one device while the tests run."""
    found = needed(request.param)
    instances = registry._REGISTRY._instances
    before = instances.get("vulkan")
    instances["vulkan"] = found.backend
    yield "vulkan"
    del instances["vulkan"]
    if before is not None:
        instances["vulkan"] = before


_golden = suite.test_golden_program


@pytest.mark.parametrize(("program", "dtype"), list(suite._programs()))
def test_golden_program(program: str, dtype: str, namespace: Any, capabilities: Capabilities) -> None:
    """What computes with float64 on the way does not compile for a device that has none, and says so."""
    try:
        _golden(program, dtype, namespace, capabilities)
    except CompileError as error:
        if "f64" in capabilities.dtypes or "float64" not in error.message:
            raise
        pytest.skip("the device has no float64, which the program computes with")


@pytest.fixture(autouse=True)
def nothing_is_said(backend_name: str) -> Iterator[None]:
    """Fail a test during which the validation layer says something."""
    yield
    said = registry.get_backend("vulkan").instance.messages  # type: ignore[attr-defined]
    messages, said[:] = list(said), []
    assert not messages, "\n".join(messages)
