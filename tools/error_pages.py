"""Write the page of every diagnostic code: `docs/errors/`. With `--check`, say which pages are not current and fail."""

from __future__ import annotations

import sys
from pathlib import Path

from quadrants.diagnostics.catalogue.entry import Entry
from quadrants.diagnostics.codes import RESERVED, Code, Family

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "errors"
SNAPSHOTS = ROOT / "quadrants-core" / "tests" / "diagnostics" / "snapshots"

FAMILIES = {
    Family.SYNTAX: ("Syntax and bytecode", "These also are `SyntaxError`, `NameError` or `TypeError`."),
    Family.TYPES: ("Types", "These also are `TypeError`, and `AttributeError` where an attribute is missing."),
    Family.VALUES: ("Values and constants", "These also are `ValueError`."),
    Family.BACKENDS: ("Backends and capabilities", "These are `quadrants.BackendError`."),
    Family.ENVIRONMENT: ("Cache and environment", "These are `quadrants.EnvironmentProblem`, or warnings."),
}

INDEX = """# Errors

Every error of the compiler is a `quadrants.QuadrantsError` with a code. The text has the source line with carets under the
exact sub-expression, the types involved, the chain of calls that led there and, where possible, the way out. The parts are
attributes of the exception: `code`, `message`, `location`, `types`, `call_chain`, `hint`, `notes`.

These pages are written by `make docs` from the compiler's own table.
"""


def page(entry: Entry) -> str:
    """The page of one code."""
    example = entry.example.strip()
    title = entry.title[0].upper() + entry.title[1:]
    parts = [f"# {entry.code}: {title}", f"`Code.{entry.code.name}`", entry.explanation]
    if entry.code in RESERVED:
        parts.append("This version does not raise it.")
    if example.startswith("#") and "\n" not in example:
        parts.append(f"For example: {example.lstrip('# ')}.")
    else:
        parts += [
            "A program that shows it:",
            f"```python\nimport numpy as np\nimport quadrants as qd\n\n{example}\n```",
        ]
    parts.append(f"**What to do.** {entry.hint}")
    return "\n\n".join(parts) + "\n"


def index() -> str:
    """The list of all codes by family."""
    parts = [INDEX]
    for family, (title, note) in FAMILIES.items():
        rows = [f"| [{code}]({code}.md) | {code.title} |" for code in Code if code.family is family]
        parts.append("\n".join([f"## {title}", "", note, "", "| code | |", "|---|---|", *rows]) + "\n")
    return "\n".join(parts)


def pages() -> dict[str, str]:
    """File name to text."""
    return {"index.md": index(), **{f"{code}.md": page(code.entry) for code in Code}}


def stale(wanted: dict[str, str]) -> list[str]:
    """Files that are missing, differ, or belong to no code."""
    present = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    return sorted(name for name in wanted.keys() | present.keys() if wanted.get(name) != present.get(name))


def main(arguments: list[str]) -> int:
    wanted = pages()
    changed = stale(wanted)
    if "--check" in arguments:
        print("\n".join(f"docs/errors/{name} is not current: run make docs" for name in changed))
        return 1 if changed else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in changed:
        if name in wanted:
            (FOLDER / name).write_text(wanted[name], encoding="utf-8")
        else:
            (FOLDER / name).unlink()
    print(f"docs/errors: {len(wanted)} pages, {len(changed)} changed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
