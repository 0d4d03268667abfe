"""The AMDGPU backend of Quadrants."""

from __future__ import annotations

from quadrants_amdgpu.backend import AmdgpuBackend

__all__ = ["AmdgpuBackend"]
