"""Run a command once for each Python from 3.11 to 3.13 on this machine: `python tools/each_python.py -- make test-here`.

With `--others` before the `--`, the version that runs this is left out. The interpreter is handed over in the environment variable
PYTHON, as a path. Looks at PATH and at pyenv's versions; prints which versions were found, and fails if the command failed for any.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

VERSIONS = ("3.11", "3.12", "3.13")


def works(python: str, version: str) -> bool:
    """Whether `python` starts, is of the version, and can make environments."""
    probe = "import sys, ensurepip, venv; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run([python, "-c", probe], capture_output=True, text=True, timeout=60, check=False)
    except OSError:
        return False
    return done.returncode == 0 and done.stdout.strip() == version


def candidates(version: str) -> list[str]:
    """Where an interpreter of a version may be: this one, pyenv's, then PATH (which may hold a shim that does not start)."""
    found = [sys.executable] if sys.version_info[:2] == tuple(int(part) for part in version.split(".")) else []
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found += [str(p) for p in sorted(pyenv.glob(f"{version}.*/bin/python{version}"), reverse=True)]
    on_path = shutil.which(f"python{version}")
    return found + ([on_path] if on_path else [])


def link(version: str, python: str) -> str:
    """A path whose last part names the version, so that each interpreter gets an environment of its own."""
    return python if Path(python).name == f"python{version}" else str(Path(python).with_name(f"python{version}"))


def main(command: list[str], others: bool) -> int:
    failed = []
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    for version in VERSIONS:
        if others and version == here:
            continue
        python = next((p for p in candidates(version) if works(p, version)), None)
        if python is None:
            print(f"== Python {version}: not found, left out", flush=True)
            continue
        print(f"== Python {version}: {python}", flush=True)
        # A make that this runs is not a part of the make that runs this.
        environ = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
        if subprocess.run(command, env={**environ, "PYTHON": link(version, python)}, check=False).returncode:
            failed.append(version)
    print(f"== failed on: {', '.join(failed)}" if failed else "== passed on every Python found", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    arguments = sys.argv[1:]
    but_this = arguments[:1] == ["--others"]
    arguments = arguments[but_this:]
    sys.exit(main(arguments[1:] if arguments[:1] == ["--"] else arguments, but_this))
