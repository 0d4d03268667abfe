"""The conformance suite on the GPU of a Mac, through Apple's own compiler. Elsewhere there is none."""

from __future__ import annotations

from typing import Any

import pytest

from quadrants.backend.conformance import suite
from quadrants.backend.conformance.suite import *  # noqa: F403
from quadrants.backend.contract import Capabilities
from quadrants.backend.registry import get_backend
from quadrants.diagnostics import CompileError

_state = get_backend("metal").availability()
if not _state.ok:
    pytest.skip(_state.reason, allow_module_level=True)


@pytest.fixture(scope="module")
def backend_name() -> str:
    return "metal"


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
