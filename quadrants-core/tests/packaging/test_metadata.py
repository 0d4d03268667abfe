"""The distributions agree with each other: versions, dependencies, extras, entry points."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from quadrants._version import __version__

ROOT = Path(__file__).resolve().parents[3]
BACKENDS = ("cpu", "cuda", "amdgpu", "metal", "vulkan")
#: What a backend needs of its ecosystem, where that has well-kept bindings.
BINDINGS = {"metal": ["pyobjc-framework-Metal>=11; sys_platform == 'darwin'"]}
ROOMS = ("quadrants-core", *(f"quadrants-{name}" for name in BACKENDS))


def project(folder: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]


@pytest.mark.parametrize("folder", (".", *ROOMS))
def test_versions_and_python_agree(folder: str) -> None:
    table = project(folder)
    assert table["name"] == ("quadrants" if folder == "." else folder)
    assert table["version"] == __version__
    assert table["requires-python"] == ">=3.11"
    assert (ROOT / folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert (ROOT / folder / table["readme"]).is_file()


def test_core_depends_on_no_backend() -> None:
    names = [text.split(">")[0].split("=")[0] for text in project("quadrants-core")["dependencies"]]
    assert names == ["numpy", "llvmlite", "cffi", "importlib-metadata"]


@pytest.mark.parametrize("name", BACKENDS)
def test_a_backend_depends_on_core_and_names_its_class(name: str) -> None:
    table = project(f"quadrants-{name}")
    assert table["dependencies"] == [f"quadrants-core=={__version__}", *BINDINGS.get(name, ())]
    points = table["entry-points"]["quadrants.backends"]
    assert points == {name: f"quadrants_{name}:{name.capitalize()}Backend"}
    assert (ROOT / f"quadrants-{name}" / "src" / f"quadrants_{name}" / "py.typed").exists()


def test_the_meta_distribution() -> None:
    table = project(".")
    assert table["dependencies"] == [f"quadrants-core=={__version__}", f"quadrants-cpu=={__version__}"]
    extras = {name: [f"quadrants-{name}=={__version__}"] for name in BACKENDS if name != "cpu"}
    assert table["optional-dependencies"] == extras | {"all": [row for rows in extras.values() for row in rows]}
