"""The emitters of a kind of GPU by op name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from quadrants.lower import table
from quadrants.lower.emit import Emitter
from quadrants.lower.gpu import lanes, prints, threads
from quadrants.lower.gpu.primitives import Primitives
from quadrants.lower.gpu.refusals import UNSUPPORTED


def emitters(p: Primitives) -> Mapping[str, Emitter]:
    """Those of the CPU, with what only threads of a device have, without what no device runs."""
    found = {**table.EMITTERS, **threads.emitters(p), **lanes.emitters(p), **prints.emitters(p), **p.own}
    return MappingProxyType({name: emitter for name, emitter in found.items() if name not in UNSUPPORTED})
