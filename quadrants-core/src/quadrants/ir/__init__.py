"""QIR, the intermediate representation: typed, structured, in SSA form. See `docs/contributing/qir.md`."""

from __future__ import annotations

from quadrants.ir.core import QIR_VERSION, Function, Loc, Module, Op, Region, Scope, Value
from quadrants.ir.opdef import Effect, OpDef

__all__ = ["QIR_VERSION", "Effect", "Function", "Loc", "Module", "Op", "OpDef", "Region", "Scope", "Value"]
