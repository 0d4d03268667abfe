"""What may import what: the table in docs/architecture.md, held against the source."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
CORE = ROOT / "quadrants-core" / "src" / "quadrants"
BACKENDS = ("cpu", "cuda", "amdgpu", "metal", "vulkan")
HEAVY = (
    "llvmlite",
    "cffi",
    "_cffi_backend",
    "importlib_metadata",
    "importlib.metadata",
    "scipy",
    "torch",
    "matplotlib",
)

#: Modules that only the making of code needs, not the call of a function whose code is in the cache.
MAKING_CODE = (
    *(f"quadrants.{room}" for room in ("bytecode", "infer", "library", "passes")),
    *(f"quadrants.ir.{name}" for name in ("core", "opdef", "ops")),
    *(f"quadrants.host.{name}" for name in ("box", "codegen", "entry", "pool_ir", "support_", "unbox")),
    "quadrants.lower.runtime",
)


def allowed() -> dict[str, set[str]]:
    """The table: room -> rooms that it may import."""
    text = (ROOT / "docs" / "architecture.md").read_text().partition("## Rooms")[2]
    rows = re.findall(r"^\| `(\w+)` \|([^|]*)\|", text, re.MULTILINE)
    return {room: set(re.findall(r"`(\w+)`", names)) | {room} for room, names in rows}


def rooms() -> list[str]:
    """Folders and modules directly under the package, but for those that stand above the rooms."""
    folders = [p.name for p in CORE.iterdir() if p.is_dir() and any(p.glob("*.py"))]
    modules = [p.stem for p in CORE.glob("*.py") if not p.stem.startswith("__")]
    return sorted(folders + modules)


def files_of(room: str) -> list[Path]:
    folder = CORE / room
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [CORE / f"{room}.py"]


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Every module named by an import statement of a file, also in functions, but for those that only serve the types."""
    tree = ast.parse(path.read_text(), str(path))
    ignored = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if id(node) in ignored:
            continue
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = path.parts[path.parts.index("src") + 1 : -node.level] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield node.lineno, module
            yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)


def test_the_table_names_every_room() -> None:
    assert sorted(allowed()) == rooms()


@pytest.mark.parametrize("room", rooms())
def test_a_room_imports_only_what_it_may(room: str) -> None:
    known, may = set(rooms()), allowed().get(room, set())
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in files_of(room)
        for line, name in imports(path)
        if name.startswith("quadrants.") and name.split(".")[1] in known - may
    ]
    assert wrong == []


@pytest.mark.parametrize("room", rooms())
def test_core_imports_no_backend(room: str) -> None:
    assert [n for path in files_of(room) for _, n in imports(path) if n.startswith("quadrants_")] == []


@pytest.mark.parametrize("name", BACKENDS)
def test_a_backend_imports_no_other_backend(name: str) -> None:
    source = ROOT / f"quadrants-{name}" / "src"
    others = tuple(f"quadrants_{other}" for other in BACKENDS if other != name)
    assert [n for path in sorted(source.rglob("*.py")) for _, n in imports(path) if n.split(".")[0] in others] == []


def test_import_is_light() -> None:
    program = "import sys, quadrants; print(*sorted(sys.modules), sep='\\n')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    loaded = set(done.stdout.split())
    assert "quadrants" in loaded
    assert [name for name in HEAVY if name in loaded] == []
    assert [name for name in loaded if name.startswith(MAKING_CODE)] == []


def test_import_survives_odd_settings() -> None:
    program = "import warnings; warnings.simplefilter('error', ImportWarning); import quadrants"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"QUADRANTS_CAHCE": "0", "QUADRANTS_NUM_THREADS": "many", "PATH": ""},
    )
    assert done.returncode == 0, done.stderr
