"""Golden files: a module of QIR with what is expected of it beside it.

A file `*.qir` holds one or more cases, separated by lines `; ---`. A case is comments, a module, and perhaps an output:

    ; RUN: simplify fold=true            the name of a runner, and its options
    ; CHECK: add %x, %y                  the output has this text; several must come in this order
    ; CHECK-NOT: mul                     the output has this text nowhere
    ; ERROR: does not end                the runner raises an exception whose text has this
    qir 1
    ...
    ; OUTPUT                             everything below is the whole output
    qir 1
    ...

Spaces at the ends of lines, and runs of spaces inside a CHECK, do not matter. `UPDATE_GOLDEN=1` in the environment writes the
outputs anew. A test module for a folder of cases is:

    @pytest.mark.parametrize("case", golden.cases(Path(__file__).parent / "golden"), ids=str)
    def test_golden(case: golden.Case) -> None:
        case.check({"simplify": run_simplify})

where a runner takes (module, options) and gives a module, a text, or a list of both, one under the other.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from quadrants.ir import Module
from quadrants.ir.parser import parse_module
from quadrants.ir.text import print_module

Output = Module | str
Runner = Callable[[Module, dict[str, str]], "Output | Iterable[Output]"]

_SEPARATOR = re.compile(r"^; ---.*\n", re.MULTILINE)
_OUTPUT = re.compile(r"^; OUTPUT[ \t]*\n", re.MULTILINE)
_DIRECTIVE = re.compile(r"^; (RUN|CHECK-NOT|CHECK|ERROR):[ \t]*(.*?)[ \t]*$", re.MULTILINE)


@dataclass(slots=True)
class Case:
    """One case of a file."""

    path: Path
    index: int
    source: str
    output: str | None
    run: tuple[str, ...]
    checks: list[tuple[str, str]] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.path.stem}-{self.index}" if self.index else self.path.stem

    def check(self, runners: Mapping[str, Runner]) -> None:
        """Run the case and compare."""
        name, *options = self.run
        assert name in runners, f"{self.path}: no runner is called {name!r}"
        expected = [text for kind, text in self.checks if kind == "ERROR"]
        if expected:
            with pytest.raises(Exception) as caught:
                self._text(runners[name], options)
            for text in expected:
                assert text in str(caught.value), f"{self.path}: {caught.value}"
            return
        found = self._text(runners[name], options)
        self._check_lines(found)
        if self.output is None:
            return
        if os.environ.get("UPDATE_GOLDEN"):
            self._update(found)
        else:
            assert _strip(found) == _strip(self.output), f"{self.path}: the output differs; it is\n{found}"

    def _text(self, runner: Runner, options: list[str]) -> str:
        result = runner(parse_module(self.source), dict(option.partition("=")[::2] for option in options))
        parts = [result] if isinstance(result, (Module, str)) else list(result)
        return "\n".join(print_module(part) if isinstance(part, Module) else part for part in parts)

    def _check_lines(self, found: str) -> None:
        text = _squeeze(found)
        start = 0
        for kind, wanted in self.checks:
            place = text.find(_squeeze(wanted), start if kind == "CHECK" else 0)
            if kind == "CHECK-NOT":
                assert place < 0, f"{self.path}: the output has {wanted!r}:\n{found}"
            else:
                assert place >= 0, f"{self.path}: the output lacks {wanted!r} (in this order):\n{found}"
                start = place + len(_squeeze(wanted))

    def _update(self, found: str) -> None:
        chunks = _SEPARATOR.split(self.path.read_text())
        separators = _SEPARATOR.findall(self.path.read_text())
        head = _OUTPUT.split(chunks[self.index], maxsplit=1)[0]
        chunks[self.index] = f"{head}; OUTPUT\n{found.rstrip()}\n"
        text = chunks[0] + "".join(line + chunk for line, chunk in zip(separators, chunks[1:]))
        self.path.write_text(text)


def cases(folder: Path) -> list[Case]:
    """Every case of the folder's files. There must be one."""
    found = [case for path in sorted(folder.rglob("*.qir")) for case in load(path)]
    assert found, f"no golden files in {folder}"
    return found


def load(path: Path) -> list[Case]:
    """The cases of one file."""
    result = []
    for index, chunk in enumerate(_SEPARATOR.split(path.read_text())):
        source, *rest = _OUTPUT.split(chunk, maxsplit=1)
        directives = _DIRECTIVE.findall(source)
        runs = [tuple(text.split()) for kind, text in directives if kind == "RUN"]
        assert len(runs) == 1 and runs[0], f"{path}: case {index} must have one RUN line"
        checks = [(kind, text) for kind, text in directives if kind != "RUN"]
        assert checks or rest, f"{path}: case {index} expects nothing"
        result.append(Case(path, index, source, rest[0] if rest else None, runs[0], checks))
    return result


def _strip(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def _squeeze(text: str) -> str:
    return re.sub(r"[ \t]+", " ", text)
