"""What all tests share: a cache of their own, and examples of Hypothesis that are the same in every run.

`HYPOTHESIS_PROFILE=explore` looks for new examples instead.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from pathlib import Path

import hypothesis
import pytest

#: Their tests start from QIR.
BELOW_PYTHON = (
    *(Path(__file__).parent / f"quadrants-{room}" for room in ("amdgpu", "cuda", "metal", "vulkan")),
    *(Path(__file__).parent / "quadrants-core" / "tests" / folder for folder in ("ir", "lower")),
)

SETTINGS = pytest.StashKey[dict[str, str]]()

hypothesis.settings.register_profile("repeatable", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.register_profile("explore", deadline=None, print_blob=True)


def pytest_configure(config: pytest.Config) -> None:
    """Before any test module is imported: kernels may be compiled at import."""
    # A run in the background ignores Ctrl-C, and the processes that tests start would inherit that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
    folder = tempfile.mkdtemp(prefix="quadrants-tests-")
    os.environ["QUADRANTS_CACHE_DIR"] = folder
    config.stash[SETTINGS] = settings_in_force()
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


def settings_in_force() -> dict[str, str]:
    """The compiler's settings in the environment."""
    return {name: value for name, value in os.environ.items() if name.startswith(("QUADRANTS_", "QD_"))}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the slow tests below Python, which `make test-all` runs on one version. No module may have changed a setting."""
    if settings_in_force() != config.stash[SETTINGS]:
        raise pytest.UsageError("importing a test module, or what it imports, changed a setting in the environment")
    for item in items:
        if item.get_closest_marker("slow") and any(folder in item.path.parents for folder in BELOW_PYTHON):
            item.add_marker("from_qir")
