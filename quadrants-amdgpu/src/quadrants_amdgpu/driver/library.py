"""HIP as a library: calls and errors.

Takes names of functions and their arguments; gives what they put into their first argument. A call that fails raises `HipError`,
which says why in the library's words.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from typing import Any

from quadrants_amdgpu.driver.declarations import HIP

#: The file names of the library, by platform.
LIBRARIES: dict[str, tuple[str, ...]] = {
    "linux": (
        "libamdhip64.so.7",
        "libamdhip64.so.6",
        "libamdhip64.so.5",
        "libamdhip64.so",
        "/opt/rocm/lib/libamdhip64.so",
    ),
    "win32": ("amdhip64_7.dll", "amdhip64_6.dll", "amdhip64.dll"),
}
_NO_MEMORY = 2
#: Bytes that the properties of a device fit into, whatever the version of the library; and where the name of the processor is.
_PROPERTIES = 8192
_PROCESSOR = re.compile(rb"gfx[0-9a-f]+(?::[a-z]+[+-])*")
#: Keys of the array that gives a launch its arguments as one block.
_BUFFER, _SIZE, _END = 1, 2, 3


class HipError(Exception):
    """A call that failed.

    Args:
        call: the function.
        result: what it gave.
        text: what the library says of that.
    """

    def __init__(self, call: str, result: int, text: str) -> None:
        super().__init__(f"{call} failed: {text} ({result})")
        self.call = call
        self.result = result

    @property
    def no_memory(self) -> bool:
        return self.result == _NO_MEMORY


class Hip:
    """The library of this machine, or what stands in for it in tests."""

    def __init__(self, ffi: Any, lib: Any) -> None:
        self.ffi = ffi
        self.lib = lib
        self.null = ffi.NULL

    def call(self, name: str, *args: Any) -> None:
        """Call a function whose result says whether it failed."""
        result = getattr(self.lib, name)(*args)
        if result:
            text = self.ffi.string(self.lib.hipGetErrorString(result)).decode(errors="replace")
            raise HipError(name, int(result), text)

    def made(self, name: str, *args: Any, type: str = "uintptr_t *") -> Any:
        """What a function puts into its first argument."""
        place = self.ffi.new(type)
        self.call(name, place, *args)
        return place[0]

    def properties(self, device: int) -> tuple[str, str]:
        """The name of a device, and of its processor. Where the latter is differs between versions: it is found by its form."""
        data = self.ffi.new("char[]", _PROPERTIES)
        try:
            self.call("hipGetDevicePropertiesR0600", data, device)
        except AttributeError:  # before ROCm 6
            self.call("hipGetDeviceProperties", data, device)
        raw = bytes(self.ffi.buffer(data))
        found = _PROCESSOR.search(raw, 256)
        return raw.partition(b"\0")[0].decode(errors="replace"), found[0].decode() if found else ""

    def launch(self, function: int, grid: Any, block: Any, shared_bytes: int, stream: int, arguments: bytes) -> None:
        """Start a kernel with its arguments as one block."""
        ffi = self.ffi
        data, size = ffi.from_buffer("char[]", arguments), ffi.new("size_t *", len(arguments))
        keys = [ffi.cast("void *", key) for key in (_BUFFER, _SIZE, _END)]
        extra = ffi.new("void *[]", [keys[0], ffi.cast("void *", data), keys[1], ffi.cast("void *", size), keys[2]])
        self.call("hipModuleLaunchKernel", function, *grid, *block, shared_bytes, stream, self.null, extra)


@cache
def library() -> Hip | None:
    """The library, or None where there is none."""
    names = LIBRARIES.get(sys.platform, ())
    if not names:
        return None
    import cffi  # only where it may be of use

    ffi = cffi.FFI()
    ffi.cdef(HIP)
    for name in names:
        try:
            return Hip(ffi, ffi.dlopen(name))
        except OSError:
            continue
    return None
