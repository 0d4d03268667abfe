"""Finds the element-wise maps that need no array of their own: their only reader is another map, which can compute
their elements.

Takes a region; gives producer -> consumer; changes nothing (`expand_maps` does). Legal when the two stand in one
region, nothing between them writes to memory, and nobody else reads the producer's elements (its sizes may be read).
Refused when it would compute the elements of a smaller array again and again.
"""

from __future__ import annotations

from quadrants.ir import Op, Region, Value
from quadrants.passes.structure import size_of, writes_memory
from quadrants.types import ArrayType

MAPS = frozenset({"map", "map_into"})
#: Ops that are too expensive to repeat for every element of a larger array.
_COSTLY = ("math.", "div", "floordiv", "mod", "rem", "call", "loop", "for")
_CHEAP_SIZE = 6
#: An expression of more ops is cut: its loop would run out of registers and of LLVM's patience.
_MAX_SIZE = 160


def plan(region: Region, readers: dict[Value, list[Op]]) -> dict[Op, Op]:
    """The producers that are computed inside their consumer, for one region (not those nested in it)."""
    position = {op: index for index, op in enumerate(region.ops)}
    fused: dict[Op, Op] = {}
    sizes = {op: size_of(op.regions[0]) for op in region.ops if op.name in MAPS}
    for op in region.ops:
        if op.name != "map":
            continue
        consumer = _only_reader(op, readers)
        if consumer is None or consumer not in position or not worthwhile(op, consumer):
            continue
        if sizes[op] + sizes[consumer] > _MAX_SIZE:
            continue
        between = region.ops[position[op] + 1 : position[consumer]]
        if any(writes_memory(other) for other in between):
            continue
        fused[op] = consumer
        sizes[consumer] += sizes[op]
    return fused


def _only_reader(op: Op, readers: dict[Value, list[Op]]) -> Op | None:
    """The one map that reads the elements of the result."""
    found: Op | None = None
    for reader in readers.get(op.result, ()):
        if reader.name == "dim":
            continue
        if reader.name not in MAPS or (found is not None and found is not reader):
            return None
        if reader.name == "map_into" and reader.operands[0] is op.result:
            return None
        found = reader
    return found


def worthwhile(producer: Op, consumer: Op) -> bool:
    """Whether no element would be computed more than once, or it is cheap to."""
    target = consumer.operands[0].type if consumer.name == "map_into" else consumer.result.type
    source = producer.result.type
    assert isinstance(target, ArrayType) and isinstance(source, ArrayType)
    return source.ndim == target.ndim or is_cheap(producer.regions[0])


def is_cheap(region: Region) -> bool:
    """Whether the elements may be computed again without loss."""
    ops = list(region.walk())
    return len(ops) <= _CHEAP_SIZE and not any(op.name.startswith(_COSTLY) for op in ops)
