"""Checks MSL with clang and the library in `shim/`, and builds it for this machine: what the tests run instead of a Mac's compiler.

Takes texts of the backend; gives functions that run a launch of each. Several are one translation unit, with one prelude.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from quadrants_metal.lower.kernel import ENTRY
from quadrants_metal.lower.prelude import PRELUDE

SHIM = Path(__file__).with_name("shim")
NEEDED = "clang 16 or later is needed to check and run MSL (Debian: apt-get install clang-22)"
_COMPILERS = ("clang++-22", "clang++-19", "clang++-16", "clang++")
_WARNINGS = (
    "-Wall",
    "-Werror",
    "-Wdouble-promotion",
    "-Wfloat-conversion",
    "-Wno-unused",
    "-Wno-unknown-pragmas",
    "-Wno-tautological-compare",
)
_CODE = ("-std=c++14", "-O0", "-fno-omit-frame-pointer", "-fPIC", "-ffp-contract=off")
#: The attributes of a kernel's parameters, and what the host gives for each.
_GIVEN = {
    "buffer(0)": "*(constant Arguments*)args",
    "buffer(1)": "*(constant Launch*)launch",
    "threadgroup(0)": "(threadgroup uchar*)shared",
    "thread_position_in_threadgroup": "sim_thread()->thread_index",
    "threadgroup_position_in_grid": "sim_thread()->block",
    "threads_per_threadgroup": "sim_thread()->block_size",
    "threadgroups_per_grid": "sim_thread()->grid",
    "thread_index_in_simdgroup": "sim_thread()->lane",
    "threads_per_simdgroup": "sim_thread()->lanes",
}


#: How many kernels are one translation unit at most.
_TOGETHER = 60


class MslError(Exception):
    """What clang says of a text."""


@cache
def compiler() -> str | None:
    """The compiler, if there is one."""
    named = os.environ.get("METAL_TEST_CLANG", "")
    return next(filter(_will_do, filter(None, map(shutil.which, (named, *_COMPILERS)))), None)


def _will_do(path: str) -> bool:
    """Whether it has float16 on every processor."""
    done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    version = re.search(r"clang version (\d+)", done.stdout)
    return version is not None and int(version[1]) >= 16


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="quadrants-msl-")


def _clang(*arguments: str) -> None:
    done = subprocess.run([str(compiler()), *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise MslError(done.stderr)


@cache
def _runtime() -> str:
    """The object file of what runs threads."""
    path = f"{_folder().name}/runtime.o"
    source = str(SHIM / "runtime.cpp")
    _clang("-std=c++17", "-O1", "-fno-omit-frame-pointer", "-fPIC", "-c", source, "-o", path)
    return path


def host_text(texts: Sequence[str]) -> str:
    """One program for the host with all the kernels, each in a namespace of its own."""
    parts = [_without_attributes(PRELUDE)]
    for position, text in enumerate(texts):
        assert text.startswith(PRELUDE)
        own = text.removeprefix(PRELUDE)
        assert not bare_pointers(own), bare_pointers(own)
        given = re.findall(r"\[\[(.*?)\]\]", own)
        assert given and set(given) <= set(_GIVEN), given
        arguments = ", ".join(_GIVEN[attribute] for attribute in given)
        parts += [
            f"namespace k{position} {{\n{_with_loops(_without_attributes(own))}",
            f"void run(const void* args, const void* launch, void* shared) {{ {ENTRY}({arguments}); }}\n}}",
            f'extern "C" int launch_{position}(const void* args, const void* launch, ulong shared_bytes, const uint* grid, '
            f"const uint* block) {{\n  return sim_run(&k{position}::run, args, launch, shared_bytes, grid, block);\n}}",
        ]
    return "\n".join(parts)


#: A pointer without an address space, which clang on the host takes for one into memory of the thread.
_BARE = re.compile(
    r"(?<!device )(?<!threadgroup )(?<!thread )\b(?:u?(?:char|short|int|long)|half|float|bool|atomic_\w+|void)\s*\*\s*\w"
)


def bare_pointers(text: str) -> list[str]:
    """The lines that have one."""
    return [line for line in text.splitlines() if _BARE.search(line)]


def _without_attributes(text: str) -> str:
    return re.sub(r"\s*\[\[.*?\]\]", "", text)


_LOOP = re.compile(r"^(\s*)((?:for|while) \(.*\)) \{$", re.MULTILINE)


def _with_loops(text: str) -> str:
    """The text with a `SimLoop` around every loop, that says to the runtime which turn a thread is in."""
    return _LOOP.sub(r"\1for (SimLoop around; around.once();) \2 { around.turn();", text)


def check(text: str) -> None:
    """Raise MslError unless clang accepts a text, which may be anything."""
    own = re.findall(r"\[\[(.*?)\]\]", text)
    assert set(own) <= set(_GIVEN), own
    path = Path(_folder().name, "check.cpp")
    path.write_text(_without_attributes(text))
    _clang(*_CODE, *_WARNINGS, f"-I{SHIM}", "-fsyntax-only", str(path))


#: What was built together, by its text.
_built: dict[str, Any] = {}


def prepare(texts: Sequence[str]) -> None:
    """Build kernels together, which takes less time than one by one."""
    missing = [text for text in dict.fromkeys(texts) if text not in _built]
    for start in range(0, len(missing), _TOGETHER):
        part = missing[start : start + _TOGETHER]
        _built.update(zip(part, _build(part)))


def build(text: str) -> Any:
    """A function (arguments, launch, bytes of shared memory, grid, block) -> 0, or 1: barriers diverge."""
    prepare([text])
    return _built[text]


def _build(texts: Sequence[str]) -> list[Any]:
    text = host_text(texts)
    name = f"{_folder().name}/{hashlib.sha256(text.encode()).hexdigest()[:24]}"
    Path(f"{name}.cpp").write_text(text)
    _clang(*_CODE, *_WARNINGS, f"-I{SHIM}", "-shared", f"{name}.cpp", _runtime(), "-lstdc++", "-o", f"{name}.so")
    library = ctypes.CDLL(f"{name}.so")
    return [getattr(library, f"launch_{position}") for position in range(len(texts))]
