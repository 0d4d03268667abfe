"""Atomic operations and fences.

Takes ops on elements of global memory; gives `atomicrmw`, `cmpxchg` and, for what no instruction does, a loop around `cmpxchg`.
Atomics are relaxed: they order nothing but the accesses to their own element, as on the GPUs; `fence` orders the rest.
"""

from __future__ import annotations

from collections.abc import Callable

from quadrants.ir.core import Op
from quadrants.lower.abi import memory_text
from quadrants.lower.emit import Emitter, FunctionEmitter, Text
from quadrants.lower.memory import element
from quadrants.lower.nodes import DATA
from quadrants.types import Scalar

_INTEGER = {"add": "add", "sub": "sub", "and": "and", "or": "or", "xor": "xor", "exchange": "xchg"}
_SIGNED = {"min": "min", "max": "max"}
_UNSIGNED = {"min": "umin", "max": "umax", "inc": "uinc_wrap", "dec": "udec_wrap"}
_FLOAT = {"add": "fadd", "sub": "fsub", "min": "fmin", "max": "fmax", "exchange": "xchg"}
#: `fence` scope -> whether other processors take part: on this machine each scope but the block does.
_SCOPE = {"block": ' syncscope("singlethread")', "device": "", "system": ""}


def instruction(what: str, dtype: Scalar) -> str | None:
    """The operation of `atomicrmw`; None where there is none."""
    if dtype.is_float:
        return _FLOAT.get(what)
    return _INTEGER.get(what) or (_SIGNED if dtype.is_signed else _UNSIGNED).get(what)


def _multiply(e: FunctionEmitter, dtype: Scalar, old: Text, value: Text) -> Text:
    return e.let(f"{'fmul' if dtype.is_float else 'mul'} {memory_text(dtype)} {old}, {value}")


def _increment(e: FunctionEmitter, dtype: Scalar, old: Text, value: Text) -> Text:
    text = memory_text(dtype)
    over = e.let(f"icmp sge {text} {old}, {value}")
    return e.let(f"select i1 {over}, {text} 0, {text} {e.let(f'add {text} {old}, 1')}")


def _decrement(e: FunctionEmitter, dtype: Scalar, old: Text, value: Text) -> Text:
    text = memory_text(dtype)
    none, above = e.let(f"icmp eq {text} {old}, 0"), e.let(f"icmp sgt {text} {old}, {value}")
    again = e.let(f"or i1 {none}, {above}")
    return e.let(f"select i1 {again}, {text} {value}, {text} {e.let(f'sub {text} {old}, 1')}")


#: What has no instruction: the new value from the old one.
_COMPUTED: dict[str, Callable[[FunctionEmitter, Scalar, Text, Text], Text]] = {
    "mul": _multiply,
    "inc": _increment,
    "dec": _decrement,
}


def _atomic(e: FunctionEmitter, op: Op) -> None:
    at, type = element(e, op, 1)
    what, value, text = str(op.attrs["op"]), e.one(op.operands[0]), memory_text(type.dtype)
    name = instruction(what, type.dtype)
    if name is None:
        e.set(op, _by_exchange(e, at, type.dtype, lambda old: _COMPUTED[what](e, type.dtype, old, value)))
        return
    order = f"{e.module.options.atomic_scope}monotonic"
    e.set(op, e.let(f"atomicrmw {name} ptr {at}, {text} {value} {order}, align {type.dtype.itemsize}, {DATA}"))


def _by_exchange(e: FunctionEmitter, at: Text, dtype: Scalar, new: Callable[[Text], Text]) -> Text:
    """Compute and try to exchange until nobody came between; the old value."""
    text, bits = memory_text(dtype), f"i{dtype.bits}"
    scope = e.module.options.atomic_scope
    seen = e.let(f"load atomic {bits}, ptr {at} {scope}monotonic, align {dtype.itemsize}")
    before, again, done = e.block, e.label("again"), e.label("exchanged")
    e.lines.append(f"  br label %{again}")
    e.begin(again)
    old, found = e.temp(), e.temp()
    e.line(f"{old} = phi {bits} [ {seen}, %{before} ], [ {found}, %{again} ]")
    value = old if bits == text else e.let(f"bitcast {bits} {old} to {text}")
    result = new(value)
    wanted = result if bits == text else e.let(f"bitcast {text} {result} to {bits}")
    pair = e.let(f"cmpxchg ptr {at}, {bits} {old}, {bits} {wanted} {scope}monotonic monotonic, align {dtype.itemsize}")
    e.line(f"{found} = extractvalue {{ {bits}, i1 }} {pair}, 0")
    fine = e.let(f"extractvalue {{ {bits}, i1 }} {pair}, 1")
    e.lines.append(f"  br i1 {fine}, label %{done}, label %{again}")
    e.begin(done)
    return value


def _cas(e: FunctionEmitter, op: Op) -> None:
    at, type = element(e, op, 2)
    text, bits = memory_text(type.dtype), f"i{type.dtype.bits}"
    values = [e.one(value) for value in op.operands[:2]]
    if bits != text:
        values = [e.let(f"bitcast {text} {value} to {bits}") for value in values]
    order = f"{e.module.options.atomic_scope}monotonic monotonic, align {type.dtype.itemsize}"
    pair = e.let(f"cmpxchg ptr {at}, {bits} {values[0]}, {bits} {values[1]} {order}")
    old = e.let(f"extractvalue {{ {bits}, i1 }} {pair}, 0")
    e.set(op, old if bits == text else e.let(f"bitcast {bits} {old} to {text}"))


def _fence(e: FunctionEmitter, op: Op) -> None:
    e.line(f"fence{_SCOPE[str(op.attrs['scope'])]} seq_cst")


EMITTERS: dict[str, Emitter] = {"atomic": _atomic, "atomic.cas": _cas, "fence": _fence}
