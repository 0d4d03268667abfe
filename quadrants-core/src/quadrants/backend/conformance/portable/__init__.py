"""Programs of the portable language that every backend has to run with the results of NumPy.

`PROGRAMS` is the table. A program takes the package `quadrants` and a random generator; gives pairs of what it found and what NumPy
gives. It runs where `qd.init` has chosen a device.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from quadrants.backend.conformance.portable import loops, memory, results, values
from quadrants.backend.conformance.portable.program import Portable

__all__ = ["PROGRAMS", "Portable"]

#: The programs by name.
PROGRAMS: Mapping[str, Portable] = MappingProxyType(
    {
        name: program
        for module in (loops, values, results, memory)
        for name, program in vars(module).items()
        if isinstance(program, Portable)
    }
)
