"""Valgrind's `callgrind` from inside the process it watches: counting goes on and off around what is to be counted.

Takes nothing but a page of memory for the few instructions that Valgrind knows as a request; gives the number of instructions that
compiled code executed inside of `counting`, in files that `dumps` reads. Only on x86-64 so far: the request is in its instructions.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

# A function of one pointer. Valgrind takes `rol rdi` by 3, 13, 61 and 51 (together nothing), then `xchg rbx, rbx`, for a request:
# rax points at its words, rdx has and gets the result. To any other processor it is a function that returns 0.
_REQUEST = bytes.fromhex("4889f831d248c1c70348c1c70d48c1c73d48c1c7334887db4889d0c3")
#: Callgrind's requests are numbered from its letters on.
_BASE = ord("C") << 24 | ord("T") << 16
_ZERO, _DUMP_AS, _START, _STOP = _BASE + 1, _BASE + 3, _BASE + 4, _BASE + 5


def missing() -> str:
    """Why instructions cannot be counted here; empty if they can."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return f"counting is written for x86-64, this machine is {platform.machine()}"
    if shutil.which("valgrind") is None:
        return "valgrind is not installed (Debian, Ubuntu: apt-get install valgrind)"
    return ""


class Counter:
    """Counts what runs inside of `counting(name)`; one for a process that runs under callgrind with `--instr-atstart=no`."""

    def __init__(self) -> None:
        self._page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        self._page.write(_REQUEST)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._page))
        self._call: Callable[[int], int] = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p)(address)

    def _ask(self, request: int, argument: int = 0) -> None:
        words = (ctypes.c_uint64 * 6)(request, argument)
        self._call(ctypes.addressof(words))

    @contextmanager
    def counting(self, name: str) -> Iterator[None]:
        """Count the body and write a dump of that name."""
        label = ctypes.create_string_buffer(name.encode())
        self._ask(_START)
        self._ask(_ZERO)
        yield
        self._ask(_DUMP_AS, ctypes.addressof(label))
        self._ask(_STOP)


#: Objects of the interpreter, whose own work on a call differs from run to run (it rewrites its byte code).
_INTERPRETER = re.compile(r"(lib)?python[\d.]*(\.so.*|\.exe)?|_ctypes.*|libffi.*|ld-.*")
#: `ob=(3) /usr/lib/libm.so`: the object that the lines below belong to; the path is there the first time.
_OBJECT = re.compile(r"(c?)ob=\((\d+)\)(?: (.*))?")


def instructions(text: str) -> int:
    """Of a dump: what ran outside of the interpreter, in compiled code and in the libraries that it calls."""
    names: dict[str, str] = {}
    total, counted, inclusive = 0, True, False
    for line in text.splitlines():
        if found := _OBJECT.match(line):
            callee, number, path = found.groups()
            names.setdefault(number, Path(path or "").name)
            counted = counted if callee else not _INTERPRETER.fullmatch(names[number])
        elif line.startswith("calls="):
            inclusive = True  # the next line has what the callee took, which its own lines have too
        elif line[:1] in "+-*0123456789" and line:
            total += int(line.split()[1]) if counted and not inclusive else 0
            inclusive = False
    return total


def dumps(folder: Path) -> dict[str, int]:
    """The instructions of each dump in a folder, by name."""
    found = {}
    for path in folder.iterdir():
        text = path.read_text(errors="replace")
        if name := re.search(r"^desc: Trigger: Client Request: (.+)$", text, re.MULTILINE):
            found[name[1]] = instructions(text)
    return found


def command(folder: Path) -> list[str]:
    """What to put in front of a command so that it runs under callgrind and leaves its dumps in the folder."""
    return [
        "valgrind",
        "--tool=callgrind",
        "--instr-atstart=no",
        "--quiet",
        f"--callgrind-out-file={folder / 'dump'}",
    ]
