"""Element-wise operations on whole arrays. The passes fuse them, then expand them into loops."""

from __future__ import annotations

from quadrants.ir.opdef import Attr, AttrKind, Effect, OpDef
from quadrants.ir.ops import rules
from quadrants.types import ArrayType, Type


def _elements(inputs: rules.Types) -> tuple[Type, ...]:
    """The types of the region's arguments: an element an array, scalars as they are."""
    for type in inputs:
        if not isinstance(type, ArrayType) and not rules.is_scalar(type):
            raise TypeError(f"maps over arrays and scalars, not {type}")
    return tuple(type.dtype if isinstance(type, ArrayType) else type for type in inputs)


def _check_region(inputs: rules.Types, result: Type, regions: rules.Regions) -> None:
    if len(regions) != 1:
        raise TypeError(f"takes 1 region, not {len(regions)}")
    (region,) = regions
    rules.match_types([arg.type for arg in region.args], _elements(inputs), "the region's arguments")
    end = region.terminator
    if end is None or end.name != "yield":
        raise TypeError("the region must end in yield")
    rules.match_types([value.type for value in end.operands], (result,), "the yielded value")


def _rank(inputs: rules.Types) -> int:
    return max((type.ndim for type in inputs if isinstance(type, ArrayType)), default=0)


def _map(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    dtype = rules.attr_scalar(attrs, "dtype")
    ndim = rules.attr_int(attrs, "ndim")
    _check_region(types, dtype, regions)
    if ndim != _rank(types):
        raise TypeError(f"attribute 'ndim' is {ndim}, the inputs have rank {_rank(types)}")
    return (ArrayType(dtype, ndim),)


def _map_into(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    if not types:
        raise TypeError("takes a target and inputs")
    target = rules.array(types[0], "the target")
    if target.readonly:
        raise TypeError(f"writes into {target}, which is read-only")
    _check_region(types[1:], target.dtype, regions)
    if _rank(types[1:]) > target.ndim:
        raise TypeError(f"an input of rank {_rank(types[1:])} does not broadcast into {target}")
    return ()


DEFS = (
    OpDef(
        "map",
        _map,
        effects=Effect.READS | Effect.ALLOCATES | Effect.RAISES,
        attrs=(Attr("dtype", AttrKind.TYPE), Attr("ndim", AttrKind.INT)),
        regions=1,
        doc="A new array, C-contiguous: the region's value for every element of the inputs, broadcast by NumPy's rule. "
        "ValueError if the shapes do not fit, MemoryError as alloc. The region has no effects and ends in yield.",
        derivative="map over the derivatives",
    ),
    OpDef(
        "map_into",
        _map_into,
        effects=Effect.READS | Effect.WRITES | Effect.RAISES,
        attrs=(),
        regions=1,
        doc="The same into an existing array: (target, inputs). The inputs are read as they were before; ValueError if one does "
        "not broadcast to the target, MemoryError for the temporary that an overlap may need.",
        derivative="map_into over the derivatives",
    ),
)
