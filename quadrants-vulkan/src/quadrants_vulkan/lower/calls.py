"""Calls of functions of the module, and variables of a function."""

from __future__ import annotations

from quadrants.ir.core import Op
from quadrants_vulkan.lower.control import guarded, leave
from quadrants_vulkan.lower.emit import Emitter, FunctionEmitter
from quadrants_vulkan.lower.parts import parts_of
from quadrants_vulkan.spirv.grammar import Op as Code


def _call(e: FunctionEmitter, op: Op) -> None:
    callee = e.module.callee(e, op)
    operands: list[int] = []
    for value in op.operands:
        operands += e.get(value)
        place = e.place_of(value)
        if place is not None and place.local:
            operands.append(place.variable)
    made = e.let(Code.FUNCTION_CALL, callee.result, callee.id, *operands)
    parts = [part for result in op.results for part in parts_of(result.type)]
    if callee.raises:
        single = callee.count == 0
        failed = made if single else e.let(Code.COMPOSITE_EXTRACT, e.truth_type, made, 0)
        guarded(e, failed, lambda: leave(e, failed=True))
        ids = [e.let(Code.COMPOSITE_EXTRACT, e.type(part), made, index) for index, part in enumerate(parts, 1)]
    elif callee.count == 1:
        ids = [made]
    else:
        ids = [e.let(Code.COMPOSITE_EXTRACT, e.type(part), made, index) for index, part in enumerate(parts)]
    places = [e.place_of(op.operands[way]) if isinstance(way, int) else way for way in callee.places]
    e.define(op.results, tuple(ids), places)


def _var(e: FunctionEmitter, op: Op) -> None:
    """A variable a part."""
    value = op.operands[0]
    made = tuple(e.local(e.type(part)) for part in parts_of(value.type))
    e.parts[op.result] = made
    place = e.place_of(value)
    if place is not None:
        e.places[op.result] = place
    for variable, part in zip(made, e.get(value)):
        e.do(Code.STORE, variable, part)


def _get(e: FunctionEmitter, op: Op) -> None:
    variables = e.get(op.operands[0])
    e.set(op, *(e.let(Code.LOAD, e.type(part), v) for v, part in zip(variables, parts_of(op.result.type))))
    place = e.place_of(op.operands[0])
    if place is not None:
        e.places[op.result] = place


def _set(e: FunctionEmitter, op: Op) -> None:
    variable, value = op.operands
    place = e.place_of(value)
    if place is not None:
        e.places.setdefault(variable, place)  # it may have begun as nothing
    if e.place_of(variable) != place:
        what = "a variable that holds arrays of several places of shared or local memory"
        e.module.refuse(e.function, op, what, "use one array")
    for target, part in zip(e.get(variable), e.get(value)):
        e.do(Code.STORE, target, part)


EMITTERS: dict[str, Emitter] = {"call": _call, "var": _var, "var.get": _get, "var.set": _set}
