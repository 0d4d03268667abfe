"""House style that ruff does not know: files up to 600 lines, functions up to 60 lines, module docstrings' first line.

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
    """The Python files of the packages and the tools."""
    return sorted([*ROOT.glob("quadrants-*/src/**/*.py"), *ROOT.glob("tools/*.py"), *ROOT.glob("demo/**/*.py")])


def breaches(path: Path) -> Iterator[tuple[int, str]]:
    """Each breach in one file: line and text."""
    text = path.read_text()
    count = text.count("\n")
    if count > MAX_FILE:
        yield 1, f"{count} lines: a file has at most {MAX_FILE}"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MAX_FUNCTION:
                yield node.lineno, f"{node.name} has {length} lines: a function has at most {MAX_FUNCTION}"


def main() -> int:
    found = [f"{path.relative_to(ROOT)}:{line}: {text}" for path in sources() for line, text in breaches(path)]
    print("\n".join(found) if found else "style: no breach")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
