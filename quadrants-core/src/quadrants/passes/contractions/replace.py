"""Puts the call of a kernel in the place of a nest that is a product of matrices, if it is large when the program runs.

Takes QIR without checks in its loops; gives, for each product (see `find`): the conditions; the factors as matrices, which are
views of the arrays that they are read from, or copies where they are computed; `contract`; and the nest as it was, for small
products and where a condition fails. Results are the same bit for bit, but for products and sums that are rounded
once where the function allows that: the kernel adds the terms of each element in the order of the loop.

Legal because the nest only computes, reads, and stores to places that i and j name, where the conditions show that these are all
different and that nothing that is read, beside the element itself, is among them. What each element begins with is
computed before all sums, and what is done with a sum behind all of them. Where the element is read there, the sums are
kept in a buffer, so that the array is as it was if there is no kernel after all.
"""

from __future__ import annotations

from quadrants.diagnostics import DecisionKind
from quadrants.ir import Function, Op, Region, Value
from quadrants.ir.builder import Builder
from quadrants.passes.context import PassContext
from quadrants.passes.contractions.emit import Emitter
from quadrants.passes.contractions.find import Finder
from quadrants.passes.contractions.nest import Product, Refusal, nest_of
from quadrants.passes.modes import STRICT, mode_of, modes_of
from quadrants.passes.structure import definitions, integer_constants, new_label, use_counts

PASS = "contractions"
#: A product is cut into so many chunks of rows (as a power of two), if they get no larger than this.
_PARTS_SHIFT = 3
_CHUNK = 96


class Replacer:
    """Looks at the nests of one function."""

    def __init__(self, function: Function, context: PassContext) -> None:
        self.function = function
        self.context = context
        self.makers = definitions(self.function)
        self.constants = integer_constants(self.function)
        self.kernels: dict[tuple[object, bool], None] = {}
        self.shared = False  # whether the chunks of a parallel loop are parts of one product

    def run(self) -> None:
        """Replace its products."""
        self.region(self.function.body)
        if self.kernels and self.function.name in self.context.outlined:
            for caller in self.context.module.functions.values():
                self.prepare(caller.body, use_counts(caller))

    def region(self, region: Region) -> None:
        out: list[Op] = []
        for op in region.ops:
            new = self.loop(op) if op.name == "for" and not op.attrs.get("cold") else None
            if new is not None:
                out += new
                continue
            for nested in () if op.attrs.get("cold") else op.regions:
                self.region(nested)
            out.append(op)
        region.ops[:] = out

    def loop(self, loop: Op) -> list[Op] | None:
        """What stands for a loop that is a product; None for any other."""
        nest = nest_of(loop, self.constants)
        found = Finder(nest, self.makers, self.constants).find() if nest is not None else None
        if isinstance(found, Product):
            fused = found.dtype.is_float and STRICT not in modes_of(_arithmetic(loop), mode_of(self.function))
            emitter = Emitter(found, self.makers, self.constants, fused, new_label(self.function))
            found = found.problem() or found
        if isinstance(found, Refusal):
            place = found.op if found.op.loc is not None else loop
            self.context.note(PASS, DecisionKind.REFUSED, self.function, place, found.code, found.text)
            return None
        if found is None:
            return None
        self.kernels[found.dtype, fused] = None
        self.shared |= self.is_chunk(loop)
        self.note(found)
        return emitter.emit()

    def note(self, found: Product) -> None:
        """Tell what was done."""
        assert self.context.options.tile is not None
        rows, columns = self.context.options.tile(found.dtype)
        text = f"a product of matrices: register blocks of {rows} x {columns}, both factors packed, where it is large"
        self.context.note(PASS, DecisionKind.APPLIED, self.function, found.nest[0], "contraction", text)

    def is_chunk(self, loop: Op) -> bool:
        """Whether the turns of the loop are those of a chunk."""
        start = loop.operands[0]
        maker = self.makers.get(start)
        return any(value in self.function.params[:1] for value in (start, *(maker.operands if maker else ())))

    def prepare(self, region: Region, uses: dict[Value, int]) -> None:
        """Make the kernels in front of the parallel regions that run this function: threads of the pool cannot. Each chunk packs
        a factor for itself, so they should not be small."""
        b = Builder(Region())
        for op in region.ops:
            if op.name == "fork" and op.attrs["callee"] == self.function.name:
                b.loc = op.loc
                for dtype, fused in self.kernels:
                    b.op("contract.prepare", type=dtype, fused=fused)
                turns, grain = op.operands[:2]
                if self.shared and uses[grain] == 1:
                    part = b.value("shr", b.value("add", turns, b.i64((1 << _PARTS_SHIFT) - 1)), b.i64(_PARTS_SHIFT))
                    op.operands[1] = b.value("max", grain, b.value("min", part, b.i64(_CHUNK)))
            for nested in op.regions:
                self.prepare(nested, uses)
            b.region.ops.append(op)
        region.ops[:] = b.region.ops


def _arithmetic(loop: Op) -> list[Op]:
    """The products and sums of floats in a nest."""
    names = ("add", "sub", "mul")
    return [op for op in loop.regions[0].walk() if op.name in names and getattr(op.result.type, "is_float", False)]
