"""The Metal backend of Quadrants."""

from __future__ import annotations

from quadrants_metal.backend import MetalBackend

__all__ = ["MetalBackend"]
