"""Counted regressions: instructions of the suite's kernels, from Valgrind's dumps to the verdict."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]


def _module(name: str) -> Any:
    sys.path.insert(0, str(ROOT))
    try:
        return importlib.import_module(f"benchmarks.{name}")
    finally:
        sys.path.remove(str(ROOT))


callgrind, counts = _module("callgrind"), _module("counts")

#: A dump as Callgrind writes it: names are given once, `calls=` is followed by what the callee took.
DUMP = """version: 1
desc: Trigger: Client Request: saxpy 3
events: Ir
ob=(1) /usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0
fl=(1) ???
fn=(1) _PyEval_EvalFrameDefault
0 1000
cob=(2) ???
cfn=(2) 0x0000000005a11000
calls=3 0
0 700
+2 50
ob=(2)
fn=(2)
* 600
cob=(3) /usr/lib/libm.so.6
cfn=(3) sin
calls=1 0
0 40
ob=(3)
fn=(3)
0 40
-1 2
totals: 1692
"""


def test_a_dump_counts_compiled_code_and_libraries_but_not_the_interpreter(tmp_path: Path) -> None:
    (tmp_path / "dump.1").write_text(DUMP)
    (tmp_path / "dump").write_text("version: 1\ndesc: Trigger: Program termination\ntotals: 7\n")
    assert callgrind.dumps(tmp_path) == {"saxpy 3": 642}


@pytest.mark.parametrize(
    "name",
    ["python3.12", "libpython3.11.so.1.0", "_ctypes.cpython-311-x86_64-linux-gnu.so", "libffi.so.8", "ld-linux.so.2"],
)
def test_objects_of_the_interpreter(name: str) -> None:
    assert callgrind._INTERPRETER.fullmatch(name)


def test_rows_say_what_has_grown_and_what_is_not_counted_any_more() -> None:
    before = {"same": 1000, "grown": 1000, "better": 1000, "gone": 1000, "edge": 1000}
    found = {"same": 1001, "grown": 1051, "better": 900, "new": 5, "edge": 1050}
    lines = counts.rows(["same", "grown", "better", "gone", "new", "never", "edge"], found, before)
    verdicts = {row.name: row.verdict for row in lines}
    assert verdicts == {
        "same": "",
        "grown": "REGRESSION",
        "better": "better: update the baseline",
        "gone": "NOT COUNTED",
        "new": "new",
        "never": "not covered",
        "edge": "",
    }
    assert [row.name for row in lines if row.fails] == ["grown", "gone"]
    text = counts.table(lines)
    assert "grown                          1,051         1,000   1.051  REGRESSION" in text
    assert "over 4 kernels" in text


def test_an_update_keeps_the_other_kernels_and_scales() -> None:
    text = counts.updated({"full": {"a": 9}, "small": {"b": 2, "a": 1}}, "small", {"a": 5})
    assert json.loads(text) == {"full": {"a": 9}, "small": {"a": 5, "b": 2}}


def test_the_baseline_has_the_quick_kernels() -> None:
    assert set(counts.QUICK) <= set(counts.baseline()["small"])


def test_a_machine_without_valgrind_is_told_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(callgrind.shutil, "which", lambda name: None)
    monkeypatch.setattr(callgrind.platform, "machine", lambda: "x86_64")
    assert counts.main(["--quick"]) == 0
    assert "valgrind is not installed" in capsys.readouterr().out


@pytest.mark.slow
def test_counts_grow_with_the_work() -> None:
    if reason := callgrind.missing():
        pytest.skip(reason)
    found = counts.counts(["sum_f32", "saxpy_f64"])
    # 4,000 elements, 8 float32 or 4 float64 a vector: one instruction adds from memory; saxpy takes three.
    assert 4_000 / 8 <= found["sum_f32"] <= 20 * 4_000 / 8
    assert 3 * 4_000 / 4 <= found["saxpy_f64"] <= 20 * 4_000 / 4
    assert counts.counts(["saxpy_f64"])["saxpy_f64"] == pytest.approx(found["saxpy_f64"], rel=0.01)
