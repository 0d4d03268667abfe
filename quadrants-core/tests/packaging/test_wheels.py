"""Wheels and sdists: each room builds an sdist, the wheel is built from the sdist, and the wheels run in a clean environment."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from quadrants._version import __version__

ROOT = Path(__file__).resolve().parents[3]
BACKENDS = ("cpu", "cuda", "amdgpu", "metal", "vulkan")
ROOMS = (".", "quadrants-core", *(f"quadrants-{name}" for name in BACKENDS))
BUILD = "import sys, setuptools.build_meta as b; print(getattr(b, 'build_' + sys.argv[1])(sys.argv[2]))"

pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def environment(folder: Path) -> Path:
    """A new virtual environment; gives its interpreter."""
    venv.create(folder, with_pip=True)
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist of every room, and the wheel made from each sdist."""
    base = tmp_path_factory.mktemp("build")
    python = environment(base / "env")
    run(python, "-m", "pip", "install", "-q", "setuptools>=64", "wheel")
    out = base / "dist"
    for room in ROOMS:
        tree = base / "trees" / (room if room != "." else "meta")
        skip = shutil.ignore_patterns(".*", "build", "*.egg-info", "__pycache__", "quadrants-*", "docs", "benchmarks")
        shutil.copytree(ROOT / room, tree, ignore=skip)
        name = run(python, "-c", BUILD, "sdist", out, cwd=tree).splitlines()[-1]
        with tarfile.open(out / name) as archive:
            archive.extractall(base / "sdists", filter="data")
        run(python, "-c", BUILD, "wheel", out, cwd=base / "sdists" / name.removesuffix(".tar.gz"))
    return out


def test_wheels_are_pure_and_complete(dist: Path) -> None:
    wheels = sorted(dist.glob("*.whl"))
    assert len(wheels) == len(ROOMS) == len(list(dist.glob("*.tar.gz")))
    for wheel in wheels:
        assert wheel.name.endswith(f"-{__version__}-py3-none-any.whl")
    for room in ROOMS[1:]:
        package = "quadrants" if room == "quadrants-core" else room.replace("-", "_")
        source = ROOT / room / "src" / package
        wanted = {
            str(path.relative_to(source.parent))
            for path in source.rglob("*")
            if path.is_file() and path.suffix in (".py", ".typed", ".json")
        }
        with zipfile.ZipFile(dist / f"{room.replace('-', '_')}-{__version__}-py3-none-any.whl") as archive:
            names = set(archive.namelist())
        assert wanted - names == set()
        assert not any("tests/" in name for name in names)
    with zipfile.ZipFile(dist / f"quadrants-{__version__}-py3-none-any.whl") as archive:
        assert [name for name in archive.namelist() if ".dist-info/" not in name] == []


def test_the_wheels_run_in_a_clean_environment(dist: Path, tmp_path: Path) -> None:
    python = environment(tmp_path / "env")
    run(python, "-m", "pip", "install", "-q", "--find-links", dist, f"quadrants[vulkan]=={__version__}")
    program = tmp_path / "first.py"
    program.write_text(
        "import numpy as np\nimport quadrants as qd\n\n@qd.njit\ndef f(a):\n    s = 0.0\n    for x in a:\n        s += x\n"
        "    return s\n\nassert f(np.arange(5.0)) == 10.0\nprint(qd.__version__)\n"
    )
    assert run(python, program, cwd=tmp_path).strip() == __version__
    doctor = run(python, "-m", "quadrants", "doctor", cwd=tmp_path)
    assert "cpu: available" in doctor
    assert "vulkan: available" in doctor or "vulkan: not available" in doctor
    assert "cuda: not installed" in doctor


def test_pip_install_of_the_checkout(tmp_path: Path) -> None:
    """`pip install ./quadrants-core ./quadrants-cpu .` as the README says, in a copy of the checkout."""
    skip = shutil.ignore_patterns(".*", "build", "*.egg-info", "__pycache__", "tests")
    tree = tmp_path / "tree"
    tree.mkdir()
    for name in ("quadrants-core", "quadrants-cpu"):
        shutil.copytree(ROOT / name, tree / name, ignore=skip)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree / name)
    python = environment(tmp_path / "env")
    run(python, "-m", "pip", "install", "-q", "./quadrants-core", "./quadrants-cpu", ".", cwd=tree)
    assert sys.version_info >= (3, 11)
    listed = run(python, "-m", "pip", "list", "--format=freeze")
    assert {f"quadrants=={__version__}", f"quadrants-core=={__version__}", f"quadrants-cpu=={__version__}"} <= set(
        listed.split()
    )
    assert "ok=True" in run(
        python, "-c", "import quadrants.backend as b; print(b.get_backend('cpu').availability())", cwd=tmp_path
    )


def test_installs_beside_numba(dist: Path, tmp_path: Path) -> None:
    """Both pin llvmlite, to versions that agree: one environment holds both, and both compile in one process."""
    python = environment(tmp_path / "env")
    wheels = [wheel for wheel in dist.glob("quadrants_c*.whl") if "cuda" not in wheel.name]
    run(python, "-m", "pip", "install", "-q", "numba==0.68.1", *wheels)
    program = (
        "import numba, quadrants\ndef f(x): return x + 1.0\nprint(numba.njit(f)(1.0) == quadrants.njit(f)(1.0) == 2.0)"
    )
    assert run(python, "-c", program).strip() == "True"
