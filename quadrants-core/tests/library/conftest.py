"""The fixture `mode`: every test of the library runs in the interpreter and, where it can, compiled."""

from __future__ import annotations

import pytest
from library.modes import MODES


@pytest.fixture(params=MODES)
def mode(request):
    return request.param
