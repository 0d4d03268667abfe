"""Runs the examples of a Markdown page.

The ```python blocks of a page run in order in one namespace, each as a file named `example.py`. A ```text block right behind one
is what it prints; where the block raises, the last of it is the exception as an uncaught one is shown. A ```sh block followed by
a ```text block is run by the shell. `...` in an expected text stands for anything. Blocks of other languages are not run.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import linecache
import os
import re
import subprocess
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

NAME = "example.py"
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_VECTOR = re.compile(r"(\d+):\d+: vectorised: \d+ x \w+")


@dataclass(frozen=True, slots=True)
class Example:
    """A block that runs, where it stands, and the text behind it, if there is one, with its place in the page."""

    language: str
    source: str
    line: int
    expected: str | None
    span: tuple[int, int]


def examples(text: str) -> Iterator[Example]:
    """The blocks of a page that run."""
    fences = list(_FENCE.finditer(text))
    for index, fence in enumerate(fences):
        after = fences[index + 1] if index + 1 < len(fences) else None
        shown = after is not None and after[1] == "text" and not text[fence.end() : after.start()].strip()
        if fence[1] == "python" or (fence[1] == "sh" and shown):
            span = after.span(2) if shown and after else (0, 0)
            expected = after[2] if shown and after else None
            yield Example(fence[1], fence[2], text.count("\n", 0, fence.start()) + 2, expected, span)


def run(example: Example, module: ModuleType, folder: Path) -> str:
    """What a block prints. A block that nothing is said about may not raise."""
    if example.language == "sh":
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            example.source,
            shell=True,
            cwd=folder,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return done.stdout + done.stderr
    linecache.cache[NAME] = (len(example.source), None, example.source.splitlines(keepends=True), NAME)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(example.source, NAME, "exec", dont_inherit=True), module.__dict__)
        except Exception as error:
            if example.expected is None or "QD599" in str(error) or isinstance(error, AssertionError):
                raise  # no page shows an error of the compiler itself, or of an assertion in the page
            out.write("".join(traceback.format_exception_only(error)))
    return out.getvalue()


def page_results(path: Path, folder: Path) -> Iterator[tuple[Example, str]]:
    """Each block of a page with what it prints."""
    module = ModuleType(f"page_{path.stem.replace('-', '_')}")
    sys.modules[module.__name__] = module
    try:
        for example in examples(path.read_text(encoding="utf-8")):
            yield example, run(example, module, folder)
    finally:
        del sys.modules[module.__name__]


def matches(expected: str, found: str) -> bool:
    """Whether a text is the expected one, up to `...`, and what `_plain` leaves out."""
    return doctest.OutputChecker().check_output(_plain(expected), _plain(found), doctest.ELLIPSIS)


def _plain(text: str) -> str:
    """Without what depends on the machine or on the version of Python: how wide a vector is, the column of a loop, the marks that
    tracebacks have under a line; and without spaces at ends of lines."""
    lines = [line.rstrip() for line in _VECTOR.sub(r"\1: vectorised", text).splitlines()]
    return "".join(f"{line}\n" for line in lines if not (line.startswith("    ") and set(line) <= set(" ~^")))


def updated(text: str, results: list[tuple[Example, str]]) -> str:
    """The page with the texts that do not match replaced by what was found."""
    for example, found in reversed(results):
        if example.expected is not None and not matches(example.expected, found):
            start, end = example.span
            lines = "".join(line.rstrip() + "\n" for line in found.splitlines())
            text = text[:start] + lines + text[end:]
    return text
