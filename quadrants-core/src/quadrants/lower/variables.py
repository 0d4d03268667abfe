"""Mutable variables of a function: slots in its frame, one a component, which LLVM turns into registers.

A variable of an array or a list owns what it holds: setting it releases the old content.
"""

from __future__ import annotations

from quadrants.ir.core import Op, Value
from quadrants.lower.abi import components
from quadrants.lower.emit import Emitter, FunctionEmitter, Parts, release
from quadrants.types import RefType


def _item_texts(variable: Value) -> tuple[str, ...]:
    assert isinstance(variable.type, RefType)
    return components(variable.type.item)


def _write(e: FunctionEmitter, slots: Parts, texts: tuple[str, ...], values: Parts) -> None:
    for slot, text, value in zip(slots, texts, values):
        e.line(f"store {text} {value}, ptr {slot}")


def _var(e: FunctionEmitter, op: Op) -> None:
    texts = _item_texts(op.results[0])
    slots = tuple(e.temp() for _ in texts)
    e.entry += (f"  {slot} = alloca {text}" for slot, text in zip(slots, texts))
    e.parts[op.results[0]] = slots
    _write(e, slots, texts, e.get(op.operands[0]))


def _get(e: FunctionEmitter, op: Op) -> None:
    texts = _item_texts(op.operands[0])
    slots = e.get(op.operands[0])
    e.parts[op.results[0]] = tuple(e.let(f"load {text}, ptr {slot}") for slot, text in zip(slots, texts))


def _set(e: FunctionEmitter, op: Op) -> None:
    variable, value = op.operands
    if value.type.heap:
        release(e, variable)
    _write(e, e.get(variable), _item_texts(variable), e.get(value))


EMITTERS: dict[str, Emitter] = {"var": _var, "var.get": _get, "var.set": _set}
