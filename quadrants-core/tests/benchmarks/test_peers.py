"""The comparison with other compilers: its rivals compute the right thing, absent ones are named, results are kept."""

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


peers, rivals, suite = _module("peers"), _module("rivals"), _module("suite")


def test_kernels_in_c_give_what_numpy_gives() -> None:
    rival = rivals._c()
    if rival.absent:
        pytest.skip(rival.absent)
    assert tuple(rival.functions) == rivals.C_KERNELS
    for name, function in rival.functions.items():
        workload = suite.WORKLOADS[name]
        args = peers.copied(workload.make("small"))
        right, error = workload.check(function(*args), args, "small")
        assert right, f"{name} is off by {error}"


def test_absent_rivals_are_named_and_do_not_fail(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(rivals.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(rivals.shutil, "which", lambda name: None)
    assert peers.main(["--only", "sum_f64", "--budget", "0.01", "--results", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    for name in (
        "numba is not installed",
        "C has no compiler here",
        "taichi is not installed",
        "warp is not installed",
    ):
        assert f"not compared: {name}" in text
    assert "numpy / ours" in text and "geometric mean of numpy / ours" in text
    (path,) = tmp_path.iterdir()
    (record,) = json.loads(path.read_text())["kernels"]
    assert record["kernel"] == "sum_f64" and record["right"] is True and set(record["peers"]) == {"numpy"}
    assert record["ms"] > 0 and record["first_ms"] > 0


def test_a_line_has_a_column_for_each_rival() -> None:
    peer = {"ms": 2.0, "ratio": 2.0, "low": 1.9, "high": 2.1, "first_ms": 300.0}
    record = {"kernel": "life", "ms": 1.0, "first_ms": 50.0, "right": False, "error": 0.5, "peers": {"numba": peer}}
    text = peers.line(record, ["numba", "numpy"])
    assert text.split() == ["life", "1.000", "50", "2.00", "(1.90", "-", "2.10)", "-", "300", "WRONG", "(5.0e-01)"]
    assert peers.geometric_means([record, record], ["numba", "numpy"]) == {"numba": pytest.approx(2.0)}


def test_the_memory_of_a_call_is_what_it_has_beyond_the_process() -> None:
    found = peers.call_memory(lambda: bytearray(b"x") * 64 * 2**20)
    if found is None:
        pytest.skip("this system does not tell the memory of a process")
    assert 60 <= found <= 200
    assert peers.call_memory(lambda: None) <= 8
