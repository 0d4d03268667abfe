"""Parallel code is tested with more threads than cores, and on loops of any size: a few turns are as good as millions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import quadrants as qd


@pytest.fixture(autouse=True)
def _parallel(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("QUADRANTS_PARALLEL_WORK", "0")
    before = qd.get_num_threads()
    qd.set_num_threads(4)
    yield
    qd.set_num_threads(before)
