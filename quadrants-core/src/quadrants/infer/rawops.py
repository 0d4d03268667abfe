"""The operations of `quadrants.library.raw`: each call is one op that never raises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from quadrants.diagnostics import Code
from quadrants.infer import attributes, elementwise, indexing, lists, scalars
from quadrants.infer.emitter import Emitter, fail, scalar_type
from quadrants.infer.values import Abstract, Arr, Const, Num, Tup
from quadrants.library import raw
from quadrants.types import F64, I64, PYFLOAT, PYINT, Scalar

Args = tuple[Abstract, ...]
Keywords = dict[str, Abstract]

_UNARY = (
    "sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log10 log1p cbrt floor ceil trunc"
    " rint erf erfc gamma lgamma"
).split()
_BINARY = "pow atan2 hypot copysign nextafter fmin fmax".split()
_INTEGER = {"clz": "clz", "ctz": "ctz"}


def _float_type(args: Args) -> Scalar:
    """float32 and float16 stay; everything else is computed as a Python float."""
    scalar = scalar_type(args[0])
    return scalar if scalar is not None and scalar.is_float else PYFLOAT


def _math(op: str) -> Callable[[Emitter, Args, Keywords], Abstract]:
    def call(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
        to = _float_type(args)
        return Num(to, w.b.value(op, *(w.cast(arg, to) for arg in args)))

    return call


def _integer(op: str) -> Callable[[Emitter, Args, Keywords], Abstract]:
    return lambda w, args, keywords: Num(PYINT, w.b.value(op, w.cast(args[0], I64)))


def _load(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    array, *index = args
    assert isinstance(array, Arr)
    indices = [w.integer(item) for item in index]
    return Num(array.array.dtype, w.b.value("load", array.value, *indices, checked=False, wrap=False))


def _store(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    value, array, *index = args
    assert isinstance(array, Arr)
    elementwise.check_writeable(w, array, "assignment destination is read-only")
    register = w.cast(value, array.array.dtype)
    w.b.op("store", register, array.value, *(w.integer(item) for item in index), checked=False, wrap=False)
    return Const(None)


def _put(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    value, array, index = args
    assert isinstance(array, Arr)
    if scalar_type(value) is not None:
        value = Num(array.array.dtype, scalars.item(w, value, array.array.dtype, strict=True))
    indexing.set_item(w, array, index, value)
    return Const(None)


def _of_list(body: Callable[..., Abstract | None]) -> Callable[[Emitter, Args, Keywords], Abstract]:
    def call(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
        return body(w, *args) or Const(None)

    return call


def _strided(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    array, shape, strides = args
    assert isinstance(array, Arr) and isinstance(shape, Tup) and isinstance(strides, Tup)
    dims = [w.integer(item) for item in shape.items]
    type_ = replace(array.array, ndim=len(dims), layout="A" if dims else "C")
    steps = [w.integer(item) for item in strides.items]
    return Arr(type_, w.b.value("view", array.value, w.b.i64(0), *dims, *steps, type=type_))


def _linear(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    (array,) = args
    assert isinstance(array, Arr)
    return attributes.contiguous_view(w, array, [attributes.size(w, array)])


def _needs_constant(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    (what,) = args
    assert isinstance(what, Const)
    fail(
        Code.NOT_CONSTANT,
        f"{what.value} have to be constants",
        hint="Write them out, or reduce one axis after the other.",
    )


def _is_known(value: Abstract) -> bool:
    """Whether a value is a constant, or a tuple of constants."""
    return isinstance(value, Const) or (isinstance(value, Tup) and all(_is_known(item) for item in value.items))


#: The function of `raw` itself -> its emitter.
RAW: Mapping[object, Callable[[Emitter, Args, Keywords], Abstract]] = MappingProxyType(
    {
        **{getattr(raw, name): _math(f"math.{name}") for name in (*_UNARY, *_BINARY, "fma")},
        **{getattr(raw, name): _integer(op) for name, op in _INTEGER.items()},
        raw.fmod: _math("rem"),
        raw.div: _math("div"),
        raw.wrap: lambda w, args, keywords: Num(PYINT, w.cast(args[0], PYINT)),
        raw.bits: lambda w, args, keywords: Num(PYINT, w.b.value("bitcast", w.cast(args[0], F64), type=I64)),
        raw.from_bits: lambda w, args, keywords: Num(PYFLOAT, w.b.value("bitcast", w.cast(args[0], I64), type=F64)),
        raw.known: lambda w, args, keywords: Const(_is_known(args[0])),
        raw.strict: lambda w, args, keywords: Const(w.fp == "strict"),
        **{getattr(raw, name): _of_list(body) for name, body in lists.RAW.items()},
        raw.load: _load,
        raw.store: _store,
        raw.put: _put,
        raw.strided: _strided,
        raw.linear: _linear,
        raw.needs_constant: _needs_constant,
    }
)
