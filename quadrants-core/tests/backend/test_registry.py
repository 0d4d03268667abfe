"""Finding backends: first-party ones, third-party ones, and everything that can be wrong with one."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from quadrants._version import __version__
from quadrants.backend import Availability, BackendInfo, backends, get_backend
from quadrants.backend.contract import missing_members
from quadrants.backend.registry import FIRST_PARTY, Registry
from quadrants.diagnostics import BackendUnavailable, Code

GOOD = """
from quadrants.backend.unbuilt import Driver, UnbuiltBackend

class Abacus(UnbuiltBackend):
    def __init__(self):
        super().__init__("abacus", "Abacus", Driver("bead driver", ()), "linux")
"""


class Site:
    """A folder on sys.path that packages are installed into."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(
        self, distribution: str, module: str, source: str, entry: str, name: str = "abacus", version: str = "1.0"
    ) -> None:
        """What pip leaves behind for a package of one module."""
        (self.folder / f"{module}.py").write_text(source)
        info = self.folder / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
        points = f"[quadrants.backends]\n{name} = {module}:{entry}\n" if entry else ""
        (info / "entry_points.txt").write_text(points)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield Site(tmp_path)
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def row(registry: Registry, name: str) -> BackendInfo:
    return next(info for info in registry.infos() if info.name == name)


def test_a_third_party_backend_is_found(site: Site) -> None:
    site.install("abacus-backend", "abacus_a", GOOD, "Abacus")
    registry = Registry()
    backend = registry.get("abacus")
    assert backend.name == "abacus"
    assert registry.get("abacus") is backend
    info = row(registry, "abacus")
    assert (info.distribution, info.version, info.installed, info.availability.ok) == (
        "abacus-backend",
        "1.0",
        True,
        False,
    )
    assert "abacus: not available (abacus-backend 1.0)" in str(info)


def test_an_unknown_name() -> None:
    with pytest.raises(BackendUnavailable, match="no installed package provides a backend called 'abacus'") as caught:
        Registry().get("abacus")
    assert caught.value.code is Code.BACKEND_MISSING
    assert "cuda" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("source", "entry", "text"),
    [
        ("raise RuntimeError('no beads')", "Abacus", "RuntimeError: no beads"),
        ("class Abacus:\n    def __init__(self):\n        raise OSError('no frame')", "Abacus", "OSError: no frame"),
        ("class Abacus:\n    name = 'abacus'", "Abacus", "it lacks availability, capabilities"),
        (GOOD.replace('"abacus"', '"other"'), "Abacus", "it calls itself 'other'"),
        ("", "Abacus", "AttributeError"),
    ],
)
def test_a_broken_backend_is_an_error_about_it(site: Site, source: str, entry: str, text: str) -> None:
    site.install("abacus-backend", "abacus_b", source, entry)
    registry = Registry()
    with pytest.raises(BackendUnavailable) as caught:
        registry.get("abacus")
    assert caught.value.code is Code.BACKEND_BROKEN
    assert "abacus-backend 1.0" in str(caught.value) and text in str(caught.value)
    assert text in row(registry, "abacus").availability.reason


def test_two_packages_of_one_name(site: Site) -> None:
    site.install("one", "abacus_c", GOOD, "Abacus")
    site.install("two", "abacus_d", GOOD, "Abacus")
    with pytest.raises(BackendUnavailable, match="several packages .*: one, two"):
        Registry().get("abacus")


def test_a_first_party_backend_of_another_version(site: Site) -> None:
    site.install("quadrants-cuda", "cuda_old", GOOD, "Abacus", name="cuda", version="0.0.1")
    with pytest.raises(BackendUnavailable, match=f"0.0.1, quadrants-core is version {__version__}") as caught:
        Registry().get("cuda")
    assert caught.value.code is Code.BACKEND_VERSION


def test_a_first_party_backend_without_its_entry_point(site: Site) -> None:
    site.install("quadrants-cuda", "cuda_none", GOOD, "", name="cuda", version=__version__)
    with pytest.raises(BackendUnavailable, match="does not name its backend"):
        Registry().get("cuda")


def test_every_first_party_backend_is_listed_first() -> None:
    names = [info.name for info in backends()]
    assert names[: len(FIRST_PARTY)] == list(FIRST_PARTY)


def test_the_cpu_backend() -> None:
    cpu = get_backend("cpu")
    assert missing_members(cpu) == []
    assert cpu.availability() == Availability(True)
    assert str(next(info for info in backends() if info.name == "cpu")).startswith("cpu: available (quadrants-cpu")


def test_not_installed_says_what_to_install() -> None:
    """In a process in which no distribution is found."""
    import quadrants

    source = str(Path(quadrants.__file__).parents[1])
    program = f"""
        import sys
        import importlib_metadata
        importlib_metadata.Distribution.discover = classmethod(lambda cls, *a, **k: iter(()))
        sys.path.insert(0, {source!r})
        from quadrants.backend import backends, get_backend
        for info in backends():
            print(info)
        try:
            get_backend("cuda")
        except Exception as e:
            print(e)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "cuda: not installed (quadrants-cuda)" in done.stdout
    assert "fix: pip install 'quadrants[cuda]'" in done.stdout
    assert "QD401: the backend 'cuda' is not installed\n  hint: pip install 'quadrants[cuda]'" in done.stdout


def test_threads_get_one_instance(site: Site) -> None:
    import threading

    site.install("abacus-backend", "abacus_e", "import time\ntime.sleep(0.05)\n" + GOOD, "Abacus")
    registry = Registry()
    seen: list[object] = []
    threads = [threading.Thread(target=lambda: seen.append(registry.get("abacus"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8 and len({id(b) for b in seen}) == 1
