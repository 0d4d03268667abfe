"""QIR, the intermediate representation: typed, structured, in SSA form. See `docs/contributing/qir.md`.

The names below are loaded when they are first used: a cached call needs the places of operations, and no operations.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quadrants.ir.core import QIR_VERSION, Function, Module, Op, Region, Value
    from quadrants.ir.opdef import Effect, OpDef
    from quadrants.ir.origin import Loc, Scope

__all__ = ["QIR_VERSION", "Effect", "Function", "Loc", "Module", "Op", "OpDef", "Region", "Scope", "Value"]

#: name -> the module that has it.
_HOMES = {
    **dict.fromkeys(("QIR_VERSION", "Function", "Module", "Op", "Region", "Value"), "quadrants.ir.core"),
    **dict.fromkeys(("Effect", "OpDef"), "quadrants.ir.opdef"),
    **dict.fromkeys(("Loc", "Scope"), "quadrants.ir.origin"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'quadrants.ir' has no attribute {name!r}", name=name)
    value = globals()[name] = getattr(importlib.import_module(_HOMES[name]), name)
    return value
