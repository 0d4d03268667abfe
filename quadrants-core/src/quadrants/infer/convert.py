"""Conversions between numbers as Python and NumPy spell them: `int(x)`, `float(x)`, `np.float32(x)`, `a.astype(t)`, dtypes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from quadrants.diagnostics import Code
from quadrants.infer import elementwise, operators, scalars, texts
from quadrants.infer.emitter import Emitter, describe, fail, scalar_type
from quadrants.infer.habits import suggestion
from quadrants.infer.values import Abstract, Arr, Const, Num, Opt
from quadrants.types import BOOL, PYBOOL, PYCOMPLEX, PYFLOAT, PYINT, U64, Scalar
from quadrants.types.dtypes import dtype_of, scalar_of
from quadrants.types.promotion import weak_version

_PYTHON_TYPES = {bool: BOOL, int: PYINT.machine, float: PYFLOAT.machine, complex: PYCOMPLEX.machine}


def as_dtype(value: Abstract) -> Scalar:
    """The scalar type that a dtype argument names."""
    if isinstance(value, Const):
        named = value.value
        if isinstance(named, Scalar):
            return named.machine
        if isinstance(named, type) and named in _PYTHON_TYPES:
            return _PYTHON_TYPES[named]
        scalar = getattr(named, "__quadrants_scalar__", None)
        if isinstance(scalar, Scalar):
            return scalar.machine
        try:
            dtype = np.dtype(named)  # type: ignore[call-overload]
        except TypeError:
            names = [
                name
                for name in vars(np)
                if isinstance(getattr(np, name), type) and issubclass(getattr(np, name), np.generic)
            ]
            hint = suggestion(named, names) if isinstance(named, str) else None
            text = f"{describe(value)} is no dtype"
            fail(Code.BAD_DTYPE, text, hint=hint or "Write a NumPy type: dtype=np.float64.", at=value)
        found = scalar_of(dtype)
        if found is not None:
            return found
        fail(Code.BAD_DTYPE, f"arrays of {dtype} are not supported", hint="Numeric and Boolean dtypes are.", at=value)
    fail(
        Code.NOT_CONSTANT,
        "a dtype has to be known at compile time",
        hint="Write it out, or use the dtype of an array: a.dtype.",
        at=value,
    )


def scalar_class(cls: object) -> Scalar | None:
    """The type that a NumPy scalar class (or one of ours) makes; None for every other class."""
    if isinstance(cls, Scalar):
        return cls.machine
    named = getattr(cls, "__quadrants_scalar__", None)
    if isinstance(named, Scalar):
        return named.machine
    if isinstance(cls, type) and issubclass(cls, np.generic) and cls not in (np.generic, np.number):
        try:
            return scalar_of(np.dtype(cls))
        except TypeError:
            return None
    return None


def to_sized(w: Emitter, scalar: Scalar, args: tuple[Abstract, ...]) -> Abstract:
    """`np.float32(x)`: of a number, or element by element of an array."""
    if not args:
        return Num(scalar, w.b.value("zero", type=scalar))
    (value,) = args
    if isinstance(value, Opt):
        value = w.unwrap(value)
    if isinstance(value, Arr):
        return elementwise.map_arrays(w, [value], lambda w, a: Num(scalar, w.cast(a, scalar)))
    source = scalar_type(value)
    if source is None:
        if not isinstance(value, Const):
            return w.call_library("creation:array", value, Const(np.dtype(str(scalar).replace("bool", "?"))))
        if isinstance(value.value, str):
            read = folded(w, dtype_of(scalar).type, value.value)
            return Num(scalar, w.b.const(read.item(), scalar))  # type: ignore[attr-defined]
        fail(Code.BAD_CONVERSION, f"{describe(value)} cannot be converted to {describe(scalar)}")
    if isinstance(value, Const) and isinstance(value.value, int) and not -(2**63) <= value.value < 2**63:
        folded(w, dtype_of(scalar).type, value.value)
    if scalar.is_bool:
        return Num(BOOL, w.truth(value))
    if source.is_complex and not scalar.is_complex:
        text = f"a complex number cannot be converted to {describe(scalar)}"
        fail(Code.BAD_CONVERSION, text, hint="Use .real or abs().")
    return Num(scalar, scalars.sized(w, value, scalar))


def _is_parsed(w: Emitter, value: Abstract) -> bool:
    """Whether `int()` and `float()` are to read a text. Those in the library are of numbers: `math.sqrt("4")` fails."""
    return (texts.is_text(value) or texts.is_foreign(value)) and not w.ref.internal  # type: ignore[attr-defined, no-any-return]


def to_int(w: Emitter, args: tuple[Abstract, ...]) -> Abstract:
    """`int(x)`."""
    if not args:
        return Const(0)
    if _is_parsed(w, args[0]):
        return texts.number(w, "int", args[0]) if len(args) == 1 else texts.operate(w, "builtins:int", args, PYINT)
    value = _scalar_argument(w, args, "int")
    if isinstance(value, Const) and not (isinstance(value.value, float) and not math.isfinite(value.value)):
        return Const(folded(w, int, value.value))
    scalar = scalar_type(value)
    assert scalar is not None
    if scalar.is_complex:
        fail(Code.BAD_CONVERSION, "int() argument must be a real number, not a complex one")
    if scalar.is_float:
        return Num(PYINT, scalars.float_to_int(w, value))
    register = w.cast(value, PYINT)
    if scalar == U64 and not (w.options.kernel or w.ref.internal):  # type: ignore[attr-defined]
        fits = w.b.value("cmp", register, w.b.i64(0), pred="ge")
        w.check(fits, OverflowError, "Python int too large to convert to C long")
    return Num(PYINT, register)


def to_python(w: Emitter, number: Num) -> Abstract:
    """`x.item()`: a number of NumPy's as Python's."""
    if number.scalar.machine == U64:
        return to_int(w, (number,))
    weak = weak_version(number.scalar)
    return Num(weak, w.cast(number, weak))


def to_float(w: Emitter, args: tuple[Abstract, ...]) -> Abstract:
    """`float(x)`."""
    if not args:
        return Const(0.0)
    if _is_parsed(w, args[0]):
        return texts.number(w, "float", args[0])
    value = _scalar_argument(w, args, "float")
    if isinstance(value, Const):
        return Const(folded(w, float, value.value))
    scalar = scalar_type(value)
    assert scalar is not None
    if scalar.is_complex:
        fail(Code.BAD_CONVERSION, "float() argument must be a real number, not a complex one")
    return Num(PYFLOAT, w.cast(value, PYFLOAT))


def to_complex(w: Emitter, args: tuple[Abstract, ...]) -> Abstract:
    """`complex(re, im)`. Registers stay registers: the parts are not combined by arithmetic."""
    if len(args) == 1 and isinstance(args[0], Const) and isinstance(args[0].value, str):
        return Const(folded(w, complex, args[0].value))
    values = [_scalar_argument(w, (arg,), "complex") for arg in args] or [Const(0.0)]
    if all(isinstance(value, Const) for value in values):
        parts_ = [value.value for value in values if isinstance(value, Const)]
        return Const(complex(*parts_))  # type: ignore[call-overload]
    first = scalar_type(values[0])
    if len(values) == 1:
        return Num(PYCOMPLEX, w.cast(values[0], PYCOMPLEX))
    second = scalar_type(values[1])
    assert first is not None and second is not None
    if first.is_complex or second.is_complex:
        fail(Code.BAD_CONVERSION, "the parts of complex(re, im) have to be real")
    parts = [w.cast(value, PYFLOAT) for value in values]
    return Num(PYCOMPLEX, w.b.value("complex", *parts))


def to_bool(w: Emitter, args: tuple[Abstract, ...]) -> Abstract:
    """`bool(x)`."""
    if not args:
        return Const(False)
    known = operators.truth(w, args[0])
    return Const(known) if isinstance(known, bool) else Num(PYBOOL, known)


def _scalar_argument(w: Emitter, args: tuple[Abstract, ...], name: str) -> Abstract:
    if len(args) != 1:
        fail(Code.BAD_ARGUMENTS, f"{name}() takes 1 argument here, not {len(args)}")
    value = w.unwrap(args[0])
    if isinstance(value, Arr):
        size_one = value.array.ndim == 0
        if not size_one:
            fail(
                Code.BAD_CONVERSION,
                f"{name}() takes a number, not an array of rank {value.array.ndim}",
                hint="Index it: a[0], or a.item() of one element.",
                at=value,
            )
        return Num(value.array.dtype, w.b.value("load", value.value, checked=False, wrap=False))
    if scalar_type(value) is None:
        fail(Code.BAD_CONVERSION, f"{name}() takes a number, not {describe(value)}", at=value)
    return value


def folded(w: Emitter, function: Callable[..., object], *args: object) -> object:
    """What the function gives for constants; what it raises for their values, compiled code raises when it gets there."""
    try:
        return function(*args)
    except (ValueError, ArithmeticError) as error:
        w.wrong(type(error), str(error), Code.BAD_VALUE)
    except TypeError as error:
        fail(Code.BAD_VALUE, str(error))


def astype(w: Emitter, value: Arr, dtype: Scalar) -> Abstract:
    """A copy with every element converted."""
    if value.array.ndim == 0:
        return w.call_library("creation:full", Const(()), Num(dtype, w.cast(_load0(w, value), dtype)))

    def body(w: Emitter, a: Abstract) -> Abstract:
        scalar = scalar_type(a)
        assert scalar is not None
        if scalar.is_complex and not dtype.is_complex:
            a = Num(scalar.part, w.b.value("real", w.num(a).value))
        return Num(dtype, w.cast(a, dtype))

    return elementwise.map_arrays(w, [value], body)


def _load0(w: Emitter, value: Arr) -> Abstract:
    return Num(value.array.dtype, w.b.value("load", value.value, checked=False, wrap=False))
