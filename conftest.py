"""What all tests share: a cache of their own, and examples of Hypothesis that are the same in every run.

`HYPOTHESIS_PROFILE=explore` looks for new examples instead.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import hypothesis
import pytest

DEVICES = ("quadrants-amdgpu", "quadrants-cuda", "quadrants-metal", "quadrants-vulkan")

hypothesis.settings.register_profile("repeatable", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.register_profile("explore", deadline=None, print_blob=True)


def pytest_configure(config: pytest.Config) -> None:
    """Before any test module is imported: kernels may be compiled at import."""
    hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
    folder = tempfile.mkdtemp(prefix="quadrants-tests-")
    os.environ["QUADRANTS_CACHE_DIR"] = folder
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of device code that are slow, which `make test-all` runs on one Python."""
    for item in items:
        if item.get_closest_marker("slow") and any(room in Path(item.path).parts for room in DEVICES):
            item.add_marker("device_code")
