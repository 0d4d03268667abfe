"""House style that ruff does not know: files up to 600 lines, and functions up to 60 lines outside of tests.

Prints each breach as `file:line: text` and fails if there is one.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_FILE = 600
MAX_FUNCTION = 60


def sources() -> list[Path]:
    """The Python files of the packages, the tools and the demo."""
    return sorted([*ROOT.glob("quadrants-*/src/**/*.py"), *ROOT.glob("tools/*.py"), *ROOT.glob("demo/**/*.py")])


def others() -> list[Path]:
    """Tests and benchmarks: their functions hold whole programs, and may be longer."""
    return sorted([*ROOT.glob("quadrants-*/tests/**/*.py"), *ROOT.glob("benchmarks/**/*.py")])


def too_long(path: Path) -> Iterator[tuple[int, str]]:
    """A breach if the file has too many lines: line and text."""
    count = path.read_text().count("\n")
    if count > MAX_FILE:
        yield 1, f"{count} lines: a file has at most {MAX_FILE}"


def breaches(path: Path) -> Iterator[tuple[int, str]]:
    """Each breach in one file: line and text."""
    yield from too_long(path)
    text = path.read_text()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MAX_FUNCTION:
                yield node.lineno, f"{node.name} has {length} lines: a function has at most {MAX_FUNCTION}"


def main() -> int:
    checked = [(path, breaches) for path in sources()] + [(path, too_long) for path in others()]
    found = [f"{path.relative_to(ROOT)}:{line}: {text}" for path, check in checked for line, text in check(path)]
    print("\n".join(found) if found else "style: no breach")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
