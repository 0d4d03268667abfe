"""Atomic operations: a function of MSL where there is one, else a word is exchanged until nothing comes between.

Narrow numbers are parts of words, and floats are compared by their bits. MSL has no atomic operations of 64 bits that give the
value from before: these are refused, but on a thread's own memory, where any operation is atomic.
"""

from __future__ import annotations

from collections.abc import Callable

from quadrants.ir.core import Op
from quadrants.types import ArrayType, Scalar
from quadrants_metal.lower import memory, scalars
from quadrants_metal.lower.emit import Emitter, FunctionEmitter
from quadrants_metal.lower.names import as_pointer, bits_type, pointer, register, space

#: The operations on words of integers that are functions.
_FUNCTIONS = {name: f"atomic_fetch_{name}_explicit" for name in ("add", "sub", "min", "max", "and", "or", "xor")} | {
    "exchange": "atomic_exchange_explicit"
}
_RELAXED = "memory_order_relaxed"

Update = Callable[[str], str]


def _combined(type: Scalar, what: str, old: str, value: str) -> str:
    """The new value of an element."""
    name = register(type)
    if what in ("add", "sub", "mul"):
        return scalars.arithmetic(type, what, old, value)
    if what in ("min", "max"):
        if type.is_float:  # a NaN loses
            return f"f{what}({old}, {value})"
        return f"{old} {'<' if what == 'min' else '>'} {value} ? {old} : {value}"
    if what in ("and", "or", "xor"):
        return scalars.bitwise(type, what, old, value)
    if what == "inc":
        return f"{old} >= {value} ? {name}(0) : {name}({old} + 1)"
    if what == "dec":
        return f"{old} == 0 || {old} > {value} ? {value} : {name}({old} - 1)"
    assert what == "exchange"
    return value


def _own(e: FunctionEmitter, at: str, type: ArrayType, update: Update) -> str:
    """On memory that no other thread sees."""
    place = e.let(pointer(type), at)
    old = e.let(register(type.dtype), f"*{place}")
    e.do(f"*{place} = {update(old)};")
    return old


def _cell(e: FunctionEmitter, at: str, type: ArrayType) -> tuple[str, str]:
    """The word that an element is in, and by how many bits it is shifted there."""
    where = space(type)
    word = f"{where} atomic_uint*"
    if type.dtype.itemsize == 4:
        return e.let(word, as_pointer(word, at)), ""
    if where == "device":
        offset = e.let("ulong", f"reinterpret_cast<ulong>({at})")
        cell = e.let(word, as_pointer(word, f"{offset} & ~3ul"))
    else:
        offset = e.let("uint", f"uint({as_pointer('threadgroup uchar*', at)} - here.shared)")
        cell = e.let(word, as_pointer(word, f"here.shared + ({offset} & ~3u)"))
    return cell, e.let("uint", f"uint({offset} & 3u) * 8u")


def _exchanged(e: FunctionEmitter, at: str, type: ArrayType, update: Update) -> str:
    """Replace an element by a function of it until nothing comes between; gives it as it was."""
    dtype = type.dtype
    cell, shift = _cell(e, at, type)
    bits = bits_type(dtype)

    def number(word: str) -> str:
        part = f"{bits}({word} >> {shift})" if shift else word
        return f"as_type<{register(dtype)}>({part})"

    word = e.let("uint", f"atomic_load_explicit({cell}, {_RELAXED})")
    with e.nested("for (;;)"):
        old = e.let(register(dtype), number(word))
        new = e.let(register(dtype), update(old))
        changed = f"as_type<{bits}>({new})"
        if shift:
            mask = f"({(1 << 8 * dtype.itemsize) - 1:#x}u << {shift})"
            changed = f"({word} & ~{mask}) | (uint({changed}) << {shift})"
        swap = f"atomic_compare_exchange_weak_explicit({cell}, &{word}, {changed}, {_RELAXED}, {_RELAXED})"
        e.do(f"if ({swap}) break;")
    return e.let(register(dtype), number(word))


def _on_bits(e: FunctionEmitter, op: Op, at: str, type: ArrayType, update: Update) -> str:
    if space(type) == "thread":
        return _own(e, at, type, update)
    if type.dtype.itemsize == 8:
        e.module.refuse(e.function, op, f"atomic operations on {type.dtype}", "use a type of 32 bits")
    return _exchanged(e, at, type, update)


def _atomic(e: FunctionEmitter, op: Op) -> None:
    at, type = memory.element(e, op, 1)
    what, value, dtype = str(op.attrs["op"]), e.one(op.operands[0]), type.dtype
    where = space(type)
    whole = dtype.itemsize == 4 and where != "thread"
    if whole and dtype.is_integer and what in _FUNCTIONS:
        cell = as_pointer(f"{where} atomic_{register(dtype)}*", at)
        e.set(op, f"{_FUNCTIONS[what]}({cell}, {value}, {_RELAXED})")
    elif whole and dtype.is_float and what in ("add", "sub") and where == "device":
        cell = as_pointer("device atomic_float*", at)
        amount = value if what == "add" else f"-{value}"
        e.set(op, f"atomic_fetch_add_explicit({cell}, {amount}, {_RELAXED})")
    else:
        e.same(op, _on_bits(e, op, at, type, lambda old: _combined(dtype, what, old, value)))


def _cas(e: FunctionEmitter, op: Op) -> None:
    """Compares bits, so that a NaN is found and zeros of both signs differ."""
    at, type = memory.element(e, op, 2)
    expected, desired = e.all(op.operands[:2])
    bits = bits_type(type.dtype)

    def update(old: str) -> str:
        return f"as_type<{bits}>({old}) == as_type<{bits}>({expected}) ? {desired} : {old}"

    e.same(op, _on_bits(e, op, at, type, update))


EMITTERS: dict[str, Emitter] = {"atomic": _atomic, "atomic.cas": _cas}
