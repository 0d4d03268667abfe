"""Quadrants: ordinary Python to machine code at run time."""

from __future__ import annotations

from quadrants._version import __version__

__all__ = ["__version__"]
