"""The names of the portable language as the walk knows them: each a function from abstract arguments to an abstract value.

`PORTABLE` maps the name behind a function of `quadrants` (its `__quadrants_builtin__`, without `portable:`) to what it emits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from quadrants.diagnostics import Code
from quadrants.infer import builtins, kernelmath, operators, scalars, sequences
from quadrants.infer.emitter import Emitter, describe, fail, scalar_type
from quadrants.infer.engine import Dependency
from quadrants.infer.portable import loops, methods, tensors, vectors
from quadrants.infer.portable.holding import rebind
from quadrants.infer.portable.vectors import Origin, elementwise
from quadrants.infer.values import Abstract, Arr, Closure, Const, ListDisplay, Num, Sequence_, Tup
from quadrants.library import parallel_random
from quadrants.types import F64, I64, U32, Scalar
from quadrants.types.names import TypeName

Args = tuple[Abstract, ...]
Keywords = dict[str, Abstract]
Builtin = Callable[[Emitter, Args, Keywords], Abstract]


def dtype_of(w: Emitter, value: Abstract) -> Scalar:
    """The type of numbers that an argument names: `int` and `float` are the defaults."""
    named = value.value if isinstance(value, Const) else None
    if named is float:
        return w.options.default_fp
    if named is int:
        return w.options.default_ip
    if isinstance(named, TypeName) and isinstance(named.type, Scalar):
        return named.type.machine
    from quadrants.infer.convert import as_dtype

    return as_dtype(value)


def _bound(name: str, params: str, args: Args, keywords: Keywords) -> dict[str, Abstract]:
    """The arguments by name; those whose name ends in `?` may be absent."""
    names = [param.rstrip("?") for param in params.split()]
    if len(args) > len(names):
        fail(Code.BAD_ARGUMENTS, f"{name}() takes {len(names)} arguments, not {len(args)}")
    bound = dict(zip(names, args))
    for key, value in keywords.items():
        if key not in names or key in bound:
            fail(Code.BAD_ARGUMENTS, f"{name}() got an unexpected or repeated argument '{key}'")
        bound[key] = value
    missing = [param for param in params.split() if not param.endswith("?") and param not in bound]
    if missing:
        fail(Code.BAD_ARGUMENTS, f"{name}() misses the argument '{missing[0]}'")
    return bound


def _of(name: str, params: str, body: Callable[..., Abstract]) -> Builtin:
    """A builtin with named parameters; `body` gets them as keywords."""
    return lambda w, args, keywords: body(w, **_bound(name, params, args, keywords))


# static


def _is_static(value: Abstract) -> bool:
    return not value.leaves


def static(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    """What is known when the kernel is compiled: a value, or a loop that is written out."""
    if keywords or not args:
        fail(Code.BAD_ARGUMENTS, "static() takes values that are known when the kernel is compiled")
    if len(args) > 1:
        return Tup(tuple(_static(w, arg) for arg in args))
    return _static(w, args[0])


def _static(w: Emitter, value: Abstract) -> Abstract:
    if isinstance(value, Sequence_):
        items = loops.static_items(w, value)
        items = sequences.static_items(w, value) if items is None else items
        if items is not None:
            return Tup(items)
    elif isinstance(value, (Tup, ListDisplay, Arr, Closure)) or _is_static(value):
        return value
    fail(
        Code.NOT_CONSTANT,
        f"static() takes what is known when the kernel is compiled, not {describe(value)}",
        types=[("value", value.type)],
        hint="Pass it as a template: `n: qd.template()`.",
    )


def _static_assert(w: Emitter, condition: Abstract, message: Abstract | None = None) -> Abstract:
    known = operators.truth(w, condition)
    if not isinstance(known, bool):
        fail(Code.NOT_CONSTANT, "the condition of static_assert() is not known when the kernel is compiled")
    if not known:
        text = f": {message.value}" if isinstance(message, Const) else ""
        fail(Code.BAD_VALUE, f"static_assert() does not hold{text}")
    return Const(None)


# loops


def _loop_config(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    """What holds for the next loop."""
    known = ("serialize", "block_dim", "parallelize", "bit_vectorize", "name", "block_dim_adaptive")
    for name, value in keywords.items():
        if name not in known:
            fail(Code.BAD_ARGUMENTS, f"loop_config() has no option '{name}'", hint=f"It has {', '.join(known)}.")
        if not isinstance(value, Const):
            fail(Code.NOT_CONSTANT, f"{name}= of loop_config() has to be known when the kernel is compiled")
    serialize = keywords.get("serialize")
    w.serialize_next = isinstance(serialize, Const) and bool(serialize.value)  # type: ignore[attr-defined]
    block = keywords.get("block_dim")
    width = block.value if isinstance(block, Const) else 0
    if width is not None and (isinstance(width, bool) or not isinstance(width, int) or width < 0):
        fail(Code.BAD_VALUE, f"block_dim= of loop_config() is a number of threads, not {width!r}")
    w.block_next = width or 0  # type: ignore[attr-defined]
    return Const(None)


# vectors


def _vector(w: Emitter, items: Abstract, dt: Abstract | None = None) -> Abstract:
    known = sequences.as_items(w, items)
    made = vectors.as_value(Tup(known))
    if not vectors.is_value(made):
        if known and all(vectors.is_vector(vectors.as_value(item)) for item in known):
            made = vectors.matrix([vectors.as_value(item) for item in known])
        else:
            fail(Code.TYPE_MISMATCH, f"a vector is made of numbers, not of {describe(items)}")
    return vectors.copied(made if dt is None else vectors.cast(w, made, dtype_of(w, dt)))


def _filled(value: int) -> Callable[..., Abstract]:
    def make(w: Emitter, dt: Abstract, n: Abstract, m: Abstract | None = None) -> Abstract:
        kind = dtype_of(w, dt)
        size = tuple(_size(part) for part in (n, m) if part is not None)
        one = Num(kind, w.cast(Const(value), kind))
        return vectors.shaped([one] * math.prod(size), size)

    return make


def _size(value: Abstract) -> int:
    if not isinstance(value, Const) or not isinstance(value.value, int) or value.value < 1:
        fail(Code.NOT_CONSTANT, "the size of a vector or a matrix is a positive int that is known when compiling")
    return value.value


def _unit(w: Emitter, n: Abstract, i: Abstract, dt: Abstract | None = None) -> Abstract:
    kind = dtype_of(w, Const(int) if dt is None else dt)
    items = [operators.compare(w, "==", i, Const(k)) for k in range(_size(n))]
    return vectors.cast(w, vectors.vector(items), kind)


def _identity(w: Emitter, dt: Abstract, n: Abstract) -> Abstract:
    kind, size = dtype_of(w, dt), _size(n)
    numbers = [Num(kind, w.cast(Const(int(i == j)), kind)) for i in range(size) for j in range(size)]
    return vectors.shaped(numbers, (size, size))


def _diag(w: Emitter, n: Abstract, value: Abstract) -> Abstract:
    size = _size(n)
    numbers = [value if i == j else Const(0) for i in range(size) for j in range(size)]
    return vectors.as_common(w, vectors.shaped(numbers, (size, size)))


def _columns(w: Emitter, columns: Abstract) -> Abstract:
    return vectors.transposed(_vector(w, columns))


def element_type(w: Emitter, element: Any, args: Args) -> Abstract:
    """A call of `qd.types.vector(3, qd.f32)`: the numbers of the arguments, converted."""
    numbers = tuple(x for arg in args for x in vectors.flat(vectors.as_value(w.unwrap(arg))))
    count = math.prod(element.element_shape)
    if len(numbers) == 1:
        numbers = numbers * count
    if len(numbers) != count:
        fail(Code.BAD_ARGUMENTS, f"{element!r} is made of {count} numbers, not of {len(numbers)}")
    kind = dtype_of(w, Const(float if element._dtype is None else element._dtype))
    return vectors.cast(w, vectors.shaped(numbers, element.element_shape), kind)


def cast(w: Emitter, value: Abstract, dt: Abstract) -> Abstract:
    """The value converted."""
    return vectors.cast(w, value, dtype_of(w, dt))


# mathematics


def _math(name: str) -> Callable[..., Abstract]:
    return lambda w, *args: elementwise(w, lambda *xs: kernelmath.call(w, name, *xs), *args)


def _integral(name: str) -> Callable[..., Abstract]:
    def one(w: Emitter, x: Abstract) -> Abstract:
        scalar = scalar_type(w.unwrap(x))
        if scalar is not None and scalar.is_integer:
            return x
        return kernelmath.call(w, name, x)

    def call(w: Emitter, x: Abstract, dt: Abstract | None = None) -> Abstract:
        found = elementwise(w, lambda item: one(w, item), x)
        return found if dt is None else cast(w, found, dt)

    return call


def _binary(symbol: str) -> Callable[..., Abstract]:
    return lambda w, x, y: elementwise(w, lambda a, b: operators.binary(w, symbol, a, b), x, y)


def _op(w: Emitter, symbol: str, x: Abstract, y: Abstract) -> Abstract:
    return elementwise(w, lambda a, b: operators.binary(w, symbol, a, b), x, y)


def _abs(w: Emitter, x: Abstract) -> Abstract:
    import builtins as python

    return elementwise(w, lambda a: builtins.BUILTINS[python.abs](w, (a,), {}), x)


def _clamp(w: Emitter, x: Abstract, xmin: Abstract, xmax: Abstract) -> Abstract:
    return methods.extreme(w, "min", methods.extreme(w, "max", x, xmin), xmax)


def _mix(w: Emitter, x: Abstract, y: Abstract, a: Abstract) -> Abstract:
    return _op(w, "+", _op(w, "*", x, _op(w, "-", Const(1.0), a)), _op(w, "*", y, a))


def _step(w: Emitter, edge: Abstract, x: Abstract) -> Abstract:
    return vectors.select(w, vectors.compare(w, "<", x, edge), Const(0.0), Const(1.0))


def _smoothstep(w: Emitter, edge0: Abstract, edge1: Abstract, x: Abstract) -> Abstract:
    t = _clamp(w, _op(w, "/", _op(w, "-", x, edge0), _op(w, "-", edge1, edge0)), Const(0.0), Const(1.0))
    return _op(w, "*", _op(w, "*", t, t), _op(w, "-", Const(3.0), _op(w, "*", Const(2.0), t)))


def _sign(w: Emitter, x: Abstract) -> Abstract:
    def one(a: Abstract) -> Abstract:
        scalar = scalar_type(a)
        to = w.options.default_fp if scalar is None or scalar.weak else scalar
        up = vectors.cast(w, operators.compare(w, ">", a, Const(0)), to)
        return operators.binary(w, "-", up, vectors.cast(w, operators.compare(w, "<", a, Const(0)), to))

    return elementwise(w, one, x)


def _fract(w: Emitter, x: Abstract) -> Abstract:
    return _op(w, "-", x, _integral("floor")(w, x))


def _scaled(factor: float) -> Callable[..., Abstract]:
    return lambda w, x: _op(w, "*", x, Const(factor))


def _inverse_sqrt(w: Emitter, x: Abstract) -> Abstract:
    return _op(w, "/", Const(1.0), _math("sqrt")(w, x))


def _method(name: str) -> Callable[..., Abstract]:
    return lambda w, *args: methods.METHODS[name](w, *map(vectors.as_value, args))


def _distance(w: Emitter, x: Abstract, y: Abstract) -> Abstract:
    return methods.METHODS["norm"](w, _op(w, "-", x, y))


def _reflect(w: Emitter, x: Abstract, n: Abstract) -> Abstract:
    return _op(w, "-", x, _op(w, "*", _op(w, "*", Const(2.0), vectors.dot(w, n, x)), n))


def _is_nan(w: Emitter, x: Abstract) -> Abstract:
    return elementwise(w, lambda a: operators.compare(w, "!=", a, a), x)


def _is_inf(w: Emitter, x: Abstract) -> Abstract:
    return elementwise(w, lambda a: operators.compare(w, "==", _abs(w, a), Const(math.inf)), x)


def _zero_like(value: int) -> Callable[..., Abstract]:
    def call(w: Emitter, x: Abstract) -> Abstract:
        def one(item: Abstract) -> Abstract:
            scalar = scalar_type(item)
            return Const(value) if scalar is None else Num(scalar, w.cast(Const(value), scalar))

        return elementwise(w, one, x)

    return call


def _truncated(w: Emitter, x: Abstract, y: Abstract) -> Abstract:
    """The quotient of integers, rounded towards zero; of floats, as it is."""

    def one(a: Abstract, b: Abstract) -> Abstract:
        first, second = scalar_type(a), scalar_type(b)
        if first is None or second is None or not (first.is_integer and second.is_integer):
            return operators.binary(w, "/", a, b)
        whole = operators.binary(w, "//", _abs(w, a), _abs(w, b))
        negative = operators.compare(w, "<", operators.binary(w, "^", a, b), Const(0))
        return vectors.select(w, negative, operators.unary(w, "-", whole), whole)

    return elementwise(w, one, x, y)


def _remainder(w: Emitter, x: Abstract, y: Abstract) -> Abstract:
    return _op(w, "-", x, _op(w, "*", _truncated(w, x, y), y))


def _bit_cast(w: Emitter, value: Abstract, dt: Abstract) -> Abstract:
    to = dtype_of(w, dt)

    def one(item: Abstract) -> Abstract:
        num = w.num(item)
        source = num.scalar
        if source.weak:
            source = w.options.default_fp if source.is_float else w.options.default_ip
        if source.bits != to.bits:
            fail(Code.BAD_CONVERSION, f"bit_cast() keeps the bits: {source} and {to} have different sizes")
        return Num(to, w.b.value("bitcast", w.cast(num, source), type=to))

    return elementwise(w, one, value)


def _bit_shr(w: Emitter, x: Abstract, y: Abstract) -> Abstract:
    def one(a: Abstract, b: Abstract) -> Abstract:
        num = w.num(a)
        source = w.options.default_ip if num.scalar.weak else num.scalar
        unsigned = Scalar(U32.kind, source.bits)
        shifted = operators.binary(w, ">>", Num(unsigned, w.b.value("cast", w.cast(num, source), type=unsigned)), b)
        return vectors.cast(w, shifted, source)

    return elementwise(w, one, x, y)


# random numbers


def _bits(w: Emitter) -> Abstract:
    """The next 64 bits of the sequence that all threads draw from."""
    name = "WORDS" if w.options.device else "STATE"
    value = getattr(parallel_random, name)
    state = w._dependent(Dependency(vars(parallel_random), name, None, value), name)  # type: ignore[attr-defined]
    zero = w.b.i64(0)
    if w.options.device:
        low = w.b.value("atomic", w.b.const(1, U32), state.value, zero, op="add", checked=False, wrap=False)
        high = w.b.value("load", state.value, w.b.i64(1), checked=False, wrap=False)
        words = [w.b.value("cast", word, type=I64) for word in (low, high)]
        whole = w.b.value("or", words[0], w.b.value("shl", words[1], w.b.i64(32)))
        return w.call_library("parallel_random:mixed", Num(I64, whole))
    one = w.b.i64(1)
    place = w.b.value("atomic", one, state.value, zero, op="add", checked=False, wrap=False)
    return w.call_library("parallel_random:mixed", Num(state.array.dtype, place))


def random(w: Emitter, dtype: Abstract | None = None) -> Abstract:
    """A float from [0, 1), or an integer with all its bits random."""
    to = dtype_of(w, Const(float) if dtype is None else dtype)
    bits = _bits(w)
    if to.is_integer:
        return Num(to, w.cast(bits, to))
    high = operators.binary(w, ">>", bits, Const(64 - (53 if to == F64 else 24)))
    scale = 2.0**-53 if to == F64 else 2.0**-24
    return Num(to, w.b.value("mul", w.cast(high, to), w.b.const(scale, to)))


def _randn(w: Emitter, dtype: Abstract | None = None) -> Abstract:
    """A number of the normal distribution, by Box and Muller."""
    u, v = operators.binary(w, "-", Const(1.0), random(w, dtype)), random(w, dtype)
    radius = _math("sqrt")(w, operators.binary(w, "*", Const(-2.0), _math("log")(w, u)))
    return operators.binary(w, "*", radius, _math("cos")(w, operators.binary(w, "*", Const(2 * math.pi), v)))


# atomics


def _atomic(what: str) -> Callable[..., Abstract]:
    def call(w: Emitter, x: Abstract, y: Abstract) -> Abstract:
        origin = tensors.origin_of(w, x)
        if isinstance(origin, Origin):
            return tensors.atomic(w, origin, what, y)
        before = vectors.copied(x) if vectors.is_value(x) else x
        new = _LOCAL[what](w, x, y)
        rebind(w, x, new, f"atomic_{what}()")
        return before

    return call


_LOCAL: Mapping[str, Callable[..., Abstract]] = {
    "add": _binary("+"),
    "sub": _binary("-"),
    "mul": _binary("*"),
    "and": _binary("&"),
    "or": _binary("|"),
    "xor": _binary("^"),
    "min": lambda w, x, y: methods.extreme(w, "min", x, y),
    "max": lambda w, x, y: methods.extreme(w, "max", x, y),
    "exchange": lambda w, x, y: y,
}


def _cas(w: Emitter, x: Abstract, expected: Abstract, desired: Abstract) -> Abstract:
    origin = tensors.origin_of(w, x)
    array = tensors.array_of(origin.tensor) if isinstance(origin, Origin) else None
    if not isinstance(origin, Origin) or array is None or not array.array.dtype.is_integer:
        fail(Code.TYPE_MISMATCH, "atomic_cas() takes an element of a tensor of integers")
    dtype = array.array.dtype
    old, new = (scalars.sized(w, w.num(value), dtype) for value in (expected, desired))
    found = w.b.value("atomic.cas", old, new, array.value, *origin.places, checked=False, wrap=False)
    return Num(dtype, found)


def _extreme(name: str) -> Builtin:
    def call(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
        if keywords or len(args) < 2:
            fail(Code.BAD_ARGUMENTS, f"{name}() takes two values or more")
        return methods.extreme(w, name, *args)

    return call


def _grouped(w: Emitter, x: Abstract) -> Abstract:
    return loops.grouped(w, x)


def _nothing(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    return Const(None)


_UNARY = {
    **{name: name for name in "sin cos tan asin acos atan sinh cosh tanh exp exp2 log log2 log10 sqrt".split()},
}

#: name -> (parameters, body); `?` marks those that may be absent.
_TABLE: dict[str, tuple[str, Callable[..., Abstract]]] = {
    **{name: ("x", lambda w, x, op=op: _math(op)(w, x)) for name, op in _UNARY.items()},
    "atan2": ("y x", lambda w, y, x: _math("atan2")(w, y, x)),
    "pow": ("x y", _binary("**")),
    "floor": ("x dt?", _integral("floor")),
    "ceil": ("x dt?", _integral("ceil")),
    "round": ("x dt?", _integral("rint")),
    "abs": ("x", _abs),
    "rsqrt": ("x", _inverse_sqrt),
    "raw_div": ("x y", _truncated),
    "raw_mod": ("x y", _remainder),
    "mod": ("x y", _binary("%")),
    "clamp": ("x xmin xmax", _clamp),
    "mix": ("x y a", _mix),
    "step": ("edge x", _step),
    "smoothstep": ("edge0 edge1 x", _smoothstep),
    "sign": ("x", _sign),
    "fract": ("x", _fract),
    "degrees": ("x", _scaled(180.0 / math.pi)),
    "radians": ("x", _scaled(math.pi / 180.0)),
    "dot": ("x y", lambda w, x, y: vectors.dot(w, x, y)),
    "cross": ("x y", lambda w, x, y: _method("cross")(w, x, y)),
    "length": ("x", lambda w, x: _method("norm")(w, x)),
    "normalize": ("v", lambda w, v: _method("normalized")(w, v)),
    "distance": ("x y", _distance),
    "reflect": ("x n", _reflect),
    "determinant": ("m", lambda w, m: _method("determinant")(w, m)),
    "inverse": ("m", lambda w, m: _method("inverse")(w, m)),
    "isnan": ("x", _is_nan),
    "isinf": ("x", _is_inf),
    "zero": ("x", _zero_like(0)),
    "one": ("x", _zero_like(1)),
    "cast": ("obj dtype", lambda w, obj, dtype: cast(w, obj, dtype)),
    "bit_cast": ("obj dtype", lambda w, obj, dtype: _bit_cast(w, obj, dtype)),
    "bit_shr": ("x y", _bit_shr),
    "select": ("cond x1 x2", lambda w, cond, x1, x2: vectors.select(w, cond, x1, x2)),
    "random": ("dtype?", random),
    "randn": ("dt?", lambda w, dt=None: _randn(w, dt)),
    "outer": ("x y", lambda w, x, y: methods.outer(w, x, y)),
    "grouped": ("x", _grouped),
    "static_assert": ("cond msg?", lambda w, cond, msg=None: _static_assert(w, cond, msg)),
    **{f"atomic_{name}": ("x y", _atomic(name)) for name in _LOCAL},
    "atomic_cas": ("x expected desired", _cas),
    "Vector": ("items dt?", _vector),
    "Matrix": ("rows dt?", lambda w, rows, dt=None: _vector(w, rows, dt)),
    **{f"{kind}.zero": ("dt n m?", _filled(0)) for kind in ("Vector", "Matrix")},
    **{f"{kind}.one": ("dt n m?", _filled(1)) for kind in ("Vector", "Matrix")},
    "Vector.unit": ("n i dt?", _unit),
    "Matrix.identity": ("dt n", _identity),
    "Matrix.diag": ("n value", _diag),
    "Matrix.rows": ("rows", lambda w, rows: _vector(w, rows)),
    "Matrix.cols": ("columns", _columns),
}

PORTABLE: Mapping[str, Builtin] = MappingProxyType(
    {
        **{name: _of(name, params, body) for name, (params, body) in _TABLE.items()},
        "static": static,
        "static_print": _nothing,
        "sync": _nothing,
        "ndrange": loops.ndrange,
        "loop_config": _loop_config,
        "min": _extreme("min"),
        "max": _extreme("max"),
    }
)
