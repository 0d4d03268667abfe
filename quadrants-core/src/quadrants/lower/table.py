"""The emitters by op name, and the ops that never get here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from quadrants.ir.ops import device, subgroup
from quadrants.lower import (
    arith,
    atomics,
    calls,
    cast,
    contractions,
    control,
    elementary,
    errors,
    lanes,
    lists,
    memory,
    parallel,
    strings,
    variables,
)
from quadrants.lower.emit import Emitter

_FAMILIES = (
    arith,
    cast,
    elementary,
    memory,
    lanes,
    errors,
    control,
    calls,
    parallel,
    variables,
    atomics,
    strings,
    lists,
    contractions,
)

EMITTERS: Mapping[str, Emitter] = MappingProxyType(
    {name: emitter for family in _FAMILIES for name, emitter in family.EMITTERS.items()}
)

#: Op name -> why it is not lowered.
UNSUPPORTED: Mapping[str, str] = MappingProxyType(
    {
        "map": "expanded into loops by the pass expand_maps",
        "map_into": "expanded into loops by the pass expand_maps",
        "launch": "done by the host, for code that runs on a device",
        **{
            defn.name: "of devices: on the CPU, passes.blocks makes loops over the threads of a block of it"
            for defn in (*device.DEFS, *subgroup.DEFS)
            if defn.name not in EMITTERS
        },
    }
)
