"""Relocatable objects to code objects.

Takes an object and a processor; gives a shared object that HIP loads. Linked by ROCm's comgr, which is wherever HIP is, or by a
program `ld.lld`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from quadrants.diagnostics import BackendError, BackendUnavailable, Code
from quadrants_amdgpu.driver.declarations import COMGR

COMGR_LIBRARIES = {
    "linux": ("libamd_comgr.so.3", "libamd_comgr.so.2", "libamd_comgr.so", "/opt/rocm/lib/libamd_comgr.so"),
    "win32": ("amd_comgr_3.dll", "amd_comgr_2.dll", "amd_comgr.dll"),
}
#: Names of the program, and folders beside those of PATH.
_PROGRAMS = ("ld.lld", "ld.lld-22", "ld.lld-21", "ld.lld-20", "ld.lld-19")
_FOLDERS = ("/opt/rocm/llvm/bin", "/opt/rocm/lib/llvm/bin")

_RELOCATABLE, _EXECUTABLE = 7, 8
#: The number of the action, before the library's version 3 and since then.
_LINK_TO_EXECUTABLE = (9, 7)

Linker = Callable[[bytes, str], bytes]


class LinkError(Exception):
    """What a linker says of an object."""


class Comgr:
    """The library that compiles and links for AMD GPUs."""

    def __init__(self, ffi: Any, lib: Any) -> None:
        self.ffi = ffi
        self.lib = lib
        major, minor = ffi.new("size_t *"), ffi.new("size_t *")
        lib.amd_comgr_get_version(major, minor)
        self._action = _LINK_TO_EXECUTABLE[major[0] >= 3]

    def _call(self, name: str, *args: Any) -> None:
        status = getattr(self.lib, f"amd_comgr_{name}")(*args)
        if status:
            raise LinkError(f"amd_comgr_{name} failed with status {status}")

    @contextmanager
    def _new(self, make: str, drop: str, *args: Any) -> Iterator[Any]:
        made = self.ffi.new("Handle *")
        self._call(make, *args, made)
        try:
            yield made[0]
        finally:
            self._call(drop, made[0])

    def __call__(self, data: bytes, arch: str) -> bytes:
        """Link one object."""
        with (
            self._new("create_data", "release_data", _RELOCATABLE) as item,
            self._new("create_data_set", "destroy_data_set") as given,
            self._new("create_data_set", "destroy_data_set") as result,
            self._new("create_action_info", "destroy_action_info") as info,
        ):
            self._call("set_data", item, len(data), data)
            self._call("set_data_name", item, b"kernel.o")
            self._call("data_set_add", given, item)
            self._call("action_info_set_isa_name", info, f"amdgcn-amd-amdhsa--{arch}".encode())
            self._call("do_action", self._action, info, given, result)
            return self._only(result)

    def _only(self, result: Any) -> bytes:
        """The executable of a set."""
        with self._new("action_data_get_data", "release_data", result, _EXECUTABLE, 0) as made:
            size = self.ffi.new("size_t *")
            self._call("get_data", made, size, self.ffi.NULL)
            code = self.ffi.new("char[]", size[0])
            self._call("get_data", made, size, code)
            return bytes(self.ffi.buffer(code))


def comgr() -> Comgr | None:
    """The library, or None where there is none."""
    import cffi

    ffi = cffi.FFI()
    ffi.cdef(COMGR)
    for name in COMGR_LIBRARIES.get(sys.platform, ()):
        try:
            return Comgr(ffi, ffi.dlopen(name))
        except OSError:
            continue
    return None


def program() -> str | None:
    """The program `ld.lld`."""
    folders = [str(Path(root, "llvm", "bin")) for root in (os.environ.get("ROCM_PATH"),) if root]
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), *folders, *_FOLDERS))
    return next((found for name in _PROGRAMS if (found := shutil.which(name, path=path))), None)


def run_program(path: str, data: bytes) -> bytes:
    """Link one object with a program."""
    with tempfile.TemporaryDirectory(prefix="quadrants-") as folder:
        source, result = Path(folder, "kernel.o"), Path(folder, "kernel.hsaco")
        source.write_bytes(data)
        command = [path, "-shared", "--no-undefined", str(source), "-o", str(result)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise LinkError(f"{path}: {done.stderr.strip()}")
        return result.read_bytes()


@cache
def linkers() -> tuple[Linker, ...]:
    """What links on this machine, the first that is to be tried first: comgr may be older than the processor."""
    found: list[Linker] = []
    library = comgr()
    if library is not None:
        found.append(library)
    path = program()
    if path is not None:
        found.append(lambda data, arch: run_program(path, data))
    return tuple(found)


def link(data: bytes, arch: str) -> bytes:
    """The code object of an object."""
    problems = []
    for linker in linkers():
        try:
            return linker(data, arch)
        except LinkError as error:
            problems.append(str(error))
    if problems:
        raise BackendError(Code.CODEGEN_FAILED, f"no linker takes the code for {arch}: {'; '.join(problems)}")
    raise BackendUnavailable(
        Code.BACKEND_UNAVAILABLE,
        "there is no linker for AMD GPUs: neither ROCm's comgr nor a program ld.lld",
        hint="install ROCm, or lld (Debian: apt-get install lld)",
    )
