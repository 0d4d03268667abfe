"""Errors with source excerpts, their codes, and the records behind `explain()`.

Imports no other room of the compiler. Everything users catch is an attribute of `quadrants` too.
"""

from __future__ import annotations

from quadrants.diagnostics.codes import Code, Entry, Family
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
