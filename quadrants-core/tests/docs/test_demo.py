"""The demonstration, with few steps: it runs, checks itself, and fails when a check fails."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="the plots need it; tools/requirements-dev.txt has it")


def test_runs_as_a_program(checkout: Path, tmp_path: Path) -> None:
    picture = tmp_path / "out" / "demo.png"
    done = subprocess.run(
        [sys.executable, "-m", "demo", "--scale", "1000", "--out", str(picture)],
        cwd=checkout,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "energy after 1,000 steps: -0.169087605   reference -0.169087605" in done.stdout
    assert done.stdout.count("(extrapolated)") == 3
    assert "all checks passed" in done.stdout
    assert "FAILED" not in done.stdout
    assert "five bodies: 50,000 of 50,000 steps" in done.stdout
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_fails_when_a_check_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main = importlib.import_module("demo.__main__")
    nbody = importlib.import_module("demo.nbody")
    monkeypatch.setitem(nbody.PUBLISHED, 0, -0.169075165)
    monkeypatch.setattr(main, "RUNS", main.RUNS[:1])
    monkeypatch.setattr(main.plot, "save", lambda runs, path: None)
    assert main.main(["--scale", "5000", "--out", str(tmp_path / "demo.png")]) == 1
    assert "FAILED energy at the start: -0.169075164   reference -0.169075165" in capsys.readouterr().out


def test_a_check_of_nan_fails() -> None:
    report = importlib.import_module("demo.report")
    assert not report.Check("a", np.nan, 0.0, 1.0).passed
    assert report.Check("a", 1.0, 1.5, 0.5).passed


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0123, "12 ms"), (12.34, "12.3 s"), (90.0, "1.5 min"), (7200.0, "2.0 hours"), (172800.0, "2.0 days")],
)
def test_times_are_readable(seconds: float, text: str) -> None:
    assert importlib.import_module("demo.report").period(seconds) == text
