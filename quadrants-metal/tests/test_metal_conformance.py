"""The Metal backend against the conformance suite, on the stand-in of the framework."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from metal_harness import needed

from quadrants.backend import registry
from quadrants.backend.conformance import suite
from quadrants.backend.conformance.suite import *  # noqa: F403
from quadrants.backend.contract import Capabilities
from quadrants.diagnostics import CompileError


@pytest.fixture(scope="module")
def backend_name() -> Iterator[str]:
    """The backend's name, which stands for the stand-in while the tests run."""
    instances = registry._REGISTRY._instances
    before = instances.get("metal")
    instances["metal"] = needed().backend
    yield "metal"
    del instances["metal"]
    if before is not None:
        instances["metal"] = before


_golden = suite.test_golden_program


@pytest.mark.parametrize(("program", "dtype"), list(suite._programs()))
def test_golden_program(program: str, dtype: str, namespace: Any, capabilities: Capabilities) -> None:
    """What computes with float64 on the way does not compile, and says so."""
    try:
        _golden(program, dtype, namespace, capabilities)
    except CompileError as error:
        if "float64" not in error.message:
            raise
        pytest.skip("the device has no float64, which the program computes with")
