"""Run the example of every diagnostic code and keep what the compiler says: `quadrants-core/tests/diagnostics/snapshots/`.

The snapshots are what the tests compare with and what the pages of the codes show. An example that does not raise its own code is
reported, and has no snapshot. `--check` writes nothing and fails where a snapshot differs.
"""

from __future__ import annotations

import linecache
import os
import sys
import traceback
import warnings
from pathlib import Path
from unittest import mock

from quadrants.diagnostics import Code, QuadrantsError, QuadrantsWarning

FOLDER = Path(__file__).resolve().parent.parent / "quadrants-core" / "tests" / "diagnostics" / "snapshots"
NAME = "example.py"
PRELUDE = "import numpy as np\nimport quadrants as qd\n\n"


def program_of(code: Code) -> str | None:
    """The whole program of a code's example; None where the example is described in words only."""
    text = code.entry.example.strip()
    return None if text.startswith("#") and "\n" not in text else PRELUDE + text + "\n"


def run(program: str) -> str:
    """What the compiler says to a program: the class and the text of its error, or of its first warning, or nothing."""
    lines = program.splitlines(keepends=True)
    linecache.cache[NAME] = (len(program), None, lines, NAME)
    with mock.patch.dict(os.environ), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(compile(program, NAME, "exec"), {"__name__": "example"})
        except QuadrantsError as error:
            return f"{type(error).__name__}: {error}\n"
        except Exception as error:  # noqa: BLE001 - an example that raises anything else is reported, not hidden
            return _as_traceback(error)
    for warning in caught:
        if issubclass(warning.category, QuadrantsWarning):
            return f"{warning.category.__name__}: {warning.message}\n"
    return ""


def _as_traceback(error: Exception) -> str:
    """What a program raises when it runs, as the interpreter shows it, from the call of compiled code on."""
    frame = error.__traceback__
    while frame is not None and (
        frame.tb_frame.f_code.co_filename != NAME or frame.tb_frame.f_code.co_name == "<module>"
    ):
        frame = frame.tb_next
    return "".join(traceback.format_exception(type(error), error, frame))


def snapshots() -> tuple[dict[Code, str], dict[Code, str]]:
    """The texts of the examples that show their own code, and what the others gave instead."""
    good: dict[Code, str] = {}
    other: dict[Code, str] = {}
    for code in Code:
        program = program_of(code)
        if program is not None:
            text = run(program)
            shown = f" {code}: " in text.partition("\n")[0] or f"({code})" in text
            (good if shown else other)[code] = text
    return good, other


def main(arguments: list[str]) -> int:
    good, other = snapshots()
    for code, text in other.items():
        print(f"{code} {code.name}: {text.partition(chr(10))[0] or 'no error'}")
    present = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("QD*.txt")}
    wanted = {f"{code}.txt": text for code, text in good.items()}
    changed = sorted(name for name in wanted.keys() | present.keys() if wanted.get(name) != present.get(name))
    if "--check" in arguments:
        print(f"{len(wanted)} snapshots; different: {', '.join(changed) or 'none'}")
        return 1 if changed else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in changed:
        if name in wanted:
            (FOLDER / name).write_text(wanted[name], encoding="utf-8")
        else:
            (FOLDER / name).unlink()
    print(f"{len(wanted)} snapshots, {len(changed)} changed, {len(other)} examples without one")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
