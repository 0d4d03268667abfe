"""Arithmetic, comparison, selection, logic, shifts and bit counting."""

from __future__ import annotations

from collections.abc import Callable

from quadrants.ir.core import Op
from quadrants.lower.abi import components
from quadrants.lower.emit import FLAGS, Emitter, FunctionEmitter, Text
from quadrants.lower.half import from_float, to_float
from quadrants.lower.literal import scalar_parts
from quadrants.lower.nodes import LIKELY
from quadrants.lower.shape import Shape, literal_of, shape_of
from quadrants.types import BOOL, Scalar, Type
from quadrants.types.lanes import count_of, item_of

_ZEROS = {"i1": "false", "half": "0.0", "float": "0.0", "double": "0.0", "ptr": "null"}


def scalar(op: Op) -> Scalar:
    """The type of the first operand, or of each of its lanes."""
    type = item_of(op.operands[0].type)
    assert isinstance(type, Scalar)
    return type


def shape(op: Op) -> Shape:
    """The type of the first operand, and its lanes."""
    return shape_of(op.operands[0].type)


def mode_flags(e: FunctionEmitter, op: Op) -> str:
    """The fast-math flags of an operation's floating-point mode, which is that of the function unless it says so."""
    mode = op.attrs.get("fp")
    return FLAGS[str(mode)] if mode else e.flags


def flags(e: FunctionEmitter, op: Op) -> str:
    """The fast-math flags of a floating-point operation, with a space behind."""
    extra, mode = op.attrs.get("fast"), mode_flags(e, op)
    return f"{mode}{extra} " if extra else mode


def is_literal(text: Text) -> bool:
    """Whether an operand is an integer constant."""
    return text[0] in "-0123456789"


def _const(e: FunctionEmitter, op: Op) -> None:
    type = op.attrs["type"]
    assert isinstance(type, Scalar)
    e.parts[op.results[0]] = scalar_parts(op.attrs["value"], type)


def _zero(e: FunctionEmitter, op: Op) -> None:
    type = op.attrs["type"]
    assert isinstance(type, Type)
    e.parts[op.results[0]] = tuple(
        "zeroinitializer" if text[0] == "<" else _ZEROS.get(text, "0") for text in components(type)
    )


def _float_binary(e: FunctionEmitter, op: Op, instruction: str) -> Text:
    a, b = e.one(op.operands[0]), e.one(op.operands[1])
    if op.attrs.get("fused") and (fused := _fused(e, op)):
        return fused
    if scalar(op).bits == 16:  # as NumPy does: in single precision, each result rounded
        return from_float(e, e.let(f"{instruction} float {to_float(e, a)}, {to_float(e, b)}"))
    result = e.let(f"{instruction} {flags(e, op)}{shape(op).text} {a}, {b}")
    if op.name == "mul":
        e.products[op.results[0]] = (a, b)
    return result


def _fused(e: FunctionEmitter, op: Op) -> Text:
    """A sum of two products, with the one that the op names in one step; "" where products are not fused."""
    which = 0 if op.attrs["fused"] == 1 else 1
    factors = e.products.get(op.operands[which])
    mode, kind = flags(e, op), shape(op)
    if factors is None or "contract" not in mode:
        return ""
    (a, b), c = factors, e.one(op.operands[1 - which])
    if op.name == "sub" and which == 0:
        c = e.let(f"fneg {kind.text} {c}")
    elif op.name == "sub":
        a = e.let(f"fneg {kind.text} {a}")
    text = kind.text
    return e.let(f"call {mode}{text} @llvm.fmuladd.{kind.suffix}({text} {a}, {text} {b}, {text} {c})")


def _arithmetic(integer: str, floating: str) -> Emitter:
    def emit(e: FunctionEmitter, op: Op) -> None:
        type = scalar(op)
        if type.is_float:
            e.set(op, _float_binary(e, op, floating))
            return
        wrap = ("nsw " if type.is_signed else "nuw ") if op.attrs.get("nowrap") else ""
        e.set(op, e.let(f"{integer} {wrap}{shape(op).text} {e.one(op.operands[0])}, {e.one(op.operands[1])}"))

    return emit


def _float_only(instruction: str) -> Emitter:
    def emit(e: FunctionEmitter, op: Op) -> None:
        e.set(op, _float_binary(e, op, instruction))

    return emit


def _neg(e: FunctionEmitter, op: Op) -> None:
    type, a = scalar(op), e.one(op.operands[0])
    if type.is_float:
        # A change of sign is exact: no conversion for f16, and never 0 - a.
        e.set(op, e.let(f"fneg {shape(op).text} {a}"))
    else:
        wrap = "nsw " if op.attrs.get("nowrap") and type.is_signed else ""
        e.set(op, e.let(f"sub {wrap}{shape(op).text} {shape(op).int(0)}, {a}"))


def _abs(e: FunctionEmitter, op: Op) -> None:
    type, a = scalar(op), e.one(op.operands[0])
    text, suffix = shape(op).text, shape(op).suffix
    if type.is_float:
        e.set(op, e.let(f"call {text} @llvm.fabs.{suffix}({text} {a})"))
    elif type.is_signed:
        poison = "true" if op.attrs.get("nowrap") else "false"
        e.set(op, e.let(f"call {text} @llvm.abs.{suffix}({text} {a}, i1 {poison})"))
    else:
        e.set(op, a)


def _order(signed: str, unsigned: str, floating: str) -> Emitter:
    """min and max: compare, then select. Without NaNs (fp="fast") the order does not matter, and LLVM may vectorise reductions."""

    def emit(e: FunctionEmitter, op: Op) -> None:
        type = scalar(op)
        a, b = e.one(op.operands[0]), e.one(op.operands[1])
        kind = shape(op)
        mode = mode_flags(e, op)
        fast = mode if type.is_float and type.bits > 16 and "fast" in mode else ""
        if fast:
            test = e.let(f"fcmp {fast}{floating} {kind.text} {a}, {b}")
        else:
            test = less(e, floating if type.is_float else signed if type.is_signed else unsigned, kind, a, b)
        e.set(op, e.let(f"select {fast}{kind.truth} {test}, {kind.text} {a}, {kind.text} {b}"))

    return emit


def less(e: FunctionEmitter, comparison: str, kind: Shape, a: Text, b: Text) -> Text:
    """Compare with an LLVM predicate."""
    if kind.item.is_float and kind.item.bits == 16:
        return e.let(f"fcmp {comparison} float {to_float(e, a)}, {to_float(e, b)}")
    instruction = "fcmp" if kind.item.is_float else "icmp"
    return e.let(f"{instruction} {comparison} {kind.text} {a}, {b}")


_FLOAT_PREDICATES = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}
_SIGNED = {"eq": "eq", "ne": "ne", "lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge"}
_UNSIGNED = {"eq": "eq", "ne": "ne", "lt": "ult", "le": "ule", "gt": "ugt", "ge": "uge"}


def _cmp(e: FunctionEmitter, op: Op) -> None:
    type, pred = scalar(op), str(op.attrs["pred"])
    a, b = e.get(op.operands[0]), e.get(op.operands[1])
    if type.is_complex:
        part = shape(op).of(type.part)
        both = [less(e, _FLOAT_PREDICATES[pred], part, x, y) for x, y in zip(a, b)]
        e.set(op, e.let(f"{'and' if pred == 'eq' else 'or'} {part.truth} {both[0]}, {both[1]}"))
        return
    table = _FLOAT_PREDICATES if type.is_float else _SIGNED if type.is_signed else _UNSIGNED
    e.set(op, less(e, table[pred], shape(op), a[0], b[0]))


def _select(e: FunctionEmitter, op: Op) -> None:
    condition = e.one(op.operands[0])
    text = components(op.operands[1].type)[0]
    truth = f"<{count} x i1>" if (count := count_of(op.operands[1].type)) else "i1"
    pairs = zip(e.get(op.operands[1]), e.get(op.operands[2]))
    e.parts[op.results[0]] = tuple(e.let(f"select {truth} {condition}, {text} {a}, {text} {b}") for a, b in pairs)


# Division


def _safe_divisor(e: FunctionEmitter, op: Op, kind: Shape, a: Text, b: Text) -> tuple[Text, Text]:
    """A divisor that never traps, and whether the given one is 0 ("" if it is known not to be)."""
    text, number = kind.text, literal_of(b)
    if number is not None and number not in (0, -1):
        return b, ""
    zero = "" if op.attrs.get("nonzero") or number == -1 else e.let(f"icmp eq {text} {b}, {kind.int(0)}")
    trap = zero
    if kind.item.is_signed:  # INT_MIN by -1: dividing by 1 instead gives the wrapped quotient, and remainder 0
        low = e.let(f"icmp eq {text} {a}, {kind.int(1 << (kind.item.bits - 1))}")
        minus = e.let(f"icmp eq {text} {b}, {kind.int(-1)}")
        overflow = e.let(f"and {kind.truth} {low}, {minus}")
        trap = e.let(f"or {kind.truth} {zero}, {overflow}") if zero else overflow
    return (e.let(f"select {kind.truth} {trap}, {text} {kind.int(1)}, {text} {b}") if trap else b), zero


def _power_of_two(b: Text) -> int:
    """k if the operand is the constant 2**k, else -1."""
    value = literal_of(b)
    return value.bit_length() - 1 if value is not None and value > 0 and value & (value - 1) == 0 else -1


def _needs_floor(e: FunctionEmitter, kind: Shape, remainder: Text, divisor: Text) -> Text:
    """Whether truncation and floor differ: the remainder is not 0, and its sign is not the divisor's."""
    some = e.let(f"icmp ne {kind.text} {remainder}, {kind.int(0)}")
    signs = e.let(f"xor {kind.text} {remainder}, {divisor}")
    differ = e.let(f"icmp slt {kind.text} {signs}, {kind.int(0)}")
    return e.let(f"and {kind.truth} {some}, {differ}")


def _by_sign(e: FunctionEmitter, op: Op, unsigned: str, general: Callable[[], Text]) -> Text:
    """A signed 64-bit division by what is no constant: of what is not negative by what is positive it is the unsigned one, which
    is quicker, cannot trap and needs no correction: nothing but a branch stands in the chain that waits for its result."""
    kind = shape(op)
    a, b = e.one(op.operands[0]), e.one(op.operands[1])
    if kind.truth != "i1" or kind.item.bits != 64 or literal_of(b) is not None or not op.attrs.get("nonzero"):
        return general()
    plain, other, done = e.label("plain"), e.label("signed"), e.label("divided")
    signs = e.let(f"or i64 {a}, {b}")
    e.line(f"br i1 {e.let(f'icmp sgt i64 {signs}, -1')}, label %{plain}, label %{other}, {LIKELY}")
    e.begin(plain)
    quick = e.let(f"{unsigned} i64 {a}, {b}")
    e.line(f"br label %{done}")
    e.begin(other)
    slow, end = general(), e.block
    e.line(f"br label %{done}")
    e.begin(done)
    return e.let(f"phi i64 [ {quick}, %{plain} ], [ {slow}, %{end} ]")


def _floordiv(e: FunctionEmitter, op: Op) -> None:
    kind = shape(op)
    text = kind.text
    a, b = e.one(op.operands[0]), e.one(op.operands[1])
    if (shift := _power_of_two(b)) >= 0:
        e.set(op, e.let(f"{'ashr' if kind.item.is_signed else 'lshr'} {text} {a}, {kind.int(shift)}"))
    elif kind.item.is_signed:
        e.set(op, _by_sign(e, op, "udiv", lambda: _signed_floordiv(e, op, kind, a, b)))
    else:
        divisor, zero = _safe_divisor(e, op, kind, a, b)
        quotient = e.let(f"udiv {text} {a}, {divisor}")
        e.set(op, _unless_zero(e, kind, zero, quotient))


def _signed_floordiv(e: FunctionEmitter, op: Op, kind: Shape, a: Text, b: Text) -> Text:
    text = kind.text
    divisor, zero = _safe_divisor(e, op, kind, a, b)
    quotient = e.let(f"sdiv {text} {a}, {divisor}")
    remainder = e.let(f"srem {text} {a}, {divisor}")
    down = e.let(f"sext {kind.truth} {_needs_floor(e, kind, remainder, divisor)} to {text}")
    return _unless_zero(e, kind, zero, e.let(f"add {text} {quotient}, {down}"))


def _unless_zero(e: FunctionEmitter, kind: Shape, zero: Text, quotient: Text) -> Text:
    """The quotient, or 0 where the divisor is."""
    if not zero:
        return quotient
    return e.let(f"select {kind.truth} {zero}, {kind.text} {kind.int(0)}, {kind.text} {quotient}")


def _remainder_divisor(e: FunctionEmitter, op: Op, text: str, b: Text) -> Text:
    """A divisor that leaves the same remainder and never traps: 1 for -1, and for 0, where the remainder is 0 as well."""
    if op.attrs.get("nonzero"):
        special = e.let(f"icmp eq {text} {b}, -1")
    else:
        special = e.let(f"icmp ult {text} {e.let(f'add {text} {b}, 1')}, 2")
    return e.let(f"select i1 {special}, {text} 1, {text} {b}")


def _mod(e: FunctionEmitter, op: Op) -> None:
    kind = shape(op)
    text = kind.text
    a, b = e.one(op.operands[0]), e.one(op.operands[1])
    if (shift := _power_of_two(b)) >= 0:
        e.set(op, e.let(f"and {text} {a}, {kind.int((1 << shift) - 1)}"))
    elif kind.item.is_signed:
        e.set(op, _by_sign(e, op, "urem", lambda: _signed_mod(e, op, kind, a, b)))
    else:
        divisor, _ = _safe_divisor(e, op, kind, a, b)  # by 1 where it would trap: the remainder is 0
        e.set(op, e.let(f"urem {text} {a}, {divisor}"))


def _signed_mod(e: FunctionEmitter, op: Op, kind: Shape, a: Text, b: Text) -> Text:
    text = kind.text
    divisor, _ = _safe_divisor(e, op, kind, a, b)  # by 1 where it would trap: the remainder is 0
    remainder = e.let(f"srem {text} {a}, {divisor}")
    floor = _needs_floor(e, kind, remainder, divisor)
    up = e.let(f"select {kind.truth} {floor}, {text} {divisor}, {text} {kind.int(0)}")
    return e.let(f"add {text} {remainder}, {up}")


# Logic, shifts, bits


def _logical(instruction: str) -> Emitter:
    def emit(e: FunctionEmitter, op: Op) -> None:
        e.set(op, e.let(f"{instruction} {shape(op).text} {e.one(op.operands[0])}, {e.one(op.operands[1])}"))

    return emit


def _not(e: FunctionEmitter, op: Op) -> None:
    kind = shape(op)
    ones = kind.true() if kind.item == BOOL else kind.int(-1)
    e.set(op, e.let(f"xor {kind.text} {e.one(op.operands[0])}, {ones}"))


def _count_fits(e: FunctionEmitter, count: Text, kind: Shape) -> Text:
    """Whether a shift count is in range; negative ones are large when taken as unsigned. "" if known."""
    number = literal_of(count)
    if number is not None and 0 <= number < kind.item.bits:
        return ""
    return e.let(f"icmp ult {kind.text} {count}, {kind.int(kind.item.bits)}")


def _shl(e: FunctionEmitter, op: Op) -> None:
    kind = shape(op)
    text = kind.text
    a, count = e.one(op.operands[0]), e.one(op.operands[1])
    fits = _count_fits(e, count, kind)
    shifted = e.let(f"shl {text} {a}, {count}")
    e.set(op, e.let(f"select {kind.truth} {fits}, {text} {shifted}, {text} {kind.int(0)}") if fits else shifted)


def _shr(e: FunctionEmitter, op: Op) -> None:
    kind = shape(op)
    text = kind.text
    a, count = e.one(op.operands[0]), e.one(op.operands[1])
    fits = _count_fits(e, count, kind)
    if kind.item.is_signed:
        if fits:
            count = e.let(f"select {kind.truth} {fits}, {text} {count}, {text} {kind.int(kind.item.bits - 1)}")
        e.set(op, e.let(f"ashr {text} {a}, {count}"))
        return
    shifted = e.let(f"lshr {text} {a}, {count}")
    e.set(op, e.let(f"select {kind.truth} {fits}, {text} {shifted}, {text} {kind.int(0)}") if fits else shifted)


def _bits(intrinsic: str, extra: str = "") -> Emitter:
    def emit(e: FunctionEmitter, op: Op) -> None:
        kind = shape(op)
        a = e.one(op.operands[0])
        if intrinsic == "bswap" and kind.item.bits == 8:  # LLVM has none: a byte is its own
            e.set(op, a)
            return
        e.set(op, e.let(f"call {kind.text} @llvm.{intrinsic}.{kind.suffix}({kind.text} {a}{extra})"))

    return emit


# Complex numbers are pairs of components.


def _complex(e: FunctionEmitter, op: Op) -> None:
    e.parts[op.results[0]] = (e.one(op.operands[0]), e.one(op.operands[1]))


def _part(index: int) -> Callable[[FunctionEmitter, Op], None]:
    def emit(e: FunctionEmitter, op: Op) -> None:
        e.set(op, e.get(op.operands[0])[index])

    return emit


EMITTERS: dict[str, Emitter] = {
    "const": _const,
    "zero": _zero,
    "add": _arithmetic("add", "fadd"),
    "sub": _arithmetic("sub", "fsub"),
    "mul": _arithmetic("mul", "fmul"),
    "div": _float_only("fdiv"),
    "floordiv": _floordiv,
    "mod": _mod,
    "neg": _neg,
    "abs": _abs,
    "min": _order("slt", "ult", "olt"),
    "max": _order("sgt", "ugt", "ogt"),
    "cmp": _cmp,
    "select": _select,
    "and": _logical("and"),
    "or": _logical("or"),
    "xor": _logical("xor"),
    "not": _not,
    "shl": _shl,
    "shr": _shr,
    "popcount": _bits("ctpop"),
    "clz": _bits("ctlz", ", i1 false"),
    "ctz": _bits("cttz", ", i1 false"),
    "bitreverse": _bits("bitreverse"),
    "bswap": _bits("bswap"),
    "complex": _complex,
    "real": _part(0),
    "imag": _part(1),
}
