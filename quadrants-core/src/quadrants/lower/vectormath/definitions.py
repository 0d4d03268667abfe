"""The definitions of vector functions, and which functions there are.

Takes the name of a function, bits and lanes; gives texts by symbol. A definition is there to be inlined only
("available externally"); the scalar function that takes over for lanes out of range is called by a function of its own,
out of line, since that is rare.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from quadrants.lower.vectormath import functions as f
from quadrants.lower.vectormath.code import Code, Text


class VectorFunction(NamedTuple):
    """A function of one operand.

    Args:
        emit: writes its code.
        bound: lanes larger than this, by bits, are computed by the scalar function; empty where every lane is right.
    """

    emit: Callable[[Code, Text], Text]
    bound: Mapping[int, float] = MappingProxyType({})


_FUNCTIONS: Mapping[str, VectorFunction] = MappingProxyType(
    {
        "sin": VectorFunction(f.sin, f.ANGLES),
        "cos": VectorFunction(f.cos, f.ANGLES),
        "exp": VectorFunction(f.exp),
        "exp2": VectorFunction(f.exp2),
        "expm1": VectorFunction(f.expm1),
        "tanh": VectorFunction(f.tanh),
        "log": VectorFunction(f.log),
    }
)

#: (function, bits) that loops use: those whose accuracy the tests hold.
ENABLED: Mapping[tuple[str, int], VectorFunction] = MappingProxyType(
    {(name, bits): function for name, function in _FUNCTIONS.items() for bits in (64, 32)}
)

#: What lanes that are not wanted compute with.
_UNMASKED = 1.0


def definition(name: str, bits: int, lanes: int, masked: bool) -> dict[str, str]:
    """The function, what it calls, and the declaration of that."""
    function = ENABLED[name, bits]
    c = Code(lanes, bits)
    symbol = f"qd.vec.{name}.{bits}.{lanes}"
    mask = f", {c.mask_type} %mask" if masked else ""
    header = f"define available_externally {c.type} @{symbol}{'m' if masked else ''}({c.type} %x{mask})"
    x = c.select("%mask", "%x", _UNMASKED) if masked else "%x"
    texts = {}
    bound = function.bound.get(bits)
    if bound is None:
        c.lines.append(f"  ret {c.type} {function.emit(c, x)}")
    else:
        slow = f"{symbol}.lanes"
        _bounded(c, function, x, bound, slow)
        texts = _lanes(c, name, slow)
        texts["weights"] = '!0 = !{!"branch_weights", i32 1048575, i32 1}\n'
    body = "\n".join(c.lines)
    return {**texts, f"{symbol}.{masked}": f"{header} nounwind willreturn memory(none) alwaysinline {{\n{body}\n}}\n"}


def _bounded(c: Code, function: VectorFunction, x: Text, bound: float, slow: str) -> None:
    """Compute, unless a lane is out of bounds: then the lanes are computed one by one."""
    outside = c.compare("ugt", c.abs(x), bound)
    some = c.let(f"call i1 @llvm.vector.reduce.or.v{c.lanes}i1({c.mask_type} {outside})")
    inside = c.let(f"xor i1 {some}, true")
    c.lines.append(f"  br i1 {inside}, label %fast, label %slow, !prof !0")
    c.lines.append("fast:")
    c.lines.append(f"  ret {c.type} {function.emit(c, x)}")
    c.lines.append("slow:")
    c.lines.append(f"  ret {c.type} {c.let(f'call {c.type} @{slow}({c.type} {x})')}")


def _lanes(c: Code, name: str, symbol: str) -> dict[str, str]:
    """A function that calls the C library a lane at a time."""
    library = name + ("f" if c.bits == 32 else "")
    lines, y = [], "poison"
    for lane in range(c.lanes):
        lines.append(f"  %x{lane} = extractelement {c.type} %x, i32 {lane}")
        lines.append(f"  %f{lane} = call {c.element} @{library}({c.element} %x{lane})")
        lines.append(f"  %y{lane} = insertelement {c.type} {y}, {c.element} %f{lane}, i32 {lane}")
        y = f"%y{lane}"
    body = "\n".join(lines)
    attributes = "nounwind willreturn memory(none)"
    header = f"define linkonce_odr hidden {c.type} @{symbol}({c.type} %x) {attributes} noinline cold"
    return {
        library: f"declare {c.element} @{library}({c.element}) {attributes}\n",
        symbol: f"{header} {{\n{body}\n  ret {c.type} {y}\n}}\n",
    }
