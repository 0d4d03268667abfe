"""The explicit language in inference: what the names of `quadrants.simt` emit.

Takes the path of a name and the arguments of its call; gives the value. A name that the device lacks is an error that names the
device and the alternative; one outside of a kernel is an error too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from quadrants.diagnostics import Code
from quadrants.infer import builtins, convert, indexing, scalars
from quadrants.infer.emitter import Emitter, describe, fail, scalar_type
from quadrants.infer.habits import suggestion
from quadrants.infer.merge import as_layout
from quadrants.infer.values import Abstract, Arr, Const, Num, Tup
from quadrants.ir import Value
from quadrants.simt.names import NAMES, Name
from quadrants.types import I32, I64, PYBOOL, PYINT, U32, U64, ArrayType, Scalar
from quadrants.types.promotion import promote

if TYPE_CHECKING:
    from quadrants.infer.instructions import InstructionWalk

Args = tuple[Abstract, ...]
#: (walk, arguments in the order of the parameters) -> the value.
Emit = Callable[[Emitter, Args], Abstract]


def path_of(value: object) -> str | None:
    """The path of a name of the language; None for any other object."""
    return value.__quadrants_device__ if isinstance(value, Name) else None


def attribute(w: Emitter, owner: object, name: str) -> Abstract:
    """An attribute of a name: a value that the thread reads, or another name."""
    assert isinstance(owner, Name)
    found = getattr(owner, name, None)
    if found is None:
        path = path_of(owner)
        fail(Code.NO_ATTRIBUTE, f"'{path}' has no '{name}' in kernels", hint=suggestion(name, dir(owner)))
    return value_of(w, found)


def value_of(w: Emitter, name: object) -> Abstract:
    """A name as it stands in the program."""
    assert isinstance(name, Name)
    path = name.__quadrants_device__
    emit = _VALUES.get(path)
    if emit is None:
        return Const(name)
    _require(w, path)
    return emit(w, ())


def call(w: InstructionWalk, name: Name, args: Args, keywords: dict[str, Abstract]) -> Abstract:
    """A call of a function of the language."""
    path = name.__quadrants_device__
    known = _FUNCTIONS.get(path)
    if known is None:
        fail(Code.NOT_CALLABLE, f"'{path}' of kernels cannot be called")
    _require(w, path)
    params, emit = known
    return emit(w, _bound(path, params, args, keywords))


def _require(w: Emitter, path: str) -> None:
    """The code is for a device, which has what the name means."""
    if not w.options.device:
        fail(
            Code.OUTSIDE_KERNEL,
            f"'{path}' means something in a kernel only",
            hint="Use it in a function that is decorated with @qd.<backend>.kernel, or that such a kernel calls.",
        )
    for lacking, alternative in w.options.lacks:
        if path == lacking or path.startswith(f"{lacking}."):
            fail(
                Code.UNSUPPORTED_CAPABILITY, f"the device {w.options.device} has no '{path}'", hint=alternative or None
            )


def _bound(path: str, params: str, args: Args, keywords: dict[str, Abstract]) -> Args:
    """The arguments in the order of the parameters; those whose name ends in `?` may be absent at the end."""
    names = [name.rstrip("?") for name in params.split()]
    least = sum(not name.endswith("?") for name in params.split())
    for name in keywords:
        if name not in names or names.index(name) < len(args):
            fail(
                Code.BAD_ARGUMENTS,
                f"{path}() got an unexpected or repeated argument '{name}'",
                hint=f"{path}({params})",
            )
    bound = dict(zip(names, args)) | keywords
    found = [bound[name] for name in names if name in bound]
    if len(args) > len(names) or len(found) < least or list(bound)[: len(found)] != [n for n in names if n in bound]:
        wanted = f"{least}" if least == len(names) else f"{least} to {len(names)}"
        fail(
            Code.BAD_ARGUMENTS,
            f"{path}() takes {wanted} arguments, not {len(args) + len(keywords)}",
            hint=f"{path}({', '.join(names)})",
        )
    return tuple(found)


# Places


def _place(op: str, axis: int) -> Emit:
    return lambda w, args: _index(w, op, axis)


def _index(w: Emitter, op: str, axis: int) -> Num:
    """An index or a size of the launch, as an integer of Python's kind."""
    return Num(PYINT, w.b.value("cast", w.b.value(op, axis=axis), type=I64))


def _lane(op: str) -> Emit:
    return lambda w, args: Num(PYINT, w.b.value("cast", w.b.value(op), type=I64))


def _product(w: Emitter, x: Num, y: Num) -> Num:
    return Num(PYINT, w.b.value("mul", x.value, y.value))


def _in_grid(w: Emitter, axis: int) -> Num:
    """The thread's index in the grid."""
    first = _product(w, _index(w, "block.index", axis), _index(w, "block.size", axis))
    return Num(PYINT, w.b.value("add", first.value, _index(w, "thread.index", axis).value))


def _of_grid(w: Emitter, axis: int) -> Num:
    return _product(w, _index(w, "block.size", axis), _index(w, "grid.size", axis))


def _for_axes(what: Callable[[Emitter, int], Num], path: str) -> Emit:
    def emit(w: Emitter, args: Args) -> Abstract:
        (count,) = args
        if not isinstance(count, Const) or count.value not in (1, 2, 3) or isinstance(count.value, bool):
            fail(Code.NOT_CONSTANT, f"{path}() takes the number of axes: 1, 2 or 3, as a constant")
        items = tuple(what(w, axis) for axis in range(count.value))  # type: ignore[arg-type]
        return items[0] if len(items) == 1 else Tup(items)

    return emit


# Arrays


def _shape(value: Abstract, path: str) -> tuple[int, ...]:
    """A shape that is known at compile time."""
    items = value.items if isinstance(value, Tup) else (value,)
    known = [item.value for item in items if isinstance(item, Const)]
    sizes = tuple(size for size in known if isinstance(size, int) and not isinstance(size, bool))
    if len(sizes) != len(items) or not items:
        fail(
            Code.NOT_CONSTANT,
            f"the shape of {path}() has to be known when the kernel is compiled: an int, or a tuple of ints",
            hint="Use a global or a literal; for shared memory of a size that the launch gives, use shape 0.",
        )
    return sizes


def _array(space: str) -> Emit:
    path = f"{space}.array"

    def emit(w: Emitter, args: Args) -> Abstract:
        shape, dtype = _shape(args[0], path), convert.as_dtype(args[1])
        if dtype.is_complex:
            fail(Code.BAD_DTYPE, f"{path}() takes real numbers and booleans, not {dtype}")
        if shape == (0,) and space == "shared":
            array = ArrayType(dtype, 1, "C", space=space)
            return Arr(array, w.b.value("shared.dynamic", type=array))
        if any(size < 1 for size in shape):
            fail(Code.BAD_VALUE, f"the shape of {path}() has to be positive, not {shape}")
        array = ArrayType(dtype, len(shape), "C", space=space)
        return Arr(array, w.b.value(path, type=array, shape=shape))

    return emit


def _constant(w: Emitter, args: Args) -> Abstract:
    (array,) = args
    if not isinstance(array, Arr):
        fail(Code.TYPE_MISMATCH, f"const.array_like() takes a NumPy array, not {describe(array)}")
    a = array.array
    return as_layout(w.b, array, ArrayType(a.dtype, a.ndim, a.layout, True, a.space))


def _places(w: Emitter, array: Abstract, index: Abstract, path: str) -> tuple[Arr, list[Value]]:
    """The array and the checked positions of an element."""
    if not isinstance(array, Arr):
        fail(Code.TYPE_MISMATCH, f"{path}() takes an array, not {describe(array)}")
    items = index.items if isinstance(index, Tup) else (index,)
    if len(items) != array.array.ndim:
        fail(
            Code.BAD_INDEX,
            f"{path}() takes an index for each axis: {array.array.ndim} for this array, not {len(items)}",
            types=[("array", array.array)],
        )
    checked = w.options.boundscheck
    places = []
    for axis, item in enumerate(items):
        size = w.b.value("dim", array.value, axis=axis)
        places.append(w.b.value("index", w.integer(item), size, axis=axis, checked=checked, wrap=True))
    return array, places


def _load(w: Emitter, args: Args) -> Abstract:
    array, places = _places(w, args[0], args[1], "a load")
    return Num(array.array.dtype, w.b.value("load", array.value, *places, checked=False, wrap=False))


def _load_anew(w: Emitter, args: Args) -> Abstract:
    """A load that reads memory each time: nothing that was read before a fence is known behind it."""
    w.b.op("fence", scope="device")
    return _load(w, args)


def _store(w: Emitter, args: Args) -> Abstract:
    array, places = _places(w, args[0], args[1], "a store")
    indexing.refuse_readonly(w, array)
    value = scalars.sized(w, args[2], array.array.dtype)
    w.b.op("store", value, array.value, *places, checked=False, wrap=False)
    return Const(None)


# Atomics


def _atomic(name: str, what: str) -> Emit:
    path = f"atomic.{name}"

    def emit(w: Emitter, args: Args) -> Abstract:
        array, places = _places(w, args[0], args[1], path)
        dtype = _atomic_dtype(w, array, path)
        if dtype.is_float and what in ("and", "or", "xor", "inc", "dec"):
            fail(Code.BAD_DTYPE, f"{path}() takes integers, not {dtype}", types=[("array", array.array)])
        value = scalars.sized(w, w.num(args[2]), dtype)
        return Num(dtype, w.b.value("atomic", value, array.value, *places, op=what, checked=False, wrap=False))

    return emit


def _atomic_dtype(w: Emitter, array: Arr, path: str) -> Scalar:
    indexing.refuse_readonly(w, array)
    dtype = array.array.dtype
    if dtype.is_bool or dtype.is_complex:
        fail(Code.BAD_DTYPE, f"{path}() takes integers and floats, not {dtype}", types=[("array", array.array)])
    return dtype


def _cas(w: Emitter, args: Args) -> Abstract:
    array, places = _places(w, args[0], args[1], "atomic.cas")
    dtype = _atomic_dtype(w, array, "atomic.cas")
    old, new = (scalars.sized(w, w.num(value), dtype) for value in args[2:])
    return Num(dtype, w.b.value("atomic.cas", old, new, array.value, *places, checked=False, wrap=False))


def _cas_first(w: Emitter, args: Args) -> Abstract:
    array, old, new = args
    index: Abstract = Const(0)
    if isinstance(array, Arr) and array.array.ndim != 1:
        index = Tup((Const(0),) * array.array.ndim)
    return _cas(w, (array, index, old, new))


# Barriers, subgroups


def _effect(op: str, **attrs: Any) -> Emit:
    def emit(w: Emitter, args: Args) -> Abstract:
        w.b.op(op, **attrs)
        return Const(None)

    return emit


def _of_truth(op: str, result: Scalar, **attrs: object) -> Emit:
    """An op on a truth value, the last argument."""

    def emit(w: Emitter, args: Args) -> Abstract:
        value = w.b.value(op, w.truth(args[-1]), **attrs)
        return Num(result, w.b.value("cast", value, type=result.machine) if value.type != result.machine else value)

    return emit


def _register(w: Emitter, value: Abstract) -> Num:
    """A number that lanes exchange; Python's numbers keep their kind."""
    scalar = scalar_type(value)
    if scalar is None or scalar.is_complex:
        fail(Code.TYPE_MISMATCH, f"lanes exchange real numbers and truth values, not {describe(value)}")
    return w.num(value)


def _shuffle(mode: str) -> Emit:
    def emit(w: Emitter, args: Args) -> Abstract:
        value, lane = args[-2:]
        num = _register(w, value)
        lanes = w.b.value("cast", w.integer(lane, "a lane"), type=I32)
        return Num(num.scalar, w.b.value("shuffle", num.value, lanes, mode=mode))

    return emit


def _of_number(op: str, result: Scalar | None = None, **attrs: object) -> Emit:
    def emit(w: Emitter, args: Args) -> Abstract:
        num = _register(w, args[-1])
        if num.scalar.is_bool and op == "subgroup.reduce":
            num = Num(PYINT, w.cast(num, PYINT))
        value = w.b.value(op, num.value, **attrs)
        to = num.scalar if result is None else result
        return Num(to, w.b.value("cast", value, type=to.machine) if value.type != to.machine else value)

    return emit


def _combined(op: str, what: str, **attrs: object) -> Emit:
    path = f"{op} by {what}"

    def emit(w: Emitter, args: Args) -> Abstract:
        num = _register(w, args[-1])
        if num.scalar.is_bool:
            num = Num(PYINT, w.cast(num, PYINT))
        if num.scalar.is_float and what in ("and", "or", "xor"):
            fail(Code.BAD_DTYPE, f"{path} takes integers, not {num.scalar}")
        return Num(num.scalar, w.b.value(op, num.value, op=what, **attrs))

    return emit


def _mask(op: str, to: Scalar) -> Emit:
    return lambda w, args: Num(to, w.b.value("cast", w.b.value(op), type=to))


def _lanes_below(w: Emitter, args: Args) -> Abstract:
    one = w.b.const(1, U32)
    lane = w.b.value("cast", w.b.value("lane.index"), type=U32)
    return Num(U32, w.b.value("sub", w.b.value("shl", one, lane), one))


def _log2_size(w: Emitter, args: Args) -> Abstract:
    return Num(PYINT, w.b.value("cast", w.b.value("ctz", w.b.value("lane.count")), type=I64))


# Bits and numbers


def _bits(w: Emitter, value: Abstract) -> Value:
    """An integer as its own type; Python's integers as int32."""
    scalar = scalar_type(value)
    if scalar is None or not (scalar.is_integer or scalar.is_bool):
        fail(Code.TYPE_MISMATCH, f"an integer is needed here, not {describe(value)}")
    if isinstance(value, Const) and isinstance(value.value, int) and not -(2**31) <= value.value < 2**31:
        return w.cast(value, U32 if 0 <= value.value < 2**32 else I64)
    return w.cast(value, I32 if scalar.weak or scalar.is_bool else scalar)


def _counted(op: str) -> Emit:
    def emit(w: Emitter, args: Args) -> Abstract:
        return Num(PYINT, w.b.value("cast", w.b.value(op, _bits(w, args[0])), type=I64))

    return emit


def _find_first(w: Emitter, args: Args) -> Abstract:
    bits = _bits(w, args[0])
    v = w.b.value
    place = v("add", v("cast", v("ctz", bits), type=I64), w.b.i64(1))
    none = v("cmp", bits, w.b.const(0, bits.type), pred="eq")  # type: ignore[arg-type]
    return Num(PYINT, v("select", none, w.b.i64(0), place))


def _reverse(w: Emitter, args: Args) -> Abstract:
    bits = _bits(w, args[0])
    scalar = scalar_type(args[0])
    assert scalar is not None and isinstance(bits.type, Scalar)
    reversed_ = w.b.value("bitreverse", bits)
    return (
        Num(U32, w.b.value("bitcast", reversed_, type=U32))
        if bits.type == I32 and scalar.weak
        else Num(bits.type, reversed_)
    )


def _fma(w: Emitter, args: Args) -> Abstract:
    types = [scalar_type(arg) for arg in args]
    if any(t is None or t.is_complex for t in types):
        fail(Code.TYPE_MISMATCH, "fma() takes three real numbers")
    common = promote(promote(types[0], types[1]), types[2])  # type: ignore[arg-type]
    if not common.is_float:
        common = promote(common, scalar_type(Const(0.0)))  # type: ignore[arg-type]
    return Num(common, w.b.value("math.fma", *(w.cast(arg, common) for arg in args)))


def _select(w: Emitter, args: Args) -> Abstract:
    return builtins.select(w, w.truth(args[0]), args[1], args[2])


_PLACES = {"threadIdx": "thread.index", "blockIdx": "block.index", "blockDim": "block.size", "gridDim": "grid.size"}

#: Path -> what reading it emits.
_VALUES: Mapping[str, Emit] = MappingProxyType(
    {
        **{f"{name}.{letter}": _place(op, axis) for name, op in _PLACES.items() for axis, letter in enumerate("xyz")},
        "warpsize": _lane("lane.count"),
        "laneid": _lane("lane.index"),
    }
)

_ATOMICS = {
    "add": "add", "sub": "sub", "mul": "mul", "min": "min", "max": "max", "nanmin": "min", "nanmax": "max", "and_": "and",
    "or_": "or", "xor": "xor", "exch": "exchange", "inc": "inc", "dec": "dec",
}  # fmt: skip
_COMBINATIONS = ("add", "mul", "min", "max", "and", "or", "xor")

#: Path -> (parameters, what a call emits). The parameters are those of the error messages and of keywords.
_FUNCTIONS: Mapping[str, tuple[str, Emit]] = MappingProxyType(
    {
        "grid": ("ndim", _for_axes(_in_grid, "grid")),
        "gridsize": ("ndim", _for_axes(_of_grid, "gridsize")),
        "shared.array": ("shape dtype", _array("shared")),
        "local.array": ("shape dtype", _array("local")),
        "const.array_like": ("array", _constant),
        "syncthreads": ("", _effect("barrier")),
        "syncthreads_count": ("predicate", _of_truth("barrier.count", PYINT)),
        "syncthreads_and": ("predicate", _of_truth("barrier.all", PYBOOL)),
        "syncthreads_or": ("predicate", _of_truth("barrier.any", PYBOOL)),
        "threadfence": ("", _effect("fence", scope="device")),
        "threadfence_block": ("", _effect("fence", scope="block")),
        "threadfence_system": ("", _effect("fence", scope="system")),
        "cg.this_grid": ("", lambda w, args: Const(NAMES["cg"].grid_group)),
        "cg.grid_group.sync": ("", _effect("grid.barrier")),
        **{f"atomic.{name}": ("array index value", _atomic(name, what)) for name, what in _ATOMICS.items()},
        "atomic.cas": ("array index old new", _cas),
        "atomic.compare_and_swap": ("array old new", _cas_first),
        "subgroup.invocation_id": ("", _lane("lane.index")),
        "subgroup.group_size": ("", _lane("lane.count")),
        "subgroup.log2_group_size": ("", _log2_size),
        "subgroup.sync": ("", _effect("subgroup.barrier")),
        "subgroup.mem_fence": ("", _effect("subgroup.barrier")),
        "subgroup.elect": ("", lambda w, args: Num(PYBOOL, w.b.value("lane.elect"))),
        "subgroup.shuffle": ("value lane", _shuffle("index")),
        "subgroup.shuffle_up": ("value n", _shuffle("up")),
        "subgroup.shuffle_down": ("value n", _shuffle("down")),
        "subgroup.shuffle_xor": ("value bits", _shuffle("xor")),
        "subgroup.broadcast": ("value lane", _shuffle("index")),
        "subgroup.broadcast_first": ("value", _of_number("lane.first")),
        "subgroup.ballot": ("predicate", _of_truth("ballot", U64)),
        "subgroup.all_true": ("predicate", _of_truth("vote", PYBOOL, mode="all")),
        "subgroup.any_true": ("predicate", _of_truth("vote", PYBOOL, mode="any")),
        "subgroup.all_equal": ("value", _of_number("vote", PYBOOL, mode="equal")),
        **{f"subgroup.reduce_{name}": ("value", _combined("subgroup.reduce", name)) for name in _COMBINATIONS},
        **{f"subgroup.reduce_all_{name}": ("value", _combined("subgroup.reduce", name)) for name in _COMBINATIONS},
        **{
            f"subgroup.{kind}_{name}": ("value", _combined("subgroup.scan", name, inclusive=kind == "inclusive"))
            for kind in ("inclusive", "exclusive")
            for name in _COMBINATIONS
        },
        "shfl_sync": ("mask value lane", _shuffle("index")),
        "shfl_up_sync": ("mask value delta", _shuffle("up")),
        "shfl_down_sync": ("mask value delta", _shuffle("down")),
        "shfl_xor_sync": ("mask value bits", _shuffle("xor")),
        "all_sync": ("mask predicate", _of_truth("vote", PYBOOL, mode="all")),
        "any_sync": ("mask predicate", _of_truth("vote", PYBOOL, mode="any")),
        "eq_sync": ("mask value", _of_number("vote", PYBOOL, mode="equal")),
        "ballot_sync": ("mask predicate", _of_truth("ballot", U32)),
        "match_any_sync": ("mask value", _of_number("lane.match", U32)),
        "syncwarp": ("mask?", _effect("subgroup.barrier")),
        "activemask": ("", _mask("lane.active", U32)),
        "lanemask_lt": ("", _lanes_below),
        "popc": ("x", _counted("popcount")),
        "clz": ("x", _counted("clz")),
        "ffs": ("x", _find_first),
        "brev": ("x", _reverse),
        "fma": ("a b c", _fma),
        "selp": ("a b c", _select),
        **{f"ld{hint}": ("array index", _load) for hint in ("ca", "cg", "cs")},
        "ldcv": ("array index", _load_anew),
        **{f"st{hint}": ("array index value", _store) for hint in ("cg", "cs", "wt")},
    }
)
