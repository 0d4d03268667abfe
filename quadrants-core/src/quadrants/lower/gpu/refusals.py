"""What no GPU runs, with the reason and the way out, and the error that says so."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from quadrants import diagnostics
from quadrants.diagnostics import CompileError, SourceLocation
from quadrants.ir.core import Function, Op
from quadrants.lower import table

#: What of a refusal is said: (why, what to do).
Reason = tuple[str, str]

HEAP: Reason = ("a device has no heap", "make the array before the launch, or give it a small constant size")
_LISTS: Reason = ("a list that grows needs a heap", "use an array of the size that is needed at most")
_SIMD: Reason = ("SIMD registers belong to code for a CPU", "a device has its threads for that")
_PASSES = "compile through the passes of the device level"

#: Op name -> why it is not lowered.
UNSUPPORTED: Mapping[str, Reason] = MappingProxyType(
    {
        "map": ("it is expanded into loops by the pass expand_maps", _PASSES),
        "map_into": ("it is expanded into loops by the pass expand_maps", _PASSES),
        "poll": ("it asks the interpreter on the host", _PASSES),
        "fork": ("parallel regions belong to code for a CPU", "a device has its threads for that"),
        "launch": ("only the host launches kernels", "launch them one after the other"),
        **dict.fromkeys(
            ("contract", "contract.prepare"),
            ("products by kernels of the CPU belong to code for it", "write the loops"),
        ),
        "str.eq": (
            "strings are objects of the interpreter",
            "compare before the launch, and give the kernel the answer",
        ),
        "grid.barrier": ("not all blocks of a launch run at once", "end the kernel, and launch another"),
        **dict.fromkeys((name for name in table.EMITTERS if name.startswith("list.")), _LISTS),
        **dict.fromkeys((name for name in table.EMITTERS if name.startswith("lanes.")), _SIMD),
    }
)


def location_of(function: Function, op: Op | None) -> SourceLocation:
    """Where an op is in the source."""
    scope = function.scope
    loc = op.loc if op is not None else None
    if loc is None:
        return SourceLocation(scope.filename, scope.firstlineno, function=scope.qualname)
    return SourceLocation(scope.filename, loc.line, loc.col, loc.end_line or None, loc.end_col or None, scope.qualname)


def refuse(title: str, function: Function, op: Op | None, what: str, hint: str) -> CompileError:
    """The error for what a device does not run."""
    return CompileError(
        diagnostics.Code.UNSUPPORTED_CAPABILITY,
        f"{what} cannot run on {title}",
        location_of(function, op),
        hint=hint,
    )
