"""The CUDA backend of Quadrants."""

from __future__ import annotations

from quadrants_cuda.backend import CudaBackend

__all__ = ["CudaBackend"]
