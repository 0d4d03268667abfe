"""Object offsets: verified on this interpreter, refused where they cannot be."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from quadrants.host import layout


@pytest.mark.parametrize("check", layout._CHECKS, ids=lambda check: check.__name__)
def test_every_offset_holds(check: Callable[[], Iterator[bool]]) -> None:
    assert [index for index, holds in enumerate(check()) if not holds] == []


@pytest.mark.parametrize(
    "name",
    [
        "TUPLE_ITEMS",
        "FLOAT_VALUE",
        "LONG_DIGIT",
        "ARRAY_DATA",
        "ARRAY_FLAGS",
        "ARRAY_DESCR",
        "STR_HASH",
        "TYPE_ALLOC",
        "SCALAR_VALUE",
    ],
)
def test_a_wrong_offset_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, name, getattr(layout, name) + 8)
    assert not layout.verified.__wrapped__()


def test_other_interpreters_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    assert not layout.verified.__wrapped__()


def test_fingerprint_names_the_versions() -> None:
    text = layout.fingerprint()
    assert f"{sys.version_info[0]}.{sys.version_info[1]}" in text and "numpy" in text and sys.platform in text


PROGRAM = """
import sys
try:
    import _interpreters
    create, run = (lambda: _interpreters.create("legacy")), _interpreters.run_string
except ImportError:
    import _xxsubinterpreters
    create, run = (lambda: _xxsubinterpreters.create(isolated=False)), _xxsubinterpreters.run_string
run(create(), f'''
import sys
sys.path[:] = {sys.path!r}
try:
    import quadrants.host.native_type
except ImportError as error:
    print(type(error).__name__, error, flush=True)
''')
"""


def test_subinterpreters_get_an_import_error() -> None:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM], capture_output=True, text=True)
    assert "subinterpreter" in done.stdout, done.stderr
