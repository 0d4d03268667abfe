"""The contract between core and the backends, and the registry that finds backends.

Core imports no backend: a backend is a distribution of its own that names its class in the entry-point group
`quadrants.backends` and imports core only. This package imports `diagnostics` and nothing else of core. The names are resolved
when they are first asked for, because `import quadrants` has to stay light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quadrants.backend.contract import (
        Artifact,
        Availability,
        Backend,
        Capabilities,
        Device,
        DeviceMemory,
        Event,
        Executable,
        KernelExecutable,
        LaunchAbi,
        LaunchShape,
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
    "KernelExecutable",
    "LaunchAbi",
    "LaunchShape",
    "Stream",
    "Target",
    "backends",
    "get_backend",
]

_REGISTRY = frozenset({"BackendInfo", "backends", "get_backend"})


def __getattr__(name: str) -> Any:
    """Import a public name from the module that defines it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f"{__name__}.{'registry' if name in _REGISTRY else 'contract'}"), name)
    globals()[name] = value
    return value
