"""Makes the helpers beside the tests importable, and the repository."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True, scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the repository, importable; the user's own cache stays out of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("QUADRANTS_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.syspath_prepend(str(ROOT))
        yield ROOT
