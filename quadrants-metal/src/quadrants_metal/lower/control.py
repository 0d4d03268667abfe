"""Structured control flow to MSL's.

Takes control flow in which every `break` and `continue` names the innermost labelled op around it (the pass `exits` makes that so).
A `block` is a loop of one turn. Values that come from several places are variables.
"""

from __future__ import annotations

from quadrants.ir.core import Op, Region
from quadrants.types import I64
from quadrants_metal.lower.emit import Emitter, FunctionEmitter, Parts
from quadrants_metal.lower.names import integer


def _label(op: Op) -> int:
    label = op.attrs["label"]
    assert isinstance(label, int)
    return label


def _results(e: FunctionEmitter, op: Op) -> Parts:
    """Variables for the results of an op, zeros at first: where no exit of the op ends there, code that never runs reads them."""
    targets = e.variables((result.type for result in op.results), " = {}")
    e.define(op.results, targets)
    return targets


def _empty(region: Region) -> bool:
    return len(region.ops) == 1 and region.ops[0].name == "yield" and not region.ops[0].operands


def _if(e: FunctionEmitter, op: Op) -> None:
    targets = _results(e, op)
    condition = e.one(op.operands[0])
    with e.nested(f"if ({condition})"):
        e.region_yielding(op.regions[0], targets)
    if not _empty(op.regions[1]):
        with e.nested("else"):
            e.region_yielding(op.regions[1], targets)


def _block(e: FunctionEmitter, op: Op) -> None:
    targets = _results(e, op)
    e.breaks[_label(op)] = targets
    with e.nested("do", "} while (false);"):
        e.region_yielding(op.regions[0], targets)


def _carried(e: FunctionEmitter, values: Parts, region: Region, first: int) -> Parts:
    """Variables for what a loop carries, with what they hold in the first turn."""
    args = region.args[first:]
    targets = e.variables(arg.type for arg in args)
    e.assign(targets, values)
    e.define(args, targets)
    return targets


def _loop(e: FunctionEmitter, op: Op) -> None:
    (body,) = op.regions
    results = _results(e, op)
    e.breaks[_label(op)] = results
    e.continues[_label(op)] = _carried(e, e.all(op.operands), body, 0)
    with e.nested("for (;;)"):
        e.region(body)


def _for(e: FunctionEmitter, op: Op) -> None:
    """A counted loop. By a step of 1 or -1 the index cannot pass the end; else `more` says whether there is another turn."""
    start, stop, step = (e.one(operand) for operand in op.operands[:3])
    (body,) = op.regions
    targets = _carried(e, e.all(op.operands[3:]), body, 1)
    e.define(op.results, targets)
    e.breaks[_label(op)] = e.continues[_label(op)] = targets
    index = e.name(body.args[0].hint)
    e.parts[body.args[0]] = (index,)
    known = e.constants.get(op.operands[2])
    if known in (1, -1):
        sign, move = ("<", "++") if known == 1 else (">", "--")
        head = f"for (long {index} = {start}; {index} {sign} {stop}; {index}{move})"
    else:
        forward = e.let("bool", f"{step} > {integer(I64, 0)}")
        go = e.let("bool", f"{forward} ? {start} < {stop} : {start} > {stop}")
        size = e.let("ulong", f"{forward} ? ulong({step}) : 0ul - ulong({step})")
        way = f"({forward} ? ulong({stop}) - ulong({index}) : ulong({index}) - ulong({stop}))"
        following = f"{go} = {way} > {size}, {index} = long(ulong({index}) + ulong({step}))"
        head = f"for (long {index} = {start}; {go}; {following})"
    with e.nested(head):
        e.region(body)


def _yield(e: FunctionEmitter, op: Op) -> None:
    e.assign(e.yields[-1], e.all(op.operands))


def _break(e: FunctionEmitter, op: Op) -> None:
    e.assign(e.breaks[_label(op)], e.all(op.operands))
    e.do("break;")


def _continue(e: FunctionEmitter, op: Op) -> None:
    e.assign(e.continues[_label(op)], e.all(op.operands))
    e.do("continue;")


def leave(e: FunctionEmitter, failed: bool, parts: Parts = ()) -> None:
    """Return from the function, with its results or with the mark that it raised."""
    if e.result == "void":
        e.do("return;")
        return
    given = e.declare(e.result)
    if e.raises:
        e.do(f"{given}.failed = {'true' if failed else 'false'};")
    for index, part in enumerate(parts):
        e.do(f"{given}.r{index} = {part};")
    e.do(f"return {given};")


def _return(e: FunctionEmitter, op: Op) -> None:
    e.module.check_places(e, op)
    leave(e, False, e.all(op.operands))


def _unreachable(e: FunctionEmitter, op: Op) -> None:
    leave(e, False)


EMITTERS: dict[str, Emitter] = {
    "if": _if,
    "block": _block,
    "loop": _loop,
    "for": _for,
    "yield": _yield,
    "break": _break,
    "continue": _continue,
    "return": _return,
    "unreachable": _unreachable,
}
