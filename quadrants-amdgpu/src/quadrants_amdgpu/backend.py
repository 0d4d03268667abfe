"""The AMDGPU backend as core sees it.

In this version it can be installed, listed and asked why it cannot be used; it has no code generator yet.
"""

from __future__ import annotations

import sys

from quadrants.backend.unbuilt import Driver, UnbuiltBackend

DRIVER = Driver(
    "ROCm runtime (HIP)",
    (
        ("linux", "libamdhip64.so"),
        ("linux", "libamdhip64.so.6"),
        ("linux", "libamdhip64.so.7"),
        ("win32", "amdhip64.dll"),
    ),
)


class AmdgpuBackend(UnbuiltBackend):
    """`qd.amdgpu`."""

    def __init__(self, platform: str = sys.platform) -> None:
        super().__init__("amdgpu", "AMDGPU", DRIVER, platform)
