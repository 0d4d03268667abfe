"""The names of the explicit SIMT language, the same in the namespace of every backend. See `docs/kernels.md`."""

from __future__ import annotations
