"""Write the text of every stage into `docs/contributing/function-to-machine-code.md`.

The page is prose with blocks between `<!-- stage: name -->` and `<!-- end -->`; the blocks are what the compiler makes of one
small function, on CPython 3.11, for the instruction set x86-64-v3. With `--check`, say whether the page is current and fail if not.
"""

from __future__ import annotations

import contextlib
import dis
import io
import linecache
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parent.parent / "docs" / "contributing" / "function-to-machine-code.md"
ISA = "x86-64-v3"
PYTHON = (3, 11)
_BLOCK = re.compile(r"<!-- stage: (?P<name>\w+) -->\n.*?<!-- end -->", re.DOTALL)
_MARKS = ("!tbaa", "!prof", "!llvm.loop")

PROGRAM = """import numpy as np
import quadrants as qd


@qd.njit
def square_sum(a):
    s = 0.0
    for i in range(len(a)):
        s += a[i] * a[i]
    return s


square_sum(np.ones(4))
"""


def possible() -> bool:
    """Whether this machine and interpreter give the texts of the page."""
    return sys.version_info[:2] == PYTHON and platform.machine() == "x86_64"


def function() -> Any:
    """The compiled function of the page's program."""
    linecache.cache["example.py"] = (len(PROGRAM), None, PROGRAM.splitlines(keepends=True), "example.py")
    namespace: dict[str, Any] = {"__name__": "example"}
    exec(compile(PROGRAM, "example.py", "exec"), namespace)
    return namespace["square_sum"]


def bytecode(f: Any) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        dis.dis(f.py_func)
    return "\n".join(line.rstrip() for line in out.getvalue().strip("\n").splitlines())


def regions(f: Any) -> str:
    from quadrants.bytecode import format, regions

    return format(regions(f.py_func.__code__))


def typed(f: Any) -> str:
    """QIR as inference makes it."""
    from quadrants.infer import Options, infer_module
    from quadrants.ir.text import print_module

    (specialisation,) = f.overloads.values()
    return print_module(infer_module(f.py_func, specialisation.types, Options()).module)


def only(texts: dict[Any, str]) -> str:
    (text,) = texts.values()
    return text


def optimised(f: Any) -> str:
    return only(f.inspect_ir())


def llvm(f: Any) -> str:
    """The LLVM function of the kernel, without what only serves the optimiser."""
    found = re.search(
        r'^define (?:internal|hidden) [^\n]*@"square_sum.*?^}', only(f.inspect_llvm()), re.DOTALL | re.MULTILINE
    )
    assert found
    return re.sub(rf", (?:{'|'.join(_MARKS)}) ![0-9]+", "", found[0])


def instructions(text: str, name: str) -> list[list[str]]:
    """One function of an assembly, without directives, as blocks that begin with their label."""
    body = f"{name}:\n" + text.partition(f"\n{name}:\n")[2].partition("\n.Lfunc_end")[0]
    blocks: list[list[str]] = []
    for line in body.replace("\t", "    ").splitlines():
        if not line.startswith(" "):
            blocks.append([])
        if not line.lstrip().startswith((".cfi", ".p2align")):
            blocks[-1].append(line)
    return blocks


def assembly(f: Any) -> str:
    """The block with the most vector arithmetic: the loop where the time goes."""
    blocks = instructions(only(f.inspect_asm()), "square_sum.1")
    return "\n".join(max(blocks, key=lambda block: sum("vfmadd231pd" in line for line in block)))


def entry(f: Any) -> str:
    """From the check of the first argument to the call of the kernel."""
    lines = [line for block in instructions(only(f.inspect_asm()), "qd.square_sum") for line in block]
    start, end = (next(i for i, line in enumerate(lines) if name in line) for name in ("qd_ndarray", "square_sum.1"))
    return "\n".join(lines[start : end + 1])


#: Stage -> the language of its block, and how its text is made.
STAGES: dict[str, tuple[str, Callable[[Any], str]]] = {
    "bytecode": ("", bytecode),
    "regions": ("", regions),
    "typed": ("", typed),
    "optimised": ("", optimised),
    "llvm": ("llvm", llvm),
    "assembly": ("asm", assembly),
    "entry": ("asm", entry),
    "decisions": ("", lambda f: str(f.explain())),
}


def filled(text: str) -> str:
    """The page with the texts of now."""
    f = function()

    def block(match: re.Match[str]) -> str:
        language, make = STAGES[match["name"]]
        return f"<!-- stage: {match['name']} -->\n```{language}\n{make(f).strip(chr(10))}\n```\n<!-- end -->"

    program = f"<!-- program -->\n```python\n{PROGRAM}```\n<!-- end -->"
    text = re.sub(r"<!-- program -->.*?<!-- end -->", lambda _: program, text, count=1, flags=re.DOTALL)
    return _BLOCK.sub(block, text)


def main(arguments: list[str]) -> int:
    if not possible():
        print(f"the page of the stages is written on CPython {PYTHON[0]}.{PYTHON[1]} on x86-64 only: left as it is")
        return 0
    if os.environ.get("QUADRANTS_ISA") != ISA:  # the settings are read when the package is loaded
        environ = {**os.environ, "QUADRANTS_ISA": ISA, "QUADRANTS_CACHE": "0"}
        return subprocess.run([sys.executable, __file__, *arguments], env=environ, check=False).returncode
    old = PAGE.read_text(encoding="utf-8")
    new = filled(old)
    if "--check" in arguments:
        print(f"{PAGE.name} is {'current' if new == old else 'not current: run make docs'}")
        return int(new != old)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
