"""The memory of lists (`abi.LIST_CELLS`): size, items, growth."""

from __future__ import annotations

from quadrants.ir.core import Op
from quadrants.lower.abi import BLOCK_HEADER, LIST_CELLS, LIST_SIZE
from quadrants.lower.analysis import MEMORY_ERROR
from quadrants.lower.emit import Emitter, FunctionEmitter, Text
from quadrants.lower.errors import raise_in
from quadrants.lower.memory import load_at, store_at
from quadrants.lower.nodes import CONTEXT, DATA
from quadrants.types import CellsType, TupleType


def _new(e: FunctionEmitter, op: Op) -> None:
    type = op.results[0].type
    assert isinstance(type, CellsType)
    made = e.let(f"call ptr {e.module.counting('qd_list_new', f'i64 {int(type.nested)}')}")
    found = e.let(f"icmp ne ptr {made}, null")
    raise_in(e, e.branch(found, "memory"), op, MEMORY_ERROR, TupleType(()))
    e.set(op, made)


def _size(e: FunctionEmitter, op: Op) -> None:
    at = e.let(f"getelementptr i8, ptr {e.one(op.operands[0])}, i64 {LIST_SIZE}")
    e.set(op, e.let(f"load i64, ptr {at}, align 8, {CONTEXT}"))


def _resize(e: FunctionEmitter, op: Op) -> None:
    cells, size = op.operands
    assert isinstance(cells.type, CellsType)
    given = f"ptr {e.one(cells)}, i64 {e.one(size)}, i64 {cells.type.itemsize}"
    done = e.let(f"call i1 {e.module.counting('qd_list_resize', given)}")
    raise_in(e, e.branch(done, "memory"), op, MEMORY_ERROR, TupleType(()))


def _cell(e: FunctionEmitter, cells: Text, index: Text, itemsize: int) -> Text:
    at = e.let(f"getelementptr i8, ptr {cells}, i64 {LIST_CELLS}")
    block = e.let(f"load ptr, ptr {at}, align 8, {CONTEXT}")
    data = e.let(f"getelementptr inbounds i8, ptr {block}, i64 {BLOCK_HEADER}")
    offset = e.let(f"mul nuw nsw i64 {index}, {itemsize}")
    return e.let(f"getelementptr inbounds i8, ptr {data}, i64 {offset}")


def _load(e: FunctionEmitter, op: Op) -> None:
    cells, index = op.operands
    assert isinstance(cells.type, CellsType)
    at = _cell(e, e.one(cells), e.one(index), cells.type.itemsize)
    if cells.type.nested:
        e.set(op, e.let(f"load ptr, ptr {at}, align 8, {DATA}"))
    else:
        load_at(e, op.results[0], at, DATA)


def _store(e: FunctionEmitter, op: Op) -> None:
    value, cells, index = op.operands
    assert isinstance(cells.type, CellsType)
    at = _cell(e, e.one(cells), e.one(index), cells.type.itemsize)
    if not cells.type.nested:
        store_at(e, value, at, DATA)
        return
    old = e.let(f"load ptr, ptr {at}, align 8, {DATA}")
    e.line(f"store ptr {e.one(value)}, ptr {at}, align 8, {DATA}")
    e.line(f"call void {e.module.counting('qd_list_release', f'ptr {old}')}")


EMITTERS: dict[str, Emitter] = {
    "list.new": _new,
    "list.size": _size,
    "list.resize": _resize,
    "list.load": _load,
    "list.store": _store,
}
