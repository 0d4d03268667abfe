"""The Vulkan backend as core sees it.

In this version it can be installed, listed and asked why it cannot be used; it has no code generator yet.
"""

from __future__ import annotations

import sys

from quadrants.backend.unbuilt import Driver, UnbuiltBackend

DRIVER = Driver(
    "Vulkan loader",
    (
        ("linux", "libvulkan.so.1"),
        ("win32", "vulkan-1.dll"),
        ("darwin", "libvulkan.1.dylib"),
        ("darwin", "libMoltenVK.dylib"),
    ),
)


class VulkanBackend(UnbuiltBackend):
    """`qd.vulkan`."""

    def __init__(self, platform: str = sys.platform) -> None:
        super().__init__("vulkan", "Vulkan", DRIVER, platform)
