"""The Metal backend as core sees it.

In this version it can be installed, listed and asked why it cannot be used; it has no code generator yet.
"""

from __future__ import annotations

import sys

from quadrants.backend.unbuilt import Driver, UnbuiltBackend

DRIVER = Driver(
    "Metal framework",
    (("darwin", "/System/Library/Frameworks/Metal.framework/Metal"),),
)


class MetalBackend(UnbuiltBackend):
    """`qd.metal`."""

    def __init__(self, platform: str = sys.platform) -> None:
        super().__init__("metal", "Metal", DRIVER, platform)
