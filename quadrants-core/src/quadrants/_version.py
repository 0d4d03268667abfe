"""The version of every Quadrants distribution (a test keeps the pyproject files equal to it)."""

from __future__ import annotations

__version__ = "0.1.0"
