"""The script for a GPU runs, here on the stand-in."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from cuda_harness import needed

SCRIPT = Path(__file__).with_name("on_device.py")


def test_the_script_for_a_device(tmp_path: Path) -> None:
    needed()
    figures = tmp_path / "figures.json"
    command = [sys.executable, str(SCRIPT), "--stand-in", "--json", str(figures)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    kept = json.loads(figures.read_text())
    assert not kept["failed"] and kept["figures"]["golden programs run [programs]"] > 5
