"""Code for arrays whose trailing sizes are small and known, such as the 3 of points in an (n, 3) array.

Takes the entry function as inference made it, and sizes of its array parameters that hold whenever the code is run (the host tests
them); gives the function with these sizes as constants, if that is of use in its loops: rows become small arrays that need no
memory, loops over them become straight code, strides are constant. Legal because the sizes are what they are said to be.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from quadrants.diagnostics import Decision, DecisionKind
from quadrants.ir import Function, Module, Op, Region, Value
from quadrants.ir.ops import OPS
from quadrants.passes.context import location_of
from quadrants.passes.structure import constant_turns, integer_constants
from quadrants.types import I64, ArrayType

PASS = "known_sizes"
#: (number of a parameter, axis, size)
Sizes = tuple[tuple[int, int, int], ...]
#: So many loads and stores at constant places along the last axis make a group.
_GROUP = 2


def sizes_of(function: Function) -> dict[tuple[Value, int], int]:
    """The known sizes of a function's arrays, by array and axis."""
    return {(function.params[number], axis): size for number, axis, size in function.sizes}


def promised(params: Sequence[Value], known: Mapping[tuple[Value, int], int]) -> tuple[int, ...]:
    """The attribute `sizes` of a function whose parameters are (what stands for) these values."""
    found: list[int] = []
    for number, value in enumerate(params):
        for (array, axis), size in known.items():
            if array is value:
                found += (number, axis, size)
    return tuple(found)


def is_sensitive(module: Module) -> bool:
    """Whether code for known sizes would differ in what matters."""
    return _reason(module) is not None


def run(module: Module, sizes: Sizes) -> list[Decision]:
    """Make the sizes constants in the entry function, where that is of use; what was decided. Notes them in the attribute `sizes`
    of the function."""
    function = module.functions[module.entry]
    reason = _reason(module) if sizes else None
    if reason is None:
        return []
    read = {operand for op in function.body.walk() for operand in op.operands}
    used = tuple(size for size in sizes if function.params[size[0]] in read)
    known = {(function.params[number], axis): size for number, axis, size in used}
    if not known:
        return []
    function.attrs["sizes"] = promised(function.params, known)
    for op in function.body.walk():
        if op.name == "dim" and (size := known.get((op.operands[0], _axis(op)))) is not None:
            op.redefine(OPS["const"])
            op.operands = []
            op.attrs = {"value": size, "type": I64}
    told = ", ".join(f"{function.params[number].hint}.shape[{axis}] is {size}" for number, axis, size in used)
    text = f"compiled for arrays of these sizes: {told}; calls with others run code of their own"
    return [Decision(PASS, DecisionKind.APPLIED, location_of(function, reason), "sizes", text)]


def _axis(op: Op) -> int:
    axis = op.attrs["axis"]
    assert isinstance(axis, int)
    return axis


def _reason(module: Module) -> Op | None:
    """The first op in a loop that gains from a known size. Functions that call themselves are left alone: of those calls nothing
    is known."""
    function = module.functions[module.entry]
    arrays = {p for p in function.params if isinstance(p.type, ArrayType) and p.type.ndim > 1}
    if not arrays or any(
        op.attrs.get("callee") == module.entry for f in module.functions.values() for op in f.body.walk()
    ):
        return None
    finder = _Finder(arrays, integer_constants(function))
    finder.region(function.body, None)
    return finder.found


class _Finder:
    def __init__(self, arrays: Collection[Value], constants: dict[Value, int]) -> None:
        self.arrays = arrays
        self.constants = constants
        self.sizes: set[Value] = set()
        self.grouped: dict[tuple[Op, Value], set[Value]] = {}
        self.short: set[Value] = set()  # indices of loops of a few turns
        self.found: Op | None = None

    def region(self, region: Region, loop: Op | None) -> None:
        """Look at the ops of a region; `loop`: the innermost loop around it that is not short."""
        for op in region.ops:
            if self.found is not None:
                return
            if op.name == "dim" and op.operands[0] in self.arrays and _axis(op) > 0:
                self.sizes.add(op.result)
            elif loop is not None and self.gains(op, loop):
                self.found = op
            inner = loop
            if op.name == "for":
                if constant_turns(op, self.constants) is None:
                    inner = op
                else:
                    self.short.add(op.regions[0].args[0])
            elif op.name == "loop":
                inner = op
            for nested in op.regions:
                self.region(nested, inner)

    def gains(self, op: Op, loop: Op) -> bool:
        if op.name in ("for", "alloc"):
            return not self.sizes.isdisjoint(op.operands)
        if op.name == "view":
            return op.operands[0] in self.arrays
        if op.name not in ("load", "store"):
            return False
        array, *indices = op.operands[op.name == "store" :]
        if array not in self.arrays:
            return False
        places = self.grouped.setdefault((loop, array), set())
        places.add(indices[-1])
        return indices[-1] in self.short or (indices[-1] in self.constants and len(places) >= _GROUP)
