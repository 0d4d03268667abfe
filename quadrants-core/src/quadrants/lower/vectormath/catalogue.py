"""The definitions of vector functions, and which functions there are.

Takes the name of a function, bits and lanes; gives texts by symbol. A definition is there to be inlined only
("available externally"); the scalar function that takes over for lanes out of range is called by a function of its own,
out of line, since that is rare.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from quadrants.lower.vectormath import error_functions, hyperbolic, roots, trigonometric
from quadrants.lower.vectormath import functions as f
from quadrants.lower.vectormath.code import Code, Text


class VectorFunction(NamedTuple):
    """An elementary function.

    Args:
        emit: writes its code.
        outside: writes a test for the lanes that the scalar function has to compute; None where every lane is right.
        arity: how many operands it has.
        fused: by bits, whether it needs multiplications and additions that fuse.
    """

    emit: Callable[..., Text]
    outside: Callable[..., Text] | None = None
    arity: int = 1
    fused: tuple[int, ...] = ()


_FUNCTIONS: Mapping[str, VectorFunction] = MappingProxyType(
    {
        "sin": VectorFunction(f.sin, f.far_angle),
        "cos": VectorFunction(f.cos, f.far_angle),
        "exp": VectorFunction(f.exp),
        "exp2": VectorFunction(f.exp2),
        "expm1": VectorFunction(f.expm1),
        "tanh": VectorFunction(f.tanh),
        "log": VectorFunction(f.log),
        "log2": VectorFunction(f.log2),
        "log10": VectorFunction(f.log10),
        "log1p": VectorFunction(f.log1p),
        "atan": VectorFunction(f.atan),
        "tan": VectorFunction(trigonometric.tan, f.far_angle),
        "asin": VectorFunction(trigonometric.asin),
        "acos": VectorFunction(trigonometric.acos),
        "atan2": VectorFunction(trigonometric.atan2, arity=2),
        "sinh": VectorFunction(hyperbolic.sinh),
        "cosh": VectorFunction(hyperbolic.cosh),
        "cbrt": VectorFunction(roots.cbrt),
        "hypot": VectorFunction(roots.hypot, arity=2),
        "fmod": VectorFunction(roots.fmod, roots.far_quotient, arity=2, fused=(64, 32)),
        "erf": VectorFunction(error_functions.erf),
        "erfc": VectorFunction(error_functions.erfc),
        "pow": VectorFunction(f.pow, f.odd_power, arity=2, fused=(64,)),
    }
)

#: (function, bits) that loops use: those whose accuracy the tests hold.
ENABLED: Mapping[tuple[str, int], VectorFunction] = MappingProxyType(
    {(name, bits): function for name, function in _FUNCTIONS.items() for bits in (64, 32)}
)

#: What lanes that are not wanted compute with.
_UNMASKED = 1.0
_PURE = "nounwind willreturn memory(none)"


def definition(name: str, bits: int, lanes: int, masked: bool) -> dict[str, str]:
    """The function, what it calls, and the declaration of that."""
    function = ENABLED[name, bits]
    c = Code(lanes, bits)
    symbol = f"qd.vec.{name}.{bits}.{lanes}"
    given = [f"%x{position}" for position in range(function.arity)]
    params = ", ".join((*(f"{c.type} {x}" for x in given), *([f"{c.mask_type} %mask"] if masked else ())))
    header = f"define available_externally {c.type} @{symbol}{'m' if masked else ''}({params})"
    operands = [c.select("%mask", x, _UNMASKED) for x in given] if masked else given
    texts = {}
    if function.outside is None:
        c.lines.append(f"  ret {c.type} {function.emit(c, *operands)}")
    else:
        slow = f"{symbol}.lanes"
        _bounded(c, function, operands, slow)
        texts = _lanes(c, name, slow, given)
        texts["weights"] = '!0 = !{!"branch_weights", i32 1048575, i32 1}\n'
    body = "\n".join(c.lines)
    return {**texts, f"{symbol}.{masked}": f"{header} {_PURE} alwaysinline {{\n{body}\n}}\n"}


def _bounded(c: Code, function: VectorFunction, operands: list[Text], slow: str) -> None:
    """Compute, unless a lane is out of bounds: then the lanes are computed one by one."""
    assert function.outside is not None
    outside = function.outside(c, *operands)
    some = c.let(f"call i1 @llvm.vector.reduce.or.v{c.lanes}i1({c.mask_type} {outside})")
    inside = c.let(f"xor i1 {some}, true")
    c.lines.append(f"  br i1 {inside}, label %fast, label %slow, !prof !0")
    c.lines.append("fast:")
    c.lines.append(f"  ret {c.type} {function.emit(c, *operands)}")
    c.lines.append("slow:")
    given = ", ".join(f"{c.type} {x}" for x in operands)
    c.lines.append(f"  ret {c.type} {c.let(f'call {c.type} @{slow}({given})')}")


def _lanes(c: Code, name: str, symbol: str, operands: list[Text]) -> dict[str, str]:
    """A function that calls the C library a lane at a time."""
    library = name + ("f" if c.bits == 32 else "")
    lines, y = [], "poison"
    for lane in range(c.lanes):
        for x in operands:
            lines.append(f"  {x}.{lane} = extractelement {c.type} {x}, i32 {lane}")
        given = ", ".join(f"{c.element} {x}.{lane}" for x in operands)
        lines.append(f"  %f{lane} = call {c.element} @{library}({given})")
        lines.append(f"  %y{lane} = insertelement {c.type} {y}, {c.element} %f{lane}, i32 {lane}")
        y = f"%y{lane}"
    body = "\n".join(lines)
    params = ", ".join(f"{c.type} {x}" for x in operands)
    header = f"define linkonce_odr hidden {c.type} @{symbol}({params}) {_PURE} noinline cold"
    return {
        library: f"declare {c.element} @{library}({', '.join([c.element] * len(operands))}) {_PURE}\n",
        symbol: f"{header} {{\n{body}\n  ret {c.type} {y}\n}}\n",
    }
