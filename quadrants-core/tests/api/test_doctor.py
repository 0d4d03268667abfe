"""The doctor where everything works."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

from quadrants.doctor import doctor


def test_the_report() -> None:
    out = io.StringIO()
    assert doctor(out) == 0, out.getvalue()
    text = out.getvalue()
    for line in ("cpu: available", "agrees with the interpreter", "cpu: sums of blocks agree with NumPy"):
        assert line in text
    assert "failed" not in text


def test_a_cache_folder_that_nothing_was_kept_in_yet_is_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUADRANTS_CACHE_DIR", str(tmp_path / "new"))
    out = io.StringIO()
    assert doctor(out) == 0
    assert "made when something is kept" in out.getvalue() and "cannot be used" not in out.getvalue()
    (tmp_path / "file").write_text("a file where the folder should be")
    monkeypatch.setenv("QUADRANTS_CACHE_DIR", str(tmp_path / "file"))
    out = io.StringIO()
    with pytest.warns(UserWarning):
        doctor(out)
    assert "cannot be used" in out.getvalue()


def test_a_reader_that_stops_early_is_no_fault() -> None:
    command = [sys.executable, "-m", "quadrants", "doctor"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
