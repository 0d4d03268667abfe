"""The CUDA driver: its library, contexts, memory, streams."""

from __future__ import annotations
