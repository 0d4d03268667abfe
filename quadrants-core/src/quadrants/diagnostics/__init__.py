"""Errors with source excerpts, their codes, and the records behind `explain()`.

Imports no other room of the compiler. Everything users catch is an attribute of `quadrants` too. The names are resolved when they
are first asked for, because `import quadrants` has to stay light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quadrants.diagnostics.catalogue.entry import Entry
    from quadrants.diagnostics.codes import Code, Family
    from quadrants.diagnostics.errors import (
        BackendError,
        BackendUnavailable,
        CacheError,
        CompileAttributeError,
        CompileError,
        CompileNameError,
        CompileSyntaxError,
        CompileTypeError,
        CompileValueError,
        DeviceError,
        EnvironmentProblem,
        InternalError,
        QuadrantsError,
        QuadrantsWarning,
        SettingError,
        UnsupportedPlatform,
    )
    from quadrants.diagnostics.explain import Decision, DecisionKind
    from quadrants.diagnostics.location import SourceLocation

__all__ = [
    "BackendError",
    "BackendUnavailable",
    "CacheError",
    "Code",
    "CompileAttributeError",
    "CompileError",
    "CompileNameError",
    "CompileSyntaxError",
    "CompileTypeError",
    "CompileValueError",
    "DeviceError",
    "Decision",
    "DecisionKind",
    "Entry",
    "EnvironmentProblem",
    "Family",
    "InternalError",
    "QuadrantsError",
    "QuadrantsWarning",
    "SettingError",
    "SourceLocation",
    "UnsupportedPlatform",
]

_HOMES = {
    "Code": "codes",
    "Family": "codes",
    "Decision": "explain",
    "DecisionKind": "explain",
    "Entry": "catalogue.entry",
    "SourceLocation": "location",
}


def __getattr__(name: str) -> Any:
    """Import a public name from the module that defines it (most are in `errors`)."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f"{__name__}.{_HOMES.get(name, 'errors')}"), name)
    globals()[name] = value
    return value
