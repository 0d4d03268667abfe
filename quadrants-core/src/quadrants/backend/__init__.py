"""The contract between core and the backends, and the registry that finds backends.

Core imports no backend: a backend is a distribution of its own that names its class in the entry-point group
`quadrants.backends` and imports core only. This package imports `diagnostics` and nothing else of core.
"""

from __future__ import annotations

from quadrants.backend.contract import (
    Artifact,
    Availability,
    Backend,
    Capabilities,
    Device,
    DeviceMemory,
    Event,
    Executable,
    LaunchAbi,
    Stream,
    Target,
)
from quadrants.backend.registry import BackendInfo, backends, get_backend

__all__ = [
    "Artifact",
    "Availability",
    "Backend",
    "BackendInfo",
    "Capabilities",
    "Device",
    "DeviceMemory",
    "Event",
    "Executable",
    "LaunchAbi",
    "Stream",
    "Target",
    "backends",
    "get_backend",
]
