"""Quadrants: ordinary Python to machine code at run time.

`@quadrants.njit` compiles a function when it is called. Everything else is loaded when it is first named: backends
(`quadrants.cpu`, `quadrants.cuda`, ...), errors, types (`quadrants.float64`, `quadrants.f32`, ...).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from quadrants import config as _config
from quadrants._version import __version__

if TYPE_CHECKING:
    from quadrants.api.decorate import jit, njit
    from quadrants.api.intrinsics import prange
    from quadrants.backend import backends
    from quadrants.diagnostics import CompileError, QuadrantsError, QuadrantsWarning

#: public name -> the module that has it under the same name.
_HOMES: dict[str, str] = {
    **dict.fromkeys(("njit", "jit"), "quadrants.api.decorate"),
    "prange": "quadrants.api.intrinsics",
    **dict.fromkeys(("cache_info", "clear_cache"), "quadrants.api.caching"),
    "backends": "quadrants.backend",
    **dict.fromkeys(("Signature", "TypeName"), "quadrants.types.names"),
    **dict.fromkeys(
        (
            "BackendError",
            "BackendUnavailable",
            "CacheError",
            "CompileAttributeError",
            "CompileError",
            "CompileNameError",
            "CompileSyntaxError",
            "CompileTypeError",
            "CompileValueError",
            "EnvironmentProblem",
            "InternalError",
            "QuadrantsError",
            "QuadrantsWarning",
            "SettingError",
            "UnsupportedPlatform",
        ),
        "quadrants.diagnostics",
    ),
}

_BACKENDS = ("cpu", "cuda", "amdgpu", "metal", "vulkan")

__all__ = ["__version__", "backends", "jit", "njit", "prange", "CompileError", "QuadrantsError", "QuadrantsWarning"]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used."""
    home = _HOMES.get(name)
    if home is not None:
        value = getattr(importlib.import_module(home), name)
    elif name in _BACKENDS:
        return importlib.import_module("quadrants.backend").get_backend(name).namespace
    else:
        value = _type_name(name)
    globals()[name] = value
    return value


def _type_name(name: str) -> Any:
    """The type of a public name, such as `float64`."""
    if not name.startswith("__"):
        found = importlib.import_module("quadrants.types.names").PUBLIC.get(name)
        if found is not None:
            return found
    raise AttributeError(f"module 'quadrants' has no attribute {name!r}", name=name)


def __dir__() -> list[str]:
    types = importlib.import_module("quadrants.types.names").PUBLIC
    return sorted({*globals(), *_HOMES, *_BACKENDS, *types})


_config.warn_unknown()
