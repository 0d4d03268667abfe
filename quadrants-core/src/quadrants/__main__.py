"""`python -m quadrants`: commands for people.

`doctor` tells whether compiling works here, and if not, why; `explain QD208` prints the page of a diagnostic code;
`settings` prints the table of settings with their values.
"""

from __future__ import annotations

import argparse
import os
import sys

from quadrants import config
from quadrants._version import __version__
from quadrants.diagnostics.codes import Code


def main(arguments: list[str]) -> int:
    """Run one command; gives the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m quadrants", description="Quadrants: ordinary Python to machine code."
    )
    parser.add_argument("--version", action="version", version=f"quadrants {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("doctor", help="versions, this machine, backends, the cache, and a self-test")
    commands.add_parser("settings", help="the settings and their values")
    explain = commands.add_parser("explain", help="what a diagnostic code means")
    explain.add_argument("code", help="such as QD208")
    chosen = parser.parse_args(arguments)
    if chosen.command == "doctor":
        from quadrants.doctor import doctor

        return doctor(sys.stdout)
    if chosen.command == "settings":
        return _settings()
    return _explain(chosen.code)


def _settings() -> int:
    """Print each setting: variable, value, meaning."""
    for which in config.Config:
        row = which.setting
        print(f"{row.variable} = {config.get(which)!r}\n    {row.help}")
    return 0


def _explain(text: str) -> int:
    """Print the texts of a code."""
    number = text.upper().removeprefix("QD")
    code = next((code for code in Code if str(code.value) == number), None)
    if code is None:
        print(f"{text} is not a code of Quadrants; codes run from QD101 to QD599", file=sys.stderr)
        return 2
    entry = code.entry
    print(f"{code}: {entry.title}\n\n{entry.explanation}\n\n{entry.example.strip()}\n\n{entry.hint}")
    return 0


def _run() -> int:
    """`main` for the shell: who reads the output may stop before its end, as `head` does."""
    try:
        status = main(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the interpreter flushes once more
        return 1
    return status


if __name__ == "__main__":
    sys.exit(_run())
