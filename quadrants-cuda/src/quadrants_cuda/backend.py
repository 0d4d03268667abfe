"""The CUDA backend as core sees it.

In this version it can be installed, listed and asked why it cannot be used; it has no code generator yet.
"""

from __future__ import annotations

import sys

from quadrants.backend.unbuilt import Driver, UnbuiltBackend

DRIVER = Driver(
    "CUDA driver",
    (
        ("linux", "libcuda.so.1"),
        ("win32", "nvcuda.dll"),
    ),
)


class CudaBackend(UnbuiltBackend):
    """`qd.cuda`."""

    def __init__(self, platform: str = sys.platform) -> None:
        super().__init__("cuda", "CUDA", DRIVER, platform)
