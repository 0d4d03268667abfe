"""Lists: cells that grow. A list is as many of them as its items have leaves, all of one length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quadrants.ir.opdef import Attr, AttrKind, Effect, OpDef
from quadrants.ir.ops import rules
from quadrants.ir.values import Block, InterpCells, Raised, Undefined, zero
from quadrants.types import I64, CellsType, Type

if TYPE_CHECKING:
    from quadrants.ir.core import Op

_MOST = 2**40


def _cells(type: Type) -> CellsType:
    if not isinstance(type, CellsType):
        raise TypeError(f"takes the cells of a list, not {type}")
    return type


def _new(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 0)
    return (_cells(rules.attr_type(attrs, "type")),)


def _size(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 1)
    _cells(types[0])
    return (I64,)


def _resize(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 2)
    _cells(types[0])
    rules.all_i64(types[1:], "the size")
    return ()


def _load(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 2)
    rules.all_i64(types[1:], "the index")
    return (_cells(types[0]).dtype,)


def _store(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 3)
    rules.all_i64(types[2:], "the index")
    if types[0] != _cells(types[1]).dtype:
        raise TypeError(f"stores {types[0]} into {types[1]}")
    return ()


def _do_new(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    return (InterpCells([], Block(np.zeros(0, np.uint8))),)


def _do_resize(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    cells, size = values
    type = op.operands[0].type
    assert isinstance(type, CellsType)
    if size < 0:
        raise Undefined(f"a list of {size} items")
    if size > _MOST:
        raise Raised("builtins:MemoryError")
    _drop(cells.items[size:])
    del cells.items[size:]
    cells.items.extend(zero(type.dtype) for _ in range(size - len(cells.items)))
    return ()


def _place(cells: InterpCells, index: int) -> int:
    if not 0 <= index < len(cells.items):
        raise Undefined(f"item {index} of a list of {len(cells.items)}")
    return index


def _do_store(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    value, cells, index = values
    place = _place(cells, index)
    _drop([cells.items[place]])
    cells.items[place] = value
    return ()


def _drop(items: list[Any]) -> None:
    """Cells that refer to others give these up."""
    for item in items:
        if isinstance(item, InterpCells) and item.block is not None and not item.block.freed:
            item.block.release()
            if item.block.freed:
                _drop(item.items)


DEFS = (
    OpDef(
        "list.new",
        _new,
        reference=_do_new,
        effects=Effect.ALLOCATES | Effect.RAISES | Effect.HOST,
        attrs=(Attr("type", AttrKind.TYPE),),
        doc="New cells, none yet.",
        derivative="list.new of the derivative's type",
    ),
    OpDef(
        "list.size",
        _size,
        reference=lambda op, values: (len(values[0].items),),
        effects=Effect.READS,
        doc="How many cells there are.",
        derivative="none: integers",
    ),
    OpDef(
        "list.resize",
        _resize,
        reference=_do_resize,
        effects=Effect.READS | Effect.WRITES | Effect.ALLOCATES | Effect.RAISES | Effect.HOST,
        doc="(cells, size): let there be so many cells; the content of new ones is undefined. The size is not negative.",
        derivative="list.resize of the derivative",
    ),
    OpDef(
        "list.load",
        _load,
        reference=lambda op, values: (values[0].items[_place(*values)],),
        effects=Effect.READS,
        doc="(cells, index): what the cell holds; the index is in range. Cells come as a reference that has to be counted.",
        derivative="list.load of the derivative",
    ),
    OpDef(
        "list.store",
        _store,
        reference=_do_store,
        effects=Effect.WRITES,
        doc="(value, cells, index): let the cell hold the value, cells being handed over; the index is in range.",
        derivative="list.store of the derivative",
    ),
)
