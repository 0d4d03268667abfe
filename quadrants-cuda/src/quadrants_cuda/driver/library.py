"""The driver as a library: calls, and errors in words."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

from quadrants_cuda.driver.declarations import DECLARATIONS, OUT_OF_MEMORY

#: The file names of the driver, by platform.
LIBRARIES: dict[str, tuple[str, ...]] = {"linux": ("libcuda.so.1", "libcuda.so"), "win32": ("nvcuda.dll",)}


class CudaError(Exception):
    """A call that failed.

    Args:
        call: the function of the driver.
        result: what it gave.
        words: what the driver says of that.
    """

    def __init__(self, call: str, result: int, words: str) -> None:
        super().__init__(f"{call} failed: {words} ({result})")
        self.call = call
        self.result = result
        self.words = words

    @property
    def no_memory(self) -> bool:
        return self.result == OUT_OF_MEMORY


class Library:
    """The driver of this machine."""

    def __init__(self, ffi: Any, lib: Any) -> None:
        self.ffi = ffi
        self.lib = lib
        self.null = ffi.NULL

    def call(self, name: str, *args: Any) -> None:
        """Call a function."""
        result = getattr(self.lib, name)(*args)
        if result:
            raise CudaError(name, result, self.words(result))

    def got(self, type: str, name: str, *args: Any) -> Any:
        """What a function writes through its first argument."""
        place = self.ffi.new(f"{type} *")
        self.call(name, place, *args)
        return place[0]

    def words(self, result: int) -> str:
        """An error, in the driver's words."""
        parts = []
        for function in (self.lib.cuGetErrorName, self.lib.cuGetErrorString):
            text = self.ffi.new("char **")
            if function(result, text) == 0 and text[0] != self.null:
                parts.append(self.ffi.string(text[0]).decode(errors="replace"))
        return ": ".join(parts) or "the driver gives no reason"


@cache
def library() -> Library | None:
    """The driver, or None where there is none."""
    import cffi  # loaded by the first program that asks for a device

    ffi = cffi.FFI()
    ffi.cdef(DECLARATIONS)
    for name in LIBRARIES.get(sys.platform, ()):
        try:
            return Library(ffi, ffi.dlopen(name))
        except OSError:
            continue
    return None
