"""QIR made ready for the emitters: what MSL lacks is expressed by what it has.

Takes a module, in place: the types of a thread's own arrays say so, elementary functions become functions of the
module, exits get one level. Legal for any module of the
device level.
"""

from __future__ import annotations

from quadrants.ir import Module
from quadrants.lower import softmath
from quadrants.passes import exits
from quadrants.types import Scalar
from quadrants_metal.lower import places
from quadrants_metal.lower.floats import EMITTERS
from quadrants_metal.lower.module import refuse


def _native(name: str, type: Scalar) -> bool:
    return name in EMITTERS


def legalise(module: Module) -> None:
    """Prepare a module."""
    places.run(module, refuse)
    softmath.expand(module, _native, doubles=False)
    for function in module.functions.values():
        exits.run(function)
