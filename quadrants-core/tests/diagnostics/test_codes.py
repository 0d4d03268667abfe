"""The table of codes and its generated pages."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from quadrants.diagnostics import Code
from quadrants.diagnostics.catalogue import ENTRIES
from quadrants.diagnostics.codes import RESERVED

ROOT = Path(__file__).resolve().parents[3]

# Numbers are for ever: a row may be added here, never changed or removed.
FROZEN = {
    "UNSUPPORTED_SYNTAX": 101,
    "UNDEFINED_NAME": 121,
    "TYPE_MISMATCH": 201,
    "NO_ATTRIBUTE": 202,
    "BAD_ARGUMENTS": 204,
    "CANNOT_UNIFY": 205,
    "UNSUPPORTED_TYPE": 206,
    "UNSUPPORTED_CALL": 207,
    "BAD_OPERAND": 208,
    "NOT_CONSTANT": 301,
    "BACKEND_MISSING": 401,
    "BACKEND_UNAVAILABLE": 402,
    "CACHE_DAMAGED": 501,
    "INTERNAL": 599,
}


def test_numbers_are_unique_and_stable() -> None:
    assert len({code.value for code in Code}) == len(Code.__members__), "two names for one number"
    assert {name: Code[name].value for name in FROZEN} == FROZEN


@pytest.mark.parametrize("code", list(Code))
def test_every_code_has_texts(code: Code) -> None:
    entry = code.entry
    assert entry.code is code
    assert (
        entry.title and entry.title[0].islower() | (entry.title.split()[0] == "None") and not entry.title.endswith(".")
    )
    assert entry.explanation.endswith(".")
    assert entry.hint.endswith((".", ")", '"'))
    assert entry.example.strip()
    ast.parse(entry.example)


def test_titles_differ() -> None:
    assert len({entry.title for entry in ENTRIES.values()}) == len(ENTRIES)


def test_pages_are_current() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "error_pages.py"), "--check"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_importing_codes_does_not_load_the_texts() -> None:
    program = "import sys, quadrants.diagnostics; print([m for m in sys.modules if 'catalogue' in m])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_codes_are_raised_or_marked_reserved() -> None:
    package = ROOT / "quadrants-core" / "src" / "quadrants"
    files = [*package.rglob("*.py"), *ROOT.glob("quadrants-*/src/**/*.py")]
    tables = {package / "diagnostics" / "codes.py", package / "diagnostics" / "errors.py"}
    source = "\n".join(p.read_text() for p in files if p not in tables and "catalogue" not in p.parts)
    raised = {code for code in Code if re.search(rf"\bCode\.{code.name}\b|\b{code}\b", source)}
    assert set(Code) - raised == RESERVED
