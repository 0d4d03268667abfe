"""NumPy's element-wise functions: a body for numbers each, mapped over arrays by broadcasting.

Weak numbers take their NumPy type first (`np.sqrt(2.0)` is a float64), so nothing here raises.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from quadrants.diagnostics import Code
from quadrants.infer import builtins as python_builtins
from quadrants.infer import elementwise, operators, scalars
from quadrants.infer.emitter import Emitter, describe, fail, scalar_type
from quadrants.infer.values import Abstract, Arr, Const, ListDisplay, Num, Tup
from quadrants.ir import Value
from quadrants.types import BOOL, F16, F32, F64, I8, I32, U8, Scalar
from quadrants.types.promotion import kernel_rules, promote, quotient_of_integers

Body = Callable[..., Abstract]


def _scalar(x: Abstract) -> Scalar:
    scalar = scalar_type(x)
    assert scalar is not None
    return scalar


def float_of(scalar: Scalar) -> Scalar:
    """The type in which NumPy computes sqrt, sin, ... of the scalar: small integers give float16 and float32."""
    if scalar.is_float or scalar.is_complex:
        return scalar.machine
    if kernel_rules():
        return quotient_of_integers()
    if scalar.is_bool or scalar.bits == 8:
        return F16
    return F32 if scalar.bits == 16 else F64


def _elementary(name: str, complex_name: str | None = None) -> Body:
    """A function of the C library, on floats; on complex numbers the library's, if there is one."""

    def body(w: Emitter, x: Abstract) -> Abstract:
        to = float_of(_scalar(x))
        value = w.cast(x, to)
        if to.is_complex:
            if complex_name is None:
                fail(Code.BAD_OPERAND, f"np.{name} does not take complex numbers")
            return Num(to, w.cast(w.call_library(f"complex_ufuncs:{complex_name}", Num(to, value)), to))
        return Num(to, w.b.value(f"math.{name}", value))

    return body


def _complex_call(name: str, complex_name: str | None) -> Callable[[Emitter, Abstract], Abstract] | None:
    """How `np.name` of a complex array is computed: the library's function, element by element."""
    if complex_name is None:
        return None
    from quadrants.library import complex_ufuncs  # loaded when a program has complex arrays

    function = getattr(complex_ufuncs, complex_name)
    return lambda w, x: w.call_library("elementwise:apply", Const(function), x)


def _rint(w: Emitter, x: Abstract) -> Abstract:
    """Integers become floats; complex numbers round part by part."""
    to = float_of(_scalar(x))
    if not to.is_complex:
        return Num(to, w.b.value("math.rint", w.cast(x, to)))
    rounded = [w.b.value("math.rint", part) for part in scalars.parts(w, x, to.part)]
    return Num(to, w.b.value("complex", *rounded))


def _square(w: Emitter, x: Abstract) -> Abstract:
    x = _as_number(w, x)
    return scalars.binary(w, "*", x, x)


def _as_number(w: Emitter, x: Abstract) -> Abstract:
    """Booleans as int8, which is NumPy's smallest number."""
    return Num(I8, w.cast(x, I8)) if _scalar(x).is_bool else x


def _rounding(name: str) -> Body:
    """floor, ceil, trunc: integers stay as they are."""

    def body(w: Emitter, x: Abstract) -> Abstract:
        scalar = _scalar(x)
        if scalar.is_integer or scalar.is_bool:
            return x
        return Num(scalar.machine, w.b.value(f"math.{name}", w.num(x).value))

    return body


def _scaled(factor: float) -> Body:
    def body(w: Emitter, x: Abstract) -> Abstract:
        to = float_of(_scalar(x))
        return Num(to, w.b.value("mul", w.cast(x, to), w.b.const(factor, to)))

    return body


def _common_float(x: Abstract, y: Abstract) -> Scalar:
    """The smallest float that holds both, each by itself: int8 and uint8 give float16, as in NumPy."""
    return promote(float_of(_scalar(x)), float_of(_scalar(y)))


def _binary_float(name: str) -> Body:
    def body(w: Emitter, x: Abstract, y: Abstract) -> Abstract:
        to = _common_float(x, y)
        return Num(to, w.b.value(f"math.{name}", w.cast(x, to), w.cast(y, to)))

    return body


def _symbol(symbol: str) -> Body:
    return lambda w, x, y: scalars.binary(w, symbol, x, y)


def _compare(symbol: str) -> Body:
    return lambda w, x, y: scalars.compare(w, symbol, x, y)


def _extreme(symbol: str, propagate: bool) -> Body:
    """maximum and minimum (a NaN wins), fmax and fmin (a NaN loses)."""

    def body(w: Emitter, x: Abstract, y: Abstract) -> Abstract:
        to = promote(_scalar(x), _scalar(y)).machine
        a, b = w.cast(x, to), w.cast(y, to)
        v = w.b.value
        if to.is_bool:
            return Num(BOOL, v("or" if symbol == ">" else "and", a, b))
        if to.is_complex:
            return _extreme_complex(w, symbol, Num(to, a), Num(to, b))
        if not to.is_float:
            return Num(to, v("max" if symbol == ">" else "min", a, b))
        if not propagate:
            return Num(to, v("math.fmax" if symbol == ">" else "math.fmin", a, b))
        # (a > b or a is NaN) ? a : b
        better = v("or", v("cmp", a, b, pred="gt" if symbol == ">" else "lt"), v("cmp", a, a, pred="ne"))
        return Num(to, v("select", better, a, b))

    return body


def _extreme_complex(w: Emitter, symbol: str, x: Num, y: Num) -> Abstract:
    pairs = [Tup(tuple(Num(x.scalar.part, part) for part in scalars.parts(w, n, x.scalar.part))) for n in (x, y)]
    better = operators.truth(w, operators.compare(w, symbol, pairs[0], pairs[1]))
    assert isinstance(better, Value)
    return Num(x.scalar, w.b.value("select", better, x.value, y.value))


def _logical(name: str) -> Body:
    return lambda w, x, y: Num(BOOL, w.b.value(name, w.truth(x), w.truth(y)))


def _sign(w: Emitter, x: Abstract) -> Abstract:
    scalar = _scalar(x).machine
    value = w.num(x).value
    v = w.b.value
    if scalar.is_bool:
        fail(Code.BAD_OPERAND, "np.sign does not take Booleans")
    if scalar.is_complex:
        return _sign_complex(w, x, scalar)
    one, zero = w.b.const(1, scalar), w.b.const(0, scalar)
    positive = v("select", v("cmp", value, zero, pred="gt"), one, zero)
    if not scalar.is_signed and not scalar.is_float:
        return Num(scalar, positive)
    result = v("select", v("cmp", value, zero, pred="lt"), v("neg", one), positive)
    if scalar.is_float:
        result = v("select", v("cmp", value, value, pred="ne"), value, result)
    return Num(scalar, result)


def _sign_complex(w: Emitter, x: Abstract, scalar: Scalar) -> Abstract:
    """The number on the unit circle in its direction; zero of zero."""
    v, part = w.b.value, scalar.part
    size = w.cast(_absolute(w, x), part)
    zero = v("cmp", size, w.b.const(0.0, part), pred="eq")
    divisor = v("select", zero, w.b.const(1.0, part), size)
    return Num(scalar, v("complex", *(v("div", p, divisor) for p in scalars.parts(w, x, part))))


def _float_class(test: Callable[[Emitter, Value, Scalar], Value], otherwise: bool) -> Body:
    """isnan and its kin; integers have one answer."""

    def body(w: Emitter, x: Abstract) -> Abstract:
        scalar = _scalar(x).machine
        if scalar.is_complex:
            real, imag = scalars.parts(w, x, scalar.part)
            name = "and" if otherwise else "or"
            return Num(BOOL, w.b.value(name, test(w, real, scalar.part), test(w, imag, scalar.part)))
        if not scalar.is_float:
            return Num(BOOL, w.b.bool(otherwise))
        return Num(BOOL, test(w, w.num(x).value, scalar))

    return body


def _is_nan(w: Emitter, x: Value, scalar: Scalar) -> Value:
    return w.b.value("cmp", x, x, pred="ne")


def _is_inf(w: Emitter, x: Value, scalar: Scalar) -> Value:
    return w.b.value("cmp", w.b.value("abs", x), w.b.const(math.inf, scalar), pred="eq")


def _is_finite(w: Emitter, x: Value, scalar: Scalar) -> Value:
    return w.b.value("cmp", w.b.value("abs", x), w.b.const(math.inf, scalar), pred="lt")


def _signbit(w: Emitter, x: Abstract) -> Abstract:
    to = float_of(_scalar(x))
    signed = w.b.value("math.copysign", w.b.const(1.0, to), w.cast(x, to))
    return Num(BOOL, w.b.value("cmp", signed, w.b.const(0.0, to), pred="lt"))


def conjugate(w: Emitter, x: Abstract) -> Abstract:
    scalar = _scalar(x).machine
    if not scalar.is_complex:
        return x
    real, imag = scalars.parts(w, x, scalar.part)
    return Num(scalar, w.b.value("complex", real, w.b.value("neg", imag)))


def _conjugate_number(w: Emitter, x: Abstract) -> Abstract:
    return conjugate(w, _as_number(w, x))


def _reciprocal(w: Emitter, x: Abstract) -> Abstract:
    scalar = _scalar(_as_number(w, x)).machine
    if scalar.is_complex:
        return _reciprocal_complex(w, x, scalar)
    if scalar.is_float:
        return scalars.binary(w, "/", Num(scalar, w.cast(Const(1), scalar)), x)
    inverse = Num(F64, w.b.value("div", w.b.const(1.0, F64), w.cast(x, F64)))  # truncated, also below zero
    result = w.cast(inverse, scalar)
    if scalar == I32:  # of zero: what the machine makes of infinity
        zero = w.b.value("cmp", w.cast(x, scalar), w.b.const(0, scalar), pred="eq")
        result = w.b.value("select", zero, w.b.const(-(2**31), scalar), result)
    return Num(scalar, result)


def _reciprocal_complex(w: Emitter, x: Abstract, scalar: Scalar) -> Abstract:
    """By the larger part, as NumPy does (Smith's method)."""
    v = w.b.value
    real, imag = scalars.parts(w, x, scalar.part)
    flat = v("cmp", v("abs", imag), v("abs", real), pred="le")
    large, small = v("select", flat, real, imag), v("select", flat, imag, real)
    ratio = v("div", small, large)
    divisor = v("add", large, v("mul", small, ratio))
    first, second = v("div", w.b.const(1.0, scalar.part), divisor), v("div", ratio, divisor)
    return Num(scalar, v("complex", v("select", flat, first, second), v("neg", v("select", flat, second, first))))


def _fmod(w: Emitter, x: Abstract, y: Abstract) -> Abstract:
    to = promote(_scalar(x), _scalar(y)).machine
    to = I8 if to.is_bool else to
    a, b = w.cast(x, to), w.cast(y, to)
    v = w.b.value
    if to.is_float:
        return Num(to, v("rem", a, b))
    rest = v("mod", a, b)  # floor semantics; C's remainder has the sign of the dividend
    zero = w.b.const(0, to)
    wrong = v(
        "and", v("cmp", rest, zero, pred="ne"), v("xor", v("cmp", a, zero, pred="lt"), v("cmp", b, zero, pred="lt"))
    )
    return Num(to, v("select", wrong, v("sub", rest, b), rest) if to.is_signed else rest)


def _float_power(w: Emitter, x: Abstract, y: Abstract) -> Abstract:
    to = promote(promote(_scalar(x), _scalar(y)), F64)
    return scalars.binary(w, "**", Num(to, w.cast(x, to)), Num(to, w.cast(y, to)))


def _true_divide(w: Emitter, x: Abstract, y: Abstract) -> Abstract:
    return scalars.binary(w, "/", x, y)


def _where(w: Emitter, condition: Abstract, x: Abstract, y: Abstract) -> Abstract:
    to = promote(_scalar(x), _scalar(y)).machine
    return Num(to, w.b.value("select", w.truth(condition), w.cast(x, to), w.cast(y, to)))


def _logaddexp(w: Emitter, x: Abstract, y: Abstract) -> Abstract:
    to = _common_float(x, y)
    a, b = w.cast(x, to), w.cast(y, to)
    v = w.b.value
    high = v("select", v("cmp", a, b, pred="gt"), a, b)
    gap = v("neg", v("abs", v("sub", a, b)))
    sum_ = v("add", high, v("math.log1p", v("math.exp", gap)))
    same = v("cmp", a, b, pred="eq")  # infinities of one sign, whose difference is NaN
    return Num(to, v("select", same, v("add", a, w.b.const(math.log(2.0), to)), sum_))


def _heaviside(w: Emitter, x: Abstract, y: Abstract) -> Abstract:
    to = _common_float(x, y)
    a, b = w.cast(x, to), w.cast(y, to)
    v, zero = w.b.value, w.b.const(0.0, to)
    step = v("select", v("cmp", a, zero, pred="lt"), zero, w.b.const(1.0, to))
    step = v("select", v("cmp", a, zero, pred="eq"), b, step)
    return Num(to, v("select", v("cmp", a, a, pred="ne"), a, step))


def _absolute(w: Emitter, x: Abstract) -> Abstract:
    return python_builtins._abs(w, x)


def _bit_count(w: Emitter, x: Abstract) -> Abstract:
    scalar = _scalar(x).machine
    magnitude = w.b.value("abs", w.num(x).value) if scalar.is_signed else w.num(x).value
    return Num(U8, w.cast(Num(scalar, w.b.value("popcount", magnitude)), U8))


_ELEMENTARY = {
    "sqrt": ("sqrt", "sqrt"), "exp": ("exp", "exp"), "exp2": ("exp2", "exp2"), "expm1": ("expm1", "expm1"),
    "log": ("log", "log"), "log2": ("log2", "log2"), "log10": ("log10", "log10"), "log1p": ("log1p", "log1p"),
    "sin": ("sin", "sin"), "cos": ("cos", "cos"), "tan": ("tan", "tan"),
    "arcsin": ("asin", "asin"), "arccos": ("acos", "acos"), "arctan": ("atan", "atan"),
    "sinh": ("sinh", "sinh"), "cosh": ("cosh", "cosh"), "tanh": ("tanh", "tanh"),
    "arcsinh": ("asinh", "asinh"), "arccosh": ("acosh", "acosh"), "arctanh": ("atanh", "atanh"), "cbrt": ("cbrt", None),
}  # fmt: skip
_SYMBOLS = {
    "add": "+", "subtract": "-", "multiply": "*", "floor_divide": "//", "remainder": "%", "power": "**",
    "left_shift": "<<", "right_shift": ">>", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^",
}  # fmt: skip
_COMPARISONS = {
    "less": "<", "less_equal": "<=", "equal": "==", "not_equal": "!=", "greater": ">", "greater_equal": ">=",
}  # fmt: skip

_UNARY: dict[str, Body] = {
    **{name: _elementary(*names) for name, names in _ELEMENTARY.items()},
    **{name: _rounding(name) for name in ("floor", "ceil", "trunc")},
    "rint": _rint,
    "fix": _rounding("trunc"),
    "deg2rad": _scaled(math.pi / 180.0),
    "radians": _scaled(math.pi / 180.0),
    "rad2deg": _scaled(180.0 / math.pi),
    "degrees": _scaled(180.0 / math.pi),
    "absolute": _absolute,
    "fabs": lambda w, x: _absolute(w, Num(float_of(_scalar(x)), w.cast(x, float_of(_scalar(x))))),
    "sign": _sign,
    "negative": lambda w, x: scalars.unary(w, "-", x),
    "positive": lambda w, x: scalars.unary(w, "+", x),
    "invert": lambda w, x: scalars.unary(w, "~", x),
    "square": _square,
    "reciprocal": _reciprocal,
    "conjugate": _conjugate_number,
    "isnan": _float_class(_is_nan, False),
    "isinf": _float_class(_is_inf, False),
    "isfinite": _float_class(_is_finite, True),
    "signbit": _signbit,
    "logical_not": lambda w, x: Num(BOOL, w.b.value("not", w.truth(x))),
    "bitwise_count": _bit_count,
}
_BINARY: dict[str, Body] = {
    **{name: _symbol(symbol) for name, symbol in _SYMBOLS.items()},
    **{name: _compare(symbol) for name, symbol in _COMPARISONS.items()},
    **{name: _binary_float(op) for name, op in (("arctan2", "atan2"), ("hypot", "hypot"), ("copysign", "copysign"))},
    "nextafter": _binary_float("nextafter"),
    "divide": _true_divide,
    "float_power": _float_power,
    "fmod": _fmod,
    "maximum": _extreme(">", True),
    "minimum": _extreme("<", True),
    "fmax": _extreme(">", False),
    "fmin": _extreme("<", False),
    "logical_and": _logical("and"),
    "logical_or": _logical("or"),
    "logical_xor": _logical("xor"),
    "logaddexp": _logaddexp,
    "heaviside": _heaviside,
}


def apply(w: Emitter, body: Body, operands: tuple[Abstract, ...], wide: bool = False) -> Abstract:
    """`body` over numbers or arrays; `wide`: Python ints need not fit the integer types that they meet."""
    prepared = []
    for operand in operands:
        operand = w.unwrap(operand)
        if isinstance(operand, (Tup, ListDisplay)):
            operand = w.call_library("creation:array", operand)
        if not isinstance(operand, Arr) and scalar_type(operand) is None:
            fail(Code.BAD_OPERAND, f"{describe(operand)} cannot take part in an element-wise function", at=operand)
        prepared.append(operand)
    return elementwise.map_arrays(w, prepared, body, wide)


def _ufunc(name: str, arity: int, body: Body) -> python_builtins.Builtin:
    def call(w: Emitter, args: tuple[Abstract, ...], keywords: dict[str, Abstract]) -> Abstract:
        out = keywords.pop("out", None)
        dtype = keywords.pop("dtype", None)
        where = keywords.pop("where", None)
        if isinstance(where, Const) and where.value is True:
            where = None
        if keywords:
            fail(
                Code.BAD_ARGUMENTS,
                f"np.{name}: the keyword {next(iter(keywords))!r} is not supported",
                at=next(iter(keywords.values())),
            )
        if len(args) == arity + 1 and out is None:
            *rest, out = args
            args = tuple(rest)
        if len(args) != arity:
            fail(Code.BAD_ARGUMENTS, f"np.{name} takes {arity} argument{'s' if arity > 1 else ''} ({len(args)} given)")
        if name in _REAL_ONLY:
            _check_real(w, name, args)
        complex_call = _complex_elementary(w, name, args)
        wide = name in _COMPARISONS or name == "divide"
        result = apply(w, body, args, wide) if complex_call is None else complex_call
        if dtype is not None and not (isinstance(dtype, Const) and dtype.value is None):
            scalar = python_builtins.convert.as_dtype(dtype)
            result = python_builtins.convert.to_sized(w, scalar, (result,))
        if isinstance(out, Tup):
            out = out.items[0]
        return _delivered(w, name, result, out, where)

    return call


def _delivered(w: Emitter, name: str, result: Abstract, out: Abstract | None, where: Abstract | None) -> Abstract:
    """The result, or `out` with the result written to it, where a mask holds."""
    if not isinstance(out, Arr):
        return result if where is None else w.call_library("elementwise:where_given", result, where)
    elementwise.check_writeable(w, out)
    source = result.array.dtype if isinstance(result, Arr) else scalar_type(result)
    if source is not None:
        elementwise.check_same_kind(out, source.machine, f"np.{name}", "out[...] = ...")
    if where is not None:
        return w.call_library("elementwise:put_where", out, result, where)
    elementwise.assign_into(w, out, result)
    return out


#: Functions that have no meaning for complex numbers.
_REAL_ONLY = frozenset(
    "floor ceil trunc fix deg2rad radians rad2deg degrees fabs signbit cbrt arctan2 hypot copysign nextafter fmod logaddexp"
    " heaviside floor_divide remainder left_shift right_shift bitwise_and bitwise_or bitwise_xor invert bitwise_count".split()
)


def _check_real(w: Emitter, name: str, args: tuple[Abstract, ...]) -> None:
    for value in map(w.unwrap, args):
        scalar = value.array.dtype if isinstance(value, Arr) else scalar_type(value)
        if scalar is not None and scalar.is_complex:
            fail(Code.BAD_OPERAND, f"np.{name} does not take complex numbers", types=[("operand", value.type)])


def _complex_elementary(w: Emitter, name: str, args: tuple[Abstract, ...]) -> Abstract | None:
    if name not in _ELEMENTARY:
        return None
    value = w.unwrap(args[0])
    if not (isinstance(value, Arr) and value.array.dtype.is_complex and value.array.ndim):
        return None
    call = _complex_call(*_ELEMENTARY[name])
    return None if call is None else call(w, value)


def _where_call(w: Emitter, args: tuple[Abstract, ...], keywords: dict[str, Abstract]) -> Abstract:
    if len(args) == 1:
        return w.call_library("searching:nonzero", *args)
    return _ufunc("where", 3, _where)(w, args, keywords)


def _table() -> dict[object, python_builtins.Builtin]:
    table: dict[object, python_builtins.Builtin] = {}
    for arity, bodies in ((1, _UNARY), (2, _BINARY)):
        for name, body in bodies.items():
            function = getattr(np, name, None)
            if function is not None:
                table[function] = _ufunc(name, arity, body)
    table[np.where] = _where_call
    return table


#: The NumPy function itself -> its emitter.
UFUNCS: Mapping[object, python_builtins.Builtin] = MappingProxyType(_table())
