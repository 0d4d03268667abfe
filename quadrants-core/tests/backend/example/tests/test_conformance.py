"""The example backend against the conformance suite."""

import pytest

from quadrants.backend.conformance.suite import *  # noqa: F403


@pytest.fixture(scope="module")
def backend_name():
    return "example"
