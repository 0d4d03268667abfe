"""The functions of `math` in kernels: one op each, in the type of the argument, and nothing raises.

`math.sin` of an element of a float32 array is a float32, where the interpreter computes in float64; what is outside of the
domain of a function gives nan or inf. Functions that are not in the table are those of the library, as elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

from quadrants.diagnostics import Code
from quadrants.infer.builtins import Builtin, simple
from quadrants.infer.emitter import Emitter, describe, fail, scalar_type
from quadrants.infer.values import Abstract, Const, Num
from quadrants.types import PYFLOAT, PYINT, Scalar

_UNARY = (
    "sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 expm1 log2 log10 log1p cbrt erf erfc gamma"
    " lgamma"
).split()
_BINARY = "pow atan2 hypot copysign nextafter".split()
_TO_INTEGER = ("floor", "ceil", "trunc")


def _type(args: tuple[Abstract, ...]) -> Scalar:
    """The widest float among the arguments; without one, a Python float."""
    types = [scalar_type(arg) for arg in args]
    for arg, found in zip(args, types):
        if found is None or found.is_complex:
            fail(Code.TYPE_MISMATCH, f"functions of math take real numbers, not {describe(arg)}")
    floats = [t for t in types if t is not None and t.is_float and not t.weak]
    return max(floats, key=lambda t: t.bits) if floats else PYFLOAT


def _op(name: str) -> Callable[..., Abstract]:
    def call(w: Emitter, *args: Abstract) -> Abstract:
        args = tuple(map(w.unwrap, args))
        if name != "rem" and all(isinstance(arg, Const) for arg in args):
            folded = _folded(name, args)
            if folded is not None:
                return folded
        to = _type(args)
        to = (w.floats or to) if to.weak else to
        return Num(to, w.b.value(name, *(w.cast(arg, to) for arg in args)))

    return call


def _folded(op: str, args: tuple[Abstract, ...]) -> Const | None:
    """A constant of constants, as the interpreter computes it."""
    function = getattr(math, "fabs" if op == "abs" else op.removeprefix("math."), None)
    if function is None:
        return None
    try:
        return Const(function(*(arg.value for arg in args if isinstance(arg, Const))))
    except (ValueError, OverflowError, TypeError):
        return None


def _integer(name: str) -> Callable[..., Abstract]:
    rounded = _op(f"math.{name}")

    def call(w: Emitter, value: Abstract) -> Abstract:
        scalar = scalar_type(w.unwrap(value))
        if scalar is not None and scalar.is_integer:
            return value
        found = rounded(w, value)
        return found if isinstance(found, Const) else Num(PYINT, w.cast(found, PYINT))

    return call


def _log(w: Emitter, value: Abstract, base: Abstract | None = None) -> Abstract:
    found = _op("math.log")(w, value)
    if base is None:
        return found
    below = _op("math.log")(w, base)
    to = _type((found, below))
    return Num(to, w.b.value("div", w.cast(found, to), w.cast(below, to)))


_FUNCTIONS: Mapping[object, Builtin] = MappingProxyType(
    {
        **{
            getattr(math, name): simple(f"math.{name}", 1, 1, _op(f"math.{name}"))
            for name in _UNARY
            if hasattr(math, name)
        },
        **{getattr(math, name): simple(f"math.{name}", 2, 2, _op(f"math.{name}")) for name in _BINARY},
        **{getattr(math, name): simple(f"math.{name}", 1, 1, _integer(name)) for name in _TO_INTEGER},
        math.log: simple("math.log", 1, 2, _log),
        math.fabs: simple("math.fabs", 1, 1, _op("abs")),
        math.fmod: simple("math.fmod", 2, 2, _op("rem")),
    }
)


def find(target: object) -> Builtin | None:
    """What calls the function in kernels; None for one that is as elsewhere."""
    try:
        return _FUNCTIONS.get(target)
    except TypeError:  # not hashable
        return None


def call(w: Emitter, name: str, *args: Abstract) -> Abstract:
    """The operation `math.name` of numbers, in the widest type of a float among them; where there is none, in the default one."""
    values = tuple(map(w.unwrap, args))
    if all(isinstance(value, Const) for value in values):
        folded = _folded(f"math.{name}", values)
        if folded is not None:
            return folded
    to = _type(values)
    to = w.options.default_fp if to.weak else to
    return Num(to, w.b.value(f"math.{name}", *(w.cast(value, to) for value in values)))
