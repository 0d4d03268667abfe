"""QIR made ready for the emitters: what the target lacks is expressed by what it has.

Takes a module, in place: elementary functions become functions of the module, exits get one level, copies of
overlapping arrays are errors. Legal for any module of the device level.
"""

from __future__ import annotations

from quadrants.ir import Module
from quadrants.lower import softmath
from quadrants.passes import exits, heapless
from quadrants.types import Scalar
from quadrants_vulkan.lower import unroll
from quadrants_vulkan.lower.floats import EMITTERS
from quadrants_vulkan.target import Feature, Profile


def legalise(module: Module, profile: Profile) -> None:
    """Prepare a module."""

    def native(name: str, type: Scalar) -> bool:
        return profile.has(Feature.FUSED) if name == "math.fma" else name in EMITTERS

    softmath.expand(module, native, profile.has(Feature.FLOAT64))
    for function in module.functions.values():
        heapless.run(function)
        exits.run(function)
        if profile.has(Feature.FEW_TURNS):
            unroll.run(function)
