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
    control,
    device,
    errors,
    map,
    math,
    memory,
    strings,
    subgroup,
    variables,
)

_FAMILIES = (
    *(
        const,
        arith,
        bits,
        cast,
        complex,
        math,
        memory,
        map,
        variables,
        control,
        call,
        errors,
        strings,
        device,
        subgroup,
    ),
)

OPS: Mapping[str, OpDef] = MappingProxyType({defn.name: defn for family in _FAMILIES for defn in family.DEFS})

__all__ = ["OPS"]
