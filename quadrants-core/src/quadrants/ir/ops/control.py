"""Control flow: structured regions, with labelled exits.

A region ends in `yield values` (falls through) or in another terminator. `break` and `continue` name their target by its label.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from quadrants.ir.opdef import Attr, AttrKind, Effect, OpDef
from quadrants.ir.ops import rules
from quadrants.types import BOOL, EXC, I64, Type

if TYPE_CHECKING:
    from quadrants.ir.core import Op, Region

LABEL = Attr("label", AttrKind.INT)
#: A loop that is expected to run rarely, if at all: it is compiled for size, and quickly.
COLD = Attr("cold", AttrKind.BOOL, required=False, default=False)
#: A cold loop that runs only to raise, as Python would: it is compiled apart, hardly optimised.
FAILS = Attr("fails", AttrKind.BOOL, required=False, default=False)
#: Its turns may run in any order, and several at once: said by the program, or proven. What it carries is folded.
PARALLEL = Attr("parallel", AttrKind.BOOL, required=False, default=False)
#: Of a `for`: no turn reads or writes an element that another one writes, by promise of whoever made it.
INDEPENDENT = Attr("independent", AttrKind.BOOL, required=False, default=False)

#: Of a `for` that is declared parallel: how many threads of a device work together; 0: any number.
BLOCK = Attr("block", AttrKind.INT, required=False, default=0)

#: A loop with enough to do in a turn: one vector a turn is as fast as several, and half the code.
WIDE = Attr("wide", AttrKind.BOOL, required=False, default=False)


def exits(region: Region, label: int, kind: str) -> Iterator[Op]:
    """The `break`s or `continue`s (by `kind`) inside the region that name the label."""
    for op in region.walk():
        if op.name == kind and op.attrs.get("label") == label:
            yield op


def _operand_types(op: Op) -> tuple[Type, ...]:
    return tuple(value.type for value in op.operands)


def _arity(regions: rules.Regions, expected: int) -> None:
    if len(regions) != expected:
        raise TypeError(f"takes {expected} region{'s' if expected != 1 else ''}, not {len(regions)}")


def _arguments(region: Region, expected: rules.Types, what: str) -> None:
    rules.match_types([arg.type for arg in region.args], expected, what)


def _agree(ends: list[Op]) -> tuple[Type, ...]:
    """The common operand types of the ops that give the results; nothing if there is none."""
    if not ends:
        return ()
    types = _operand_types(ends[0])
    for end in ends[1:]:
        rules.match_types(_operand_types(end), types, f"the values of {end.name}")
    return types


def _yields(regions: rules.Regions) -> list[Op]:
    """The `yield`s at the end of the regions. Every region must end in a terminator."""
    ends = []
    for region in regions:
        end = region.terminator
        if end is None:
            raise TypeError("a region must end in a terminator")
        if end.name == "yield":
            ends.append(end)
    return ends


def _if(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.match_types(types, (BOOL,), "the condition")
    _arity(regions, 2)
    for region in regions:
        _arguments(region, (), "the arguments of a branch")
    return _agree(_yields(regions))


def _block(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 0)
    _arity(regions, 1)
    _arguments(regions[0], (), "the arguments of the body")
    return _agree([*_yields(regions), *exits(regions[0], rules.attr_int(attrs, "label"), "break")])


def _carried(region: Region, label: int, types: rules.Types) -> None:
    """Refuse a `continue` that does not carry the given types."""
    for op in exits(region, label, "continue"):
        rules.match_types(_operand_types(op), types, "the values of continue")


def _no_yield(regions: rules.Regions) -> None:
    if _yields(regions):
        raise TypeError("the body of a loop must not end in yield (use continue)")


def _loop(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    _arity(regions, 1)
    label = rules.attr_int(attrs, "label")
    results = rules.attr_types(attrs, "result_types")
    _arguments(regions[0], types, "the arguments of the body")
    _no_yield(regions)
    _carried(regions[0], label, types)
    for op in exits(regions[0], label, "break"):
        rules.match_types(_operand_types(op), results, "the values of break")
    return results


def _for(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    if len(types) < 3:
        raise TypeError("takes start, stop, step and the carried values")
    rules.all_i64(types[:3], "start, stop and step")
    _arity(regions, 1)
    label = rules.attr_int(attrs, "label")
    carried = tuple(types[3:])
    _arguments(regions[0], (I64, *carried), "the arguments of the body")
    _no_yield(regions)
    _carried(regions[0], label, carried)
    for op in exits(regions[0], label, "break"):
        rules.match_types(_operand_types(op), carried, "the values of break")
    return carried


def _try(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 0)
    _arity(regions, 2)
    _arguments(regions[0], (), "the arguments of the body")
    _arguments(regions[1], (EXC,), "the arguments of the handler")
    return _agree(_yields(regions))


def _values(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    return ()


def _jump(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.attr_int(attrs, "label")
    return ()


def _nothing(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 0)
    return ()


_THROUGH = "through the ops inside, in reverse"
_NONE = "none: control"

DEFS = (
    OpDef(
        "if",
        _if,
        effects=Effect.CONTROL,
        regions=2,
        doc="Runs the first region if the condition holds, else the second. The results are the yielded values.",
        derivative=_THROUGH,
    ),
    OpDef(
        "block",
        _block,
        effects=Effect.CONTROL,
        attrs=(LABEL,),
        regions=1,
        doc="Runs the region once. The results come from its yield, or from a `break` to its label.",
        derivative=_THROUGH,
    ),
    OpDef(
        "loop",
        _loop,
        effects=Effect.CONTROL,
        attrs=(LABEL, Attr("result_types", AttrKind.TYPES), COLD),
        regions=1,
        doc="Runs the region again and again: `continue` gives the arguments of the next turn, `break` leaves with the results. "
        "The operands are the arguments of the first turn.",
        derivative=_THROUGH,
    ),
    OpDef(
        "for",
        _for,
        effects=Effect.CONTROL,
        attrs=(LABEL, COLD, FAILS, WIDE, PARALLEL, INDEPENDENT, BLOCK),
        regions=1,
        doc="Python's range: (start, stop, step, carried values). The region's arguments are the index and the carried values; "
        "`continue` goes on, `break` leaves; the results are the carried values. The step is not 0: checked by its maker.",
        derivative=_THROUGH,
    ),
    OpDef(
        "try",
        _try,
        effects=Effect.CONTROL,
        regions=2,
        doc="Runs the first region; whatever raises in it (not in a `try` inside) goes to the second, "
        "the handler, with the exception.",
        derivative=_THROUGH,
    ),
    OpDef(
        "yield",
        _values,
        effects=Effect.CONTROL,
        terminator=True,
        doc="Ends a region with its values.",
        derivative=_NONE,
    ),
    OpDef(
        "break",
        _jump,
        effects=Effect.CONTROL,
        terminator=True,
        attrs=(LABEL,),
        doc="Leaves the enclosing `block`, `loop` or `for` with the label; the operands are its results.",
        derivative=_NONE,
    ),
    OpDef(
        "continue",
        _jump,
        effects=Effect.CONTROL,
        terminator=True,
        attrs=(LABEL,),
        doc="Next turn of the enclosing `loop` or `for` with the label; the operands are the carried values.",
        derivative=_NONE,
    ),
    OpDef(
        "return",
        _values,
        effects=Effect.CONTROL,
        terminator=True,
        doc="Leaves the function with its results.",
        derivative=_NONE,
    ),
    OpDef(
        "unreachable",
        _nothing,
        effects=Effect.CONTROL,
        terminator=True,
        doc="Never reached: promised by its maker; undefined otherwise.",
        derivative=_NONE,
    ),
)
