"""The operations of QIR, one table a family. `OPS` maps every name to its definition and never changes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from quadrants.ir.opdef import OpDef
from quadrants.ir.ops import (
    arith,
    bits,
    call,
    cast,
    complex,
    const,
    contraction,
    control,
    device,
    errors,
    lanes,
    lists,
    map,
    math,
    memory,
    strings,
    subgroup,
    variables,
)
from quadrants.ir.ops.lift import lifted

_FAMILIES = (
    *(const, arith, bits, cast, complex, math, memory, lanes, map, variables, control, call, errors),
    *(strings, lists, contraction, device, subgroup),
)
#: These compute on each lane by itself where they are given lanes.
_ELEMENTWISE = (arith, bits, cast, complex, math)

OPS: Mapping[str, OpDef] = MappingProxyType(
    {defn.name: lifted(defn) if family in _ELEMENTWISE else defn for family in _FAMILIES for defn in family.DEFS}
)

__all__ = ["OPS"]
