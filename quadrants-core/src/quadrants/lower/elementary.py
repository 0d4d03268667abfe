"""Elementary functions: intrinsics where processors have instructions, else calls of the C library.

A call is marked as pure: the C library may set errno, which nobody reads. Except in strict functions it names the
vector functions that may take its place in a loop (`lower.vectormath`).
"""

from __future__ import annotations

from quadrants.ir.core import Op
from quadrants.lower.abi import scalar_text
from quadrants.lower.arith import flags, scalar, shape
from quadrants.lower.emit import Emitter, FunctionEmitter, Text
from quadrants.lower.half import from_float, to_float
from quadrants.lower.lanes import shuffle
from quadrants.lower.shape import Shape
from quadrants.types import F32

#: QIR name -> LLVM intrinsic.
INTRINSICS = {
    "sqrt": "sqrt",
    "floor": "floor",
    "ceil": "ceil",
    "trunc": "trunc",
    "rint": "rint",
    "copysign": "copysign",
    "fma": "fma",
    "fmin": "minnum",
    "fmax": "maxnum",
}

#: QIR name -> C function for f64; with an "f" behind for f32. The name of the intrinsics too, where the target has no instruction.
LIBRARY = {
    **{
        name: name
        for name in (
            *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
            *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "cbrt", "erf", "erfc", "lgamma"),
            *("pow", "atan2", "hypot", "nextafter"),
        )
    },
    "gamma": "tgamma",
}
#: `rem` is a function of the C library too, though not of QIR's `math`.
_SYMBOLS = {**LIBRARY, "fmod": "fmod"}

#: f16: the neighbour is a matter of the bits of the half, not of single precision.
_EXACT_IN_HALF = "nextafter"


def _call(e: FunctionEmitter, name: str, text: str, arguments: list[Text], fast: str) -> Text:
    """A call of the function on arguments of one type, float or double."""
    bits = 32 if text == "float" else 64
    given = ", ".join(f"{text} {argument}" for argument in arguments)
    if name in INTRINSICS:
        return e.let(f"call {fast}{text} @llvm.{INTRINSICS[name]}.f{bits}({given})")
    symbol = _SYMBOLS[name] + ("f" if bits == 32 else "")
    params = ", ".join([text] * len(arguments))
    declaration = f"declare {text} @{symbol}({params}) nounwind willreturn memory(none)"
    variants = e.module.vector_variants(symbol, name, bits, len(arguments)) if fast else ""
    return e.let(f"call {fast}{text} {e.module.external(symbol, declaration)}({given}){variants}")


def _on_lanes(e: FunctionEmitter, name: str, kind: Shape, arguments: list[Text], fast: str) -> Text:
    """The function of each lane: an instruction, a vector function of ours, or a call a lane."""
    given = ", ".join(f"{kind.text} {argument}" for argument in arguments)
    if name in INTRINSICS:
        return e.let(f"call {fast}{kind.text} @llvm.{INTRINSICS[name]}.{kind.suffix}({given})")
    found = e.module.vector_function(name, kind.item.bits, len(arguments), kind.lanes) if fast else None
    if found is None:
        return _lane_by_lane(e, name, kind, arguments, fast)
    symbol, size = found
    item, piece = scalar_text(kind.item), f"<{size} x {scalar_text(kind.item)}>"
    results = []
    for start in range(0, kind.lanes, size):
        places = range(start, start + size)
        whole = size == kind.lanes
        parts = arguments if whole else [shuffle(e, item, kind.lanes, a, "poison", places) for a in arguments]
        results.append(e.let(f"call {piece} {symbol}({', '.join(f'{piece} {part}' for part in parts)})"))
    while len(results) > 1:
        size = kind.lanes // len(results)
        results = [shuffle(e, item, size, a, b, range(2 * size)) for a, b in zip(results[::2], results[1::2])]
    return results[0]


def _lane_by_lane(e: FunctionEmitter, name: str, kind: Shape, arguments: list[Text], fast: str) -> Text:
    item, value = scalar_text(kind.item), "poison"
    for lane in range(kind.lanes):
        own = [e.let(f"extractelement {kind.text} {argument}, i64 {lane}") for argument in arguments]
        one = _call(e, name, item, own, fast)
        value = e.let(f"insertelement {kind.text} {value}, {item} {one}, i64 {lane}")
    return value


def _half_neighbour(e: FunctionEmitter, a: Text, b: Text) -> Text:
    """nextafter on f16, by the bits: sizes grow with the bits, and zeros meet."""
    x, y = to_float(e, a), to_float(e, b)
    bits = e.let(f"bitcast half {a} to i16")
    up = e.let(f"fcmp olt float {x}, {y}")
    negative = e.let(f"icmp slt i16 {bits}, 0")
    toward = e.let(f"xor i1 {up}, {negative}")  # away from 0
    step = e.let(f"select i1 {toward}, i16 1, i16 -1")
    moved = e.let(f"add i16 {bits}, {step}")
    zero = e.let(f"fcmp oeq float {x}, 0.0")
    first = e.let(f"select i1 {up}, i16 1, i16 -32767")
    moved = e.let(f"select i1 {zero}, i16 {first}, i16 {moved}")
    neighbour = e.let(f"bitcast i16 {moved} to half")
    equal = e.let(f"fcmp oeq float {x}, {y}")
    unordered = e.let(f"fcmp uno float {x}, {y}")
    nan = from_float(e, e.let(f"fadd float {x}, {y}"))
    kept = e.let(f"select i1 {equal}, half {a}, half {neighbour}")
    return e.let(f"select i1 {unordered}, half {nan}, half {kept}")


def _function(name: str) -> Emitter:
    def emit(e: FunctionEmitter, op: Op) -> None:
        type = scalar(op)
        arguments = [e.one(operand) for operand in op.operands]
        if shape(op).lanes:
            e.set(op, _on_lanes(e, name, shape(op), arguments, flags(e, op)))
        elif type.bits != 16:
            e.set(op, _call(e, name, scalar_text(type), arguments, flags(e, op)))
        elif name == _EXACT_IN_HALF:
            e.set(op, _half_neighbour(e, *arguments))
        else:
            wide = [to_float(e, argument) for argument in arguments]
            e.set(op, from_float(e, _call(e, name, scalar_text(F32), wide, "")))

    return emit


EMITTERS: dict[str, Emitter] = {
    **{f"math.{name}": _function(name) for name in (*INTRINSICS, *LIBRARY)},
    "rem": _function("fmod"),
}
