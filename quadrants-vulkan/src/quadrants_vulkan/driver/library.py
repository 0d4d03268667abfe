"""The Vulkan loader as a library: calls, structs and errors.

Takes names and members of structs; gives cffi objects. A call whose result is a failure raises `VulkanError`, which
says it in words.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from quadrants_vulkan.driver.declarations import RESULTS, STRUCTURES

#: The file names of the loader, by platform.
LIBRARIES: dict[str, tuple[str, ...]] = {
    "linux": ("libvulkan.so.1", "libvulkan.so"),
    "win32": ("vulkan-1.dll",),
    "darwin": ("libvulkan.1.dylib", "libMoltenVK.dylib"),
}


class VulkanError(Exception):
    """A call that failed.

    Args:
        call: the function of the driver.
        result: what it gave.
    """

    def __init__(self, call: str, result: int) -> None:
        super().__init__(f"{call} failed: {RESULTS.get(result, 'the driver gives no reason')} ({result})")
        self.call = call
        self.result = result

    @property
    def no_memory(self) -> bool:
        return self.result in (-1, -2)


class Rows(list[Any]):
    """Structs in an array: they are parts of its memory, which lives as long as the list."""

    memory: Any = None


class Library:
    """The loader of this machine."""

    def __init__(self, ffi: Any, lib: Any) -> None:
        self.ffi = ffi
        self.lib = lib
        self.null = ffi.NULL

    def new(self, name: str, **members: Any) -> Any:
        """A struct, with its number and the members that are given."""
        made = self.ffi.new(f"{name} *")
        if name in STRUCTURES:
            made.sType = STRUCTURES[name]
        for member, value in members.items():
            setattr(made, member, value)
        return made

    def call(self, name: str, *args: Any) -> int:
        """Call a function whose result says whether it failed; gives the result."""
        result = int(getattr(self.lib, name)(*args))
        if result < 0:
            raise VulkanError(name, result)
        return result

    def create(self, name: str, owner: Any, info: Any) -> int:
        """The handle of a new object."""
        handle = self.ffi.new("VkHandle *")
        self.call(name, owner, info, self.null, handle)
        return int(handle[0])

    def listed(self, type: str, function: Callable[..., Any], *args: Any) -> Rows:
        """What a function that lists into an array lists."""
        count = self.ffi.new("uint32_t *")
        function(*args, count, self.null)
        items = self.ffi.new(f"{type}[]", max(1, count[0]))
        function(*args, count, items)
        rows = Rows(items[index] for index in range(count[0]))
        rows.memory = items
        return rows

    def texts(self, names: Iterable[str]) -> tuple[Any, list[Any]]:
        """An array of C strings, and what has to be kept alive for it."""
        kept = [self.ffi.new("char[]", name.encode()) for name in names]
        return (self.ffi.new("char *[]", kept) if kept else self.null), kept

    def string(self, text: Any) -> str:
        return str(self.ffi.string(text).decode(errors="replace"))


@cache
def library() -> Library | None:
    """The loader, or None where there is none."""
    from quadrants_vulkan.driver.compiled import ffi

    for name in LIBRARIES.get(sys.platform, ()):
        try:
            return Library(ffi, ffi.dlopen(name))
        except OSError:
            continue
    return None
