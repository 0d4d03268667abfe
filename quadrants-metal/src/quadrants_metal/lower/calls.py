"""Calls of functions of the module, and variables of a function."""

from __future__ import annotations

from quadrants.ir.core import Op
from quadrants_metal.lower.control import leave
from quadrants_metal.lower.emit import Emitter, FunctionEmitter
from quadrants_metal.lower.names import parts_of


def _call(e: FunctionEmitter, op: Op) -> None:
    callee = e.module.callee(e, op)
    call = f"{callee.name}({', '.join(('here', *e.all(op.operands)))})"
    if callee.result == "void":
        e.do(f"{call};")
        return
    given = e.let(callee.result, call)
    if callee.raises:
        with e.nested(f"if ({given}.failed)"):
            leave(e, failed=True)
    count = sum(len(parts_of(result.type)) for result in op.results)
    e.define(op.results, tuple(f"{given}.r{index}" for index in range(count)))


def _var(e: FunctionEmitter, op: Op) -> None:
    made = e.variables([op.operands[0].type])
    e.assign(made, e.get(op.operands[0]))
    e.same(op, *made)


def _get(e: FunctionEmitter, op: Op) -> None:
    e.set(op, *e.get(op.operands[0]))


def _set(e: FunctionEmitter, op: Op) -> None:
    variable, value = op.operands
    e.assign(e.get(variable), e.get(value))


EMITTERS: dict[str, Emitter] = {"call": _call, "var": _var, "var.get": _get, "var.set": _set}
