"""The CPU backend of Quadrants."""

from __future__ import annotations

from quadrants_cpu.backend import CpuBackend

__all__ = ["CpuBackend"]
