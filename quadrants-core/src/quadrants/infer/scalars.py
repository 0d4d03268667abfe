"""Operators on numbers: Python's for weak operands, NumPy's where one has a NumPy type.

Each operator is one function from two numbers to one; `BINARY` and `COMPARE` are the tables. Constants fold with the
interpreter's own operators, so that folding cannot differ from it.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable

from quadrants.diagnostics import Code
from quadrants.infer.emitter import Emitter, NeverReturns, describe, fail, scalar_type
from quadrants.infer.merge import Number
from quadrants.infer.values import Abstract, Const, Num, Text
from quadrants.ir import Value
from quadrants.ir.core import Op, Region
from quadrants.ir.ops import OPS
from quadrants.types import BOOL, F64, I8, I64, PYBOOL, PYCOMPLEX, PYFLOAT, PYINT, FormatHole, FormatType, Scalar
from quadrants.types.dtypes import dtype_of
from quadrants.types.promotion import integer_range, promote, quotient_of_integers, representable

FOLD: dict[str, Callable[..., object]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}
UNARY_FOLD: dict[str, Callable[..., object]] = {"-": operator.neg, "+": operator.pos, "~": operator.invert}
_PREDICATE = {"<": "lt", "<=": "le", "==": "eq", "!=": "ne", ">": "gt", ">=": "ge"}
#: What Python says of zero to a negative power, of integers too.
_POLE = "0.0 cannot be raised to a negative power"
#: Literal exponents up to this become multiplications.
MAX_UNROLLED_EXPONENT = 16


def binary(w: Emitter, symbol: str, x: Abstract, y: Abstract) -> Abstract:
    """`x symbol y` on two numbers."""
    folded = _fold(symbol, x, y)
    if folded is not None:
        return folded
    x, y = _python_complex(x, y)
    tx, ty = scalar_type(x), scalar_type(y)
    assert tx is not None and ty is not None
    if symbol != "/":
        x, y = fit_weak(w, x, tx, ty), fit_weak(w, y, ty, tx)
    return BINARY[symbol](w, symbol, x, y, _result(w, tx, ty, symbol == "/"))


def _result(w: Emitter, tx: Scalar, ty: Scalar, division: bool = False) -> Scalar:
    """The type in which two numbers are worked on. In the portable language no register holds a Python float: where both
    numbers are Python's, the float is of the default type."""
    common = promote(tx, ty)
    if common.weak and (common.is_float or (division and not common.is_complex)):
        return w.floats or common
    return common


def _python_complex(x: Abstract, y: Abstract) -> tuple[Abstract, Abstract]:
    """np.float64 is a Python float, and so `complex` takes it as one when it stands on the right."""
    if scalar_type(x) == PYCOMPLEX and isinstance(y, Num) and y.scalar == F64:
        return x, Num(PYFLOAT, y.value)
    return x, y


def _fold(symbol: str, x: Abstract, y: Abstract) -> Const | None:
    if not (isinstance(x, Const) and isinstance(y, Const)):
        return None
    if symbol == "<<" and isinstance(y.value, int) and y.value > 4096:
        return None
    if symbol == "**" and isinstance(y.value, int) and isinstance(x.value, int) and abs(y.value) > 4096:
        return None
    try:
        value = FOLD[symbol](x.value, y.value)
    except (ArithmeticError, ValueError, TypeError):
        return None
    return Const(value) if isinstance(value, Number) else None


def fit_weak(w: Emitter, value: Abstract, own: Scalar, other: Scalar) -> Abstract:
    """Check that a Python int fits the narrower NumPy integer type that it meets (NEP 50: OverflowError)."""
    if not own.weak or other.weak or own.kind is not PYINT.kind or not other.is_integer or other == I64:
        return value
    if w.options.kernel:
        return _wrapped(value, other)
    if isinstance(value, Const):
        assert isinstance(value.value, int)
        if not representable(value.value, other):
            w.check(w.b.bool(False), OverflowError, _out_of_bounds(value, other))
            return Num(other, w.b.const(0, other))
        return value
    _check_range(w, w.num(value), other)
    return value


def _check_range(w: Emitter, number: Num, other: Scalar) -> None:
    """Raise OverflowError for an integer that the type `other` has not; nothing is emitted where it has all of them."""
    own = number.scalar.machine
    (least, most), (low, high) = integer_range(own), integer_range(other)
    sides = []
    if low > least:
        sides.append(w.b.value("cmp", number.value, w.b.const(low, own), pred="ge"))
    if high < most:
        sides.append(w.b.value("cmp", number.value, w.b.const(high, own), pred="le"))
    if sides:
        fits = sides[0] if len(sides) == 1 else w.b.value("and", *sides)
        w.check(fits, OverflowError, _out_of_bounds(number, other))


def _wrapped(value: Abstract, other: Scalar) -> Abstract:
    """In kernels integers wrap; a literal that the width cannot hold, signed or not, is a mistake."""
    if not isinstance(value, Const) or representable(value.value, other):  # type: ignore[arg-type]
        return value
    assert isinstance(value.value, int)
    if not -(1 << (other.bits - 1)) <= value.value < 1 << other.bits:
        fail(Code.CONSTANT_OVERFLOW, f"the integer {value.value} does not fit in {other}")
    low, _ = integer_range(other)
    return Const((value.value - low) % (1 << other.bits) + low)


def _out_of_bounds(value: Abstract, other: Scalar) -> Abstract:
    hole = FormatHole(value.type, "", "")
    return Text(FormatType(("Python integer ", hole, f" out of bounds for {dtype_of(other).name}")), value.leaves)


def float_to_int(w: Emitter, value: Abstract) -> Value:
    """The int64 of a float, truncated; NaN, infinities and what does not fit raise."""
    if w.options.kernel:
        return w.cast(value, PYINT)
    register = w.cast(value, PYFLOAT)
    v, f64 = w.b.value, w.b.f64
    fits = v("cmp", v("abs", register), f64(2.0**63), pred="lt")
    converted, misfit = w.new_region(), w.new_region()
    with w.b.into(converted):  # behind the test, which the conversion need not repeat
        w.b.op("yield", v("cast", register, type=PYINT.machine))
    with w.b.into(misfit):
        least = v("cmp", register, f64(-(2.0**63)), pred="eq")
        w.b.region.ops.append(Op(OPS["if"], [least], [], {}, [_yielding(w), _misfit(w, register)], w.b.loc))
        w.b.op("yield", w.b.i64(-(2**63)))
    whole = Value(PYINT.machine)
    w.b.region.ops.append(Op(OPS["if"], [fits], [whole], {}, [converted, misfit], w.b.loc))
    return whole


def _yielding(w: Emitter) -> Region:
    region = w.new_region()
    with w.b.into(region):
        w.b.op("yield")
    return region


def _misfit(w: Emitter, register: Value) -> Region:
    """A region that raises for a float that is no int64."""
    region = w.new_region()
    v, f64 = w.b.value, w.b.f64
    with w.b.into(region):
        w.check(v("cmp", register, register, pred="eq"), ValueError, "cannot convert float NaN to integer")
        finite = v("cmp", v("abs", register), f64(float("inf")), pred="lt")
        w.check(finite, OverflowError, "cannot convert float infinity to integer")
        w.check(
            w.b.bool(False), OverflowError, "the float does not fit in 64 bits: integers are int64 in compiled code"
        )
        w.b.op("unreachable")
    return region


def sized(w: Emitter, value: Abstract, to: Scalar) -> Value:
    """A number in the NumPy type `to`, as `to(value)` converts; Python's numbers have to fit an integer type."""
    source = scalar_type(value)
    assert source is not None
    if to.is_integer and source.weak:
        if source.is_float:
            return _truncated(w, value, to)
        value = fit_weak(w, value, source, to)
    return w.cast(value, to)


def item(w: Emitter, value: Abstract, to: Scalar, strict: bool = False) -> Value:
    """A number as `array[i] = value` converts it.

    Beyond `sized`, NumPy's own numbers have to fit a signed integer type, as NumPy has it; in an unsigned one they wrap, and so
    do all elements that are taken from arrays as arrays. The library converts as `sized` does, unless `strict`.
    """
    source = scalar_type(value)
    assert source is not None
    held = strict or not w.ref.internal  # type: ignore[attr-defined]
    if w.options.kernel or not (held and _is_held_to_range(source, to)):
        return sized(w, value, to)
    if source.is_float:
        return _truncated(w, value, to)
    number = w.num(value)
    _check_range(w, number, to)
    return w.cast(number, to)


def _truncated(w: Emitter, value: Abstract, to: Scalar) -> Value:
    """A float in an integer type, checked as a float: going through int64 would halve what fits in a vector."""
    if w.options.kernel or to.bits == 64:
        number = Num(PYINT, float_to_int(w, value))
        return w.cast(fit_weak(w, number, PYINT, to), to)
    register, (low, high), v = w.cast(value, PYFLOAT), integer_range(to), w.b.value
    above, below = v("cmp", register, w.b.f64(low - 1.0), pred="gt"), v("cmp", register, w.b.f64(high + 1.0), pred="lt")

    def misfit() -> None:
        _check_range(w, Num(PYINT, float_to_int(w, value)), to)
        raise NeverReturns

    w.unless(v("and", above, below), misfit)
    return v("cast", register, type=to)


def _is_held_to_range(source: Scalar, to: Scalar) -> bool:
    return to.is_signed and not source.weak and (source.is_integer or source.is_float)


def _bad(symbol: str, x: Abstract, y: Abstract, hint: str | None = None) -> Abstract:
    fail(
        Code.BAD_OPERAND,
        f"unsupported operand types for {symbol}: {describe(x)} and {describe(y)}",
        types=[("left", x.type), ("right", y.type)],
        hint=hint,
    )


_ARITHMETIC = {"+": "add", "-": "sub", "*": "mul"}


def _arithmetic(w: Emitter, symbol: str, x: Abstract, y: Abstract, result: Scalar) -> Abstract:
    if result.is_bool:
        if result.weak:
            result = PYINT
        elif symbol == "-":
            return _bad(symbol, x, y, "NumPy Booleans cannot be subtracted: use `^` or np.logical_xor.")
        else:
            name = "or" if symbol == "+" else "and"
            return Num(BOOL, w.b.value(name, w.cast(x, BOOL), w.cast(y, BOOL)))
    if result.is_complex:
        return _complex_arithmetic(w, symbol, x, y, result)
    left, right = w.cast(x, result), w.cast(y, result)
    value = w.b.value(_ARITHMETIC[symbol], left, right)
    if w.options.debug and result is PYINT:
        _check_overflow(w, symbol, left, right, value)
    return Num(result, value)


def _check_overflow(w: Emitter, symbol: str, x: Value, y: Value, result: Value) -> None:
    """OverflowError where a Python int leaves 64 bits; without `debug` it wraps."""
    v, zero = w.b.value, w.b.i64(0)
    if symbol == "*":
        lowest = v("and", v("cmp", x, w.b.i64(-1), pred="eq"), v("cmp", y, w.b.i64(-(2**63)), pred="eq"))
        exact = v("and", v("cmp", v("floordiv", result, x), y, pred="eq"), v("not", lowest))
        fits = v("or", v("cmp", x, zero, pred="eq"), exact)
    else:
        # Overflow: operands of like sign (of unlike sign for a difference), and a result of the other sign.
        alike = v("xor", x, result) if symbol == "+" else v("xor", x, y)
        other = v("xor", y, result) if symbol == "+" else v("xor", x, result)
        fits = v("cmp", v("and", alike, other), zero, pred="ge")
    w.check(fits, OverflowError, f"the result of {symbol} does not fit in 64 bits")


def parts(w: Emitter, value: Abstract, part: Scalar) -> tuple[Value, Value]:
    """The real and the imaginary part in registers of the type `part`."""
    scalar = scalar_type(value)
    if scalar is not None and scalar.is_complex:
        register = w.num(value).value
        real, imag = w.b.value("real", register), w.b.value("imag", register)
        own = scalar.machine.part
        return w.cast(Num(own, real), part), w.cast(Num(own, imag), part)
    return w.cast(value, part), w.b.const(0.0, part.machine)


def _complex_arithmetic(w: Emitter, symbol: str, x: Abstract, y: Abstract, result: Scalar) -> Abstract:
    part = result.machine.part
    (a, b), (c, d) = parts(w, x, part), parts(w, y, part)
    v = w.b.value
    if symbol == "*":
        real = v("sub", v("mul", a, c), v("mul", b, d))
        imag = v("add", v("mul", a, d), v("mul", b, c))
    else:
        name = _ARITHMETIC[symbol]
        real, imag = v(name, a, c), v(name, b, d)
    return Num(result, v("complex", real, imag))


def _divide(w: Emitter, symbol: str, x: Abstract, y: Abstract, result: Scalar) -> Abstract:
    if not result.is_float and not result.is_complex:
        result = PYFLOAT if result.weak else quotient_of_integers()
    if result.is_complex:
        target = "complex_div" if result.weak else "numpy_complex_div"
        quotient = w.call_library(f"complexes:{target}", Num(result, w.cast(x, result)), Num(result, w.cast(y, result)))
        return Num(result, w.cast(quotient, result))
    divisor = w.cast(y, result)
    if result.weak:
        nonzero = w.b.value("cmp", divisor, w.b.const(0.0, result.machine), pred="ne")
        _check_divisor(w, y, nonzero, "float division by zero" if _is_float(x, y) else "division by zero")
    return Num(result, w.b.value("div", w.cast(x, result), divisor))


def _is_float(*values: Abstract) -> bool:
    return any((scalar := scalar_type(value)) is not None and scalar.is_float for value in values)


def _check_divisor(w: Emitter, y: Abstract, nonzero: Value, text: str) -> None:
    if w.options.division == "python" and not (isinstance(y, Const) and y.value):
        w.check(nonzero, ZeroDivisionError, text)


_INTEGER_ZERO = {"//": "integer division or modulo by zero", "%": "integer modulo by zero"}
_FLOAT_ZERO = {
    "//": "float floor division by zero",
    "%": "float modulo by zero" if sys.version_info >= (3, 13) else "float modulo",
}
_FLOOR_OP = {"//": "floordiv", "%": "mod"}
_FLOOR_LIBRARY = {
    ("//", True): "float_floordiv",
    ("%", True): "float_mod",
    ("//", False): "numpy_float_floordiv",
    ("%", False): "numpy_float_mod",
}


def _floor(w: Emitter, symbol: str, x: Abstract, y: Abstract, result: Scalar) -> Abstract:
    if result.is_bool:
        result = PYINT if result.weak else I8
    if result.is_complex:
        return _bad(symbol, x, y)
    divisor = w.cast(y, result)
    if result.is_float:
        if result.weak:
            nonzero = w.b.value("cmp", divisor, w.b.const(0.0, result.machine), pred="ne")
            _check_divisor(w, y, nonzero, _FLOAT_ZERO[symbol])
        name = _FLOOR_LIBRARY[symbol, result.weak]
        value = w.call_library(f"scalars:{name}", Num(result, w.cast(x, result)), Num(result, divisor))
        return Num(result, w.cast(value, result))
    attrs = {}
    if isinstance(y, Const) and y.value:
        attrs["nonzero"] = True
    elif result.weak and w.options.division == "python":
        w.check(w.b.value("cmp", divisor, w.b.i64(0), pred="ne"), ZeroDivisionError, _INTEGER_ZERO[symbol])
        attrs["nonzero"] = True
    return Num(result, w.b.value(_FLOOR_OP[symbol], w.cast(x, result), divisor, **attrs))


_BITWISE = {"&": "and", "|": "or", "^": "xor"}


def _bitwise(w: Emitter, symbol: str, x: Abstract, y: Abstract, result: Scalar) -> Abstract:
    if not (result.is_bool or result.is_integer):
        return _bad(symbol, x, y)
    return Num(result, w.b.value(_BITWISE[symbol], w.cast(x, result), w.cast(y, result)))


def _shift(w: Emitter, symbol: str, x: Abstract, y: Abstract, result: Scalar) -> Abstract:
    if result.is_bool:
        result = PYINT if result.weak else I8
    if not result.is_integer:
        return _bad(symbol, x, y)
    count = w.cast(y, result)
    known = isinstance(y, Const) and isinstance(y.value, int) and y.value >= 0
    if result.weak and not known and not w.options.kernel:
        w.check(w.b.value("cmp", count, w.b.i64(0), pred="ge"), ValueError, "negative shift count")
    return Num(result, w.b.value("shl" if symbol == "<<" else "shr", w.cast(x, result), count))


def _power(w: Emitter, symbol: str, x: Abstract, y: Abstract, result: Scalar) -> Abstract:
    if result.is_bool:
        result = PYINT if result.weak else I8
    exponent = y.value if isinstance(y, Const) else None
    if result.is_complex:
        base, power = Num(result, w.cast(x, result)), Num(result, w.cast(y, result))
        if isinstance(exponent, int) and 0 <= exponent <= MAX_UNROLLED_EXPONENT:
            return _multiply_out(w, base, exponent, result)
        target = "complex_pow" if result.weak else "numpy_complex_pow"
        return Num(result, w.cast(w.call_library(f"complexes:{target}", base, power), result))
    if result.is_integer:
        return _integer_power(w, x, y, result, exponent)
    return _float_power(w, x, y, result, exponent)


def _integer_power(w: Emitter, x: Abstract, y: Abstract, result: Scalar, exponent: object) -> Abstract:
    if isinstance(exponent, int):
        if exponent < 0:
            if result.weak:
                return _float_power(w, Num(PYFLOAT, w.cast(x, PYFLOAT)), y, PYFLOAT, exponent)
            w.check(w.b.bool(False), ValueError, "Integers to negative integer powers are not allowed.")
        elif exponent <= MAX_UNROLLED_EXPONENT:
            return _multiply_out(w, Num(result, w.cast(x, result)), exponent, result)
    power, base = Num(result, w.cast(y, result)), Num(result, w.cast(x, result))
    if result.is_signed and not w.options.kernel:
        zero = w.b.const(0, result.machine)
        nonnegative = w.b.value("cmp", power.value, zero, pred="ge")
        if result.weak:
            nonzero = w.b.value("cmp", base.value, zero, pred="ne")
            w.check(w.b.value("or", nonnegative, nonzero), ZeroDivisionError, _POLE)
        w.check(nonnegative, ValueError, "Integers to negative integer powers are not allowed.")
    if result.weak:
        return w.call_library("scalars:int_pow", base, power)
    return w.call_library("scalars:sized_int_pow", base, power, Num(result, w.b.const(1, result)))


def _float_power(w: Emitter, x: Abstract, y: Abstract, result: Scalar, exponent: object) -> Abstract:
    base = Num(result, w.cast(x, result))
    if isinstance(exponent, (int, float)) and w.fp != "strict":
        if exponent == 0.5 and not result.weak:
            return Num(result, w.b.value("math.sqrt", base.value))
        if float(exponent).is_integer() and 1 <= exponent <= (2 if w.fp == "strict" else 4):
            return _multiply_out(w, base, int(exponent), result)
        if exponent == -1.0 and not result.weak:
            return Num(result, w.b.value("div", w.b.const(1.0, result.machine), base.value))
    power = w.cast(y, result)
    value = w.b.value("math.pow", base.value, power)
    if result.weak:
        _check_python_power(w, base.value, power, value)
    return Num(result, value)


def _check_python_power(w: Emitter, base: Value, power: Value, value: Value) -> None:
    """Python's errors: zero to a negative power, and overflow of finite operands."""
    if w.options.division == "ieee":
        return
    zero, infinity = w.b.f64(0.0), w.b.f64(float("inf"))
    v = w.b.value
    pole = v("and", v("cmp", base, zero, pred="eq"), v("cmp", power, zero, pred="lt"))
    w.check(v("not", pole), ZeroDivisionError, _POLE)
    finite = v("and", *(v("cmp", v("abs", operand), infinity, pred="lt") for operand in (base, power)))
    real = v("or", v("not", finite), v("cmp", value, value, pred="eq"))
    w.check(real, ValueError, "a negative number to a fractional power is complex: write complex(x) ** y")
    overflow = v("and", finite, v("cmp", v("abs", value), infinity, pred="eq"))
    w.check(v("not", overflow), OverflowError, Const(34), "Numerical result out of range")


def _multiply_out(w: Emitter, base: Num, exponent: int, result: Scalar) -> Abstract:
    """`base ** exponent` by repeated squaring."""
    if exponent == 0:
        return Num(result, w.cast(Const(1), result))
    power: Abstract | None = None
    square: Abstract = base
    while True:
        if exponent & 1:
            power = square if power is None else _arithmetic(w, "*", power, square, result)
        exponent >>= 1
        if not exponent:
            return power if isinstance(power, Num) else base
        square = _arithmetic(w, "*", square, square, result)


BINARY: dict[str, Callable[[Emitter, str, Abstract, Abstract, Scalar], Abstract]] = {
    "+": _arithmetic,
    "-": _arithmetic,
    "*": _arithmetic,
    "/": _divide,
    "//": _floor,
    "%": _floor,
    "**": _power,
    "<<": _shift,
    ">>": _shift,
    "&": _bitwise,
    "|": _bitwise,
    "^": _bitwise,
}


def compare(w: Emitter, symbol: str, x: Abstract, y: Abstract) -> Abstract:
    """`x symbol y` on two numbers."""
    folded = _fold(symbol, x, y)
    if folded is not None:
        return folded
    x, y = _python_complex(x, y)
    tx, ty = scalar_type(x), scalar_type(y)
    assert tx is not None and ty is not None
    result = PYBOOL if tx.weak and ty.weak else BOOL
    common = _result(w, tx, ty)
    if common.is_complex:
        return Num(result, _compare_complex(w, symbol, x, y, common))
    if tx.is_integer and ty.is_integer:
        exact = _compare_integers(w, symbol, x, y, tx, ty)
        if exact is not None:
            return Num(result, exact)
    if common.is_bool:
        common = I8
    return Num(result, w.b.value("cmp", w.cast(x, common), w.cast(y, common), pred=_PREDICATE[symbol]))


def _compare_complex(w: Emitter, symbol: str, x: Abstract, y: Abstract, common: Scalar) -> Value:
    if symbol in ("==", "!="):
        return w.b.value("cmp", w.cast(x, common), w.cast(y, common), pred=_PREDICATE[symbol])
    if common.weak:
        fail(
            Code.BAD_OPERAND,
            f"complex numbers have no order: {symbol} does not take them",
            types=[("left", x.type), ("right", y.type)],
        )
    (a, b), (c, d) = parts(w, x, common.part), parts(w, y, common.part)
    v = w.b.value  # NumPy's order: by the real parts, then by the imaginary ones
    first = v("cmp", a, c, pred=_PREDICATE[symbol[0]])
    return v("or", first, v("and", v("cmp", a, c, pred="eq"), v("cmp", b, d, pred=_PREDICATE[symbol])))


def _compare_integers(w: Emitter, symbol: str, x: Abstract, y: Abstract, tx: Scalar, ty: Scalar) -> Value | None:
    """Integers compare by value, whatever their types: exact also for uint64 against int64, and for any Python int."""
    for value, other, flipped in ((y, tx, False), (x, ty, True)):
        if isinstance(value, Const) and not other.weak and isinstance(value.value, int):
            if not representable(value.value, other):
                above = value.value > 0
                less = above != flipped
                known = {"<": less, "<=": less, ">": not less, ">=": not less, "==": False, "!=": True}[symbol]
                return w.b.bool(known)
            return w.b.value("cmp", w.cast(x, other), w.cast(y, other), pred=_PREDICATE[symbol])
    if tx.is_signed == ty.is_signed:
        wide = max(tx, ty, key=lambda scalar: scalar.bits).machine
        return w.b.value("cmp", w.cast(x, wide), w.cast(y, wide), pred=_PREDICATE[symbol])
    unsigned, signed = (x, y) if ty.is_signed else (y, x)
    narrow = scalar_type(unsigned)
    assert narrow is not None
    if narrow.bits < 64:
        return w.b.value("cmp", w.cast(x, I64), w.cast(y, I64), pred=_PREDICATE[symbol])
    v = w.b.value
    negative = v("cmp", w.cast(signed, I64), w.b.i64(0), pred="lt")
    big = narrow.machine
    plain = v("cmp", w.cast(x, big), w.cast(y, big), pred=_PREDICATE[symbol])
    left_is_less = signed is x
    if_negative = (
        symbol == "!=" or (symbol in ("<", "<=") and left_is_less) or (symbol in (">", ">=") and not left_is_less)
    )
    return v("select", negative, w.b.bool(if_negative), plain)


def unary(w: Emitter, symbol: str, x: Abstract) -> Abstract:
    """`symbol x` on a number."""
    if isinstance(x, Const):
        folded = UNARY_FOLD[symbol]
        if not isinstance(x.value, (float, complex)) or symbol != "~":
            return Const(folded(x.value))
    num = w.num(x)
    scalar = num.scalar
    if scalar.is_bool:
        if scalar.weak:
            scalar = PYINT
        elif symbol == "~":
            return Num(BOOL, w.b.value("not", num.value))
        else:
            fail(Code.BAD_OPERAND, f"operator {symbol} does not take NumPy Booleans", hint="Use `~` to invert.")
    if symbol == "+":
        return Num(scalar, w.cast(num, scalar))
    if symbol == "~":
        if not scalar.is_integer:
            fail(Code.BAD_OPERAND, f"operator ~ needs an integer or a Boolean, not {describe(num)}")
        return Num(scalar, w.b.value("not", w.cast(num, scalar)))
    if scalar.is_complex:
        return _negate_complex(w, num, scalar)
    return Num(scalar, w.b.value("neg", w.cast(num, scalar)))


def _negate_complex(w: Emitter, num: Num, scalar: Scalar) -> Abstract:
    real, imag = (w.b.value("neg", part) for part in parts(w, num, scalar.machine.part))
    return Num(scalar, w.b.value("complex", real, imag))
