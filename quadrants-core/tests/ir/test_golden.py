"""The golden files of QIR itself: printing, and what the interpreter makes of small programs."""

from __future__ import annotations

from pathlib import Path

import golden
import pytest

from quadrants.ir import Module
from quadrants.ir.interp import run
from quadrants.ir.spec import verify


def _interp(module: Module, options: dict[str, str]) -> str:
    verify(module)
    args = [int(text) for text in options["args"].split(",")]
    results = run(module, args, max_steps=100_000)
    return "(" + ", ".join(str(int(value)) for value in results) + ")"


def _print(module: Module, options: dict[str, str]) -> Module:
    verify(module)
    return module


RUNNERS: dict[str, golden.Runner] = {"interp": _interp, "print": _print}


@pytest.mark.parametrize("case", golden.cases(Path(__file__).parent / "golden"), ids=str)
def test_golden(case: golden.Case) -> None:
    case.check(RUNNERS)


def test_golden_files_fail_when_the_output_is_another(tmp_path: Path) -> None:
    text = "qir 1\nentry @f\nfunc @f() -> () {\n  return\n}\n"
    path = tmp_path / "a.qir"

    def outcome(head: str, tail: str = "") -> bool:
        path.write_text(head + text + tail)
        (case,) = golden.load(path)
        try:
            case.check({"print": _print, "fail": _fail})
        except AssertionError:
            return False
        return True

    assert outcome("; RUN: print\n; CHECK: return\n; CHECK: }\n")
    assert not outcome("; RUN: print\n; CHECK: }\n; CHECK: return\n")
    assert outcome("; RUN: print\n; CHECK-NOT: yield\n")
    assert not outcome("; RUN: print\n; CHECK-NOT: return\n")
    assert outcome("; RUN: fail\n; ERROR: no good\n")
    assert not outcome("; RUN: fail\n; ERROR: all good\n")
    assert not outcome("; RUN: print\n", "; OUTPUT\nqir 1\n")
    assert not outcome("; RUN: unknown\n; CHECK: a\n")
    with pytest.raises(AssertionError, match="expects nothing"):
        outcome("; RUN: print\n")
    with pytest.raises(AssertionError, match="one RUN line"):
        outcome("; CHECK: a\n")


def test_outputs_are_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = "; RUN: print\nqir 1\nentry @f\nfunc @f() -> () { return }\n; OUTPUT\nold\n"
    path = tmp_path / "a.qir"
    path.write_text(case + "; --- second\n" + case)
    monkeypatch.setenv("UPDATE_GOLDEN", "1")
    for item in golden.load(path):
        item.check(RUNNERS)
    monkeypatch.delenv("UPDATE_GOLDEN")
    text = path.read_text()
    assert "old" not in text and text.count("; OUTPUT\nqir 1") == 2 and "; --- second\n" in text
    for item in golden.load(path):
        item.check(RUNNERS)


def _fail(module: Module, options: dict[str, str]) -> str:
    raise ValueError("this is no good")
