"""The names of the explicit language as objects: what `qd.cpu.threadIdx.x` or `qd.cuda.atomic.add` is.

Takes the table below; gives one tree of `Name`, which the namespaces of all backends share. Inference knows a name by its path; the
interpreter, outside of a kernel, gets an error that says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NoReturn

from quadrants.diagnostics import BackendError, Code

_XYZ = ("x", "y", "z")

#: Values that a thread reads: path -> what it is.
VALUES: Mapping[str, str] = MappingProxyType(
    {
        **{f"threadIdx.{axis}": f"The thread's index in its block along {axis}." for axis in _XYZ},
        **{f"blockIdx.{axis}": f"The index of the thread's block in the grid along {axis}." for axis in _XYZ},
        **{f"blockDim.{axis}": f"Threads of a block along {axis}." for axis in _XYZ},
        **{f"gridDim.{axis}": f"Blocks of the grid along {axis}." for axis in _XYZ},
        "warpsize": "Lanes of a subgroup.",
        "laneid": "The thread's place in its subgroup.",
    }
)

_SHUFFLE = "the value of another lane: (mask, value, lane). The mask is not looked at"
_LOAD = "an element, (array, index)"
_STORE = "write an element, (array, index, value)"
_ATOMIC = "in one step, (array, index, value); gives the element from before"

#: Functions: path -> what it does.
FUNCTIONS: Mapping[str, str] = MappingProxyType(
    {
        "grid": "The thread's index in the grid, for 1, 2 or 3 axes, x first.",
        "gridsize": "Threads of the grid along 1, 2 or 3 axes, x first.",
        "shared.array": "An array of the block: (shape, dtype). Shape 0: the dynamic buffer, which all such arrays share.",
        "local.array": "An array of the thread: (shape, dtype).",
        "const.array_like": "A global NumPy array, to be read only.",
        "syncthreads": "Wait for all threads of the block.",
        "syncthreads_count": "Wait for all threads of the block; for how many the argument is true.",
        "syncthreads_and": "Wait for all threads of the block; whether the argument is true for each.",
        "syncthreads_or": "Wait for all threads of the block; whether the argument is true for any.",
        "threadfence": "Order memory accesses, as seen by the device.",
        "threadfence_block": "Order memory accesses, as seen by the block.",
        "threadfence_system": "Order memory accesses, as seen by device and host.",
        "cg.this_grid": "All threads of the launch; `.sync()` waits for them.",
        "cg.grid_group.sync": "Wait for all threads of the grid.",
        "atomic.add": f"Add {_ATOMIC}.",
        "atomic.sub": f"Subtract {_ATOMIC}.",
        "atomic.mul": f"Multiply {_ATOMIC}.",
        "atomic.min": f"The smaller {_ATOMIC}. A number rather than NaN.",
        "atomic.max": f"The greater {_ATOMIC}. A number rather than NaN.",
        "atomic.nanmin": "As atomic.min.",
        "atomic.nanmax": "As atomic.max.",
        "atomic.and_": f"Bitwise and {_ATOMIC}.",
        "atomic.or_": f"Bitwise or {_ATOMIC}.",
        "atomic.xor": f"Bitwise exclusive or {_ATOMIC}.",
        "atomic.exch": f"Exchange {_ATOMIC}.",
        "atomic.inc": f"0 if old >= value else old + 1 {_ATOMIC}.",
        "atomic.dec": f"value if old == 0 or old > value else old - 1 {_ATOMIC}.",
        "atomic.cas": "Store `new` where the element is `old`: (array, index, old, new); gives the element from before.",
        "atomic.compare_and_swap": "The same for the first element: (array, old, new).",
        "subgroup.invocation_id": "The thread's place in its subgroup.",
        "subgroup.group_size": "Lanes of a subgroup.",
        "subgroup.log2_group_size": "The logarithm of that to base 2.",
        "subgroup.sync": "Make what the lanes have written visible to each other.",
        "subgroup.mem_fence": "Make what the lanes have written visible to each other.",
        "subgroup.elect": "True in the first active lane.",
        "subgroup.shuffle": "The value of a lane: (value, lane).",
        "subgroup.shuffle_up": "The value of the lane so many below: (value, n).",
        "subgroup.shuffle_down": "The value of the lane so many above: (value, n).",
        "subgroup.shuffle_xor": "The value of the lane whose number differs by the bits: (value, bits).",
        "subgroup.broadcast": "The value of a lane, which is the same for all: (value, lane).",
        "subgroup.broadcast_first": "The value of the first active lane.",
        "subgroup.ballot": "The active lanes for which it is true, as bits of a uint64.",
        "subgroup.all_true": "Whether it is true in all active lanes.",
        "subgroup.any_true": "Whether it is true in any active lane.",
        "subgroup.all_equal": "Whether it is the same in all active lanes.",
        **{
            f"subgroup.reduce_{name}": f"The active lanes combined by {name}; use it in lane 0."
            for name in ("add", "mul", "min", "max", "and", "or", "xor")
        },
        **{
            f"subgroup.reduce_all_{name}": f"The active lanes combined by {name}, in every lane."
            for name in ("add", "mul", "min", "max", "and", "or", "xor")
        },
        **{
            f"subgroup.inclusive_{name}": f"The active lanes up to this one combined by {name}."
            for name in ("add", "mul", "min", "max", "and", "or", "xor")
        },
        **{
            f"subgroup.exclusive_{name}": f"The active lanes before this one combined by {name}."
            for name in ("add", "mul", "min", "max", "and", "or", "xor")
        },
        "shfl_sync": f"CUDA's name of subgroup.shuffle: {_SHUFFLE}.",
        "shfl_up_sync": f"CUDA's name of subgroup.shuffle_up: {_SHUFFLE}.",
        "shfl_down_sync": f"CUDA's name of subgroup.shuffle_down: {_SHUFFLE}.",
        "shfl_xor_sync": f"CUDA's name of subgroup.shuffle_xor: {_SHUFFLE}.",
        "all_sync": "Whether it is true in all active lanes: (mask, condition).",
        "any_sync": "Whether it is true in any active lane: (mask, condition).",
        "eq_sync": "Whether it is the same in all active lanes: (mask, value).",
        "ballot_sync": "The active lanes for which it is true, as bits of a uint32: (mask, condition).",
        "match_any_sync": "The active lanes with the same value, as bits of a uint32: (mask, value).",
        "syncwarp": "Make what the lanes of the subgroup have written visible to each other.",
        "activemask": "The active lanes, as bits of a uint32.",
        "lanemask_lt": "The lanes below this one, as bits of a uint32.",
        "popc": "How many bits are set.",
        "clz": "How many leading bits are 0.",
        "ffs": "The place of the lowest bit that is set, from 1; 0 if there is none.",
        "brev": "The bits in reverse order.",
        "fma": "a * b + c, rounded once.",
        "selp": "b if a else c, both evaluated.",
        **{f"ld{hint}": f"Read {_LOAD}, with a hint to the cache." for hint in ("ca", "cg", "cs")},
        "ldcv": f"Read {_LOAD}, from memory each time: another thread may change it.",
        **{f"st{hint}": f"{_STORE.capitalize()}, with a hint to the cache." for hint in ("cg", "cs", "wt")},
    }
)


class Name:
    """A name of the explicit language, or a group of them."""

    __slots__ = ("__quadrants_device__", "_members")

    __quadrants_device__: str

    def __init__(self, path: str, members: Mapping[str, Name]) -> None:
        self.__quadrants_device__ = path
        self._members = members

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        path = self.__quadrants_device__
        return VALUES.get(path) or FUNCTIONS.get(path)

    def __getattr__(self, name: str) -> Name:
        if name == "_members" or name not in self._members:
            raise AttributeError(_no_name(self.__quadrants_device__, name, self._members), name=name)
        return self._members[name]

    def __dir__(self) -> list[str]:
        return sorted(self._members)

    def __call__(self, *args: Any, **keywords: Any) -> NoReturn:
        raise BackendError(
            Code.OUTSIDE_KERNEL,
            f"{self.__quadrants_device__}() means something in a kernel only",
            hint="call it in a function that is decorated with @qd.<backend>.kernel, or that such a kernel calls",
        )

    def __repr__(self) -> str:
        return f"<{self.__quadrants_device__} of kernels>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (find, (self.__quadrants_device__,))


def _no_name(path: str, name: str, known: Mapping[str, Name]) -> str:
    import difflib  # only a mistake needs it

    close = difflib.get_close_matches(name, known, n=1)
    return f"{path or 'the language of kernels'} has no {name!r}" + (f". Did you mean {close[0]!r}?" if close else "")


def _tree() -> Mapping[str, Name]:
    """The names of the top level."""
    nested: dict[str, Any] = {}
    for path in (*VALUES, *FUNCTIONS):
        at = nested
        for part in path.split("."):
            at = at.setdefault(part, {})
    return _named(nested, "")


def _named(nested: dict[str, Any], prefix: str) -> Mapping[str, Name]:
    found = {name: Name(prefix + name, _named(inner, f"{prefix}{name}.")) for name, inner in nested.items()}
    return MappingProxyType(found)


NAMES: Mapping[str, Name] = _tree()


def find(path: str) -> Name:
    """The name with a path."""
    first, *rest = path.split(".")
    found = NAMES[first]
    for part in rest:
        found = getattr(found, part)
    return found
