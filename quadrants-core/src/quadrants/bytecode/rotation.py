"""Undoes loop rotation: CPython copies the test of a `while` loop to the loop's end; here the copies become one again.

Takes and gives blocks. Two tests are copies of each other if their jumps have the same source range, the same operations
lead to them, and their ways out are the same or copies too. The common end of the two blocks then becomes one block that
both jump to. Legal whenever that holds, because equal operations with equal continuations are interchangeable.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from .blocks import Block
from .opcode import Inst, Opcode
from .rules import Flow


def merge_tests(blocks: list[Block]) -> list[Block]:
    """Merges all copies of tests; blocks that nothing leads to any more stay in the list."""
    groups: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
    for i, block in enumerate(blocks):
        loc = block.loc
        if block.flow is Flow.BRANCH and loc.line is not None:
            groups[loc.line, loc.col, loc.end_line, loc.end_col].append(i)
    candidates = [group for group in groups.values() if len(group) > 1]
    changed = bool(candidates)
    while changed:
        changed = False
        for group in candidates:
            changed |= _merge_group(blocks, group)
    return blocks


def _merge_group(blocks: list[Block], group: list[int]) -> bool:
    for k, i in enumerate(group):
        for j in group[k + 1 :]:
            a, b = blocks[i], blocks[j]
            if a.flow is b.flow is Flow.BRANCH and _same_ways_out(blocks, a, b):
                common = _common_end(a, b)
                if common:
                    _share(blocks, i, j, common)
                    return True
    return False


def _same_ways_out(blocks: list[Block], a: Block, b: Block) -> bool:
    if (a.handler, a.depth) != (b.handler, b.depth):
        return False
    return all(_same(blocks, p, q, 8) for p, q in zip(a.succs, b.succs))


def _same(blocks: list[Block], p: int, q: int, limit: int) -> bool:
    """Whether two blocks do the same."""
    if p == q:
        return True
    a, b = blocks[p], blocks[q]
    if limit == 0 or a.flow is not b.flow or a.entry != b.entry or (a.handler, a.depth) != (b.handler, b.depth):
        return False
    if a.argc != b.argc or len(a.insts) != len(b.insts) or len(a.succs) != len(b.succs):
        return False
    exact = a.can_raise()  # where nothing can raise, locations are never seen
    if not all(_equal(x, y, exact) for x, y in zip(a.insts, b.insts)):
        return False
    return all(_same(blocks, x, y, limit - 1) for x, y in zip(a.succs, b.succs))


def _equal(x: Inst, y: Inst, exact: bool) -> bool:
    if x.op is not y.op or (exact and x.loc.line != y.loc.line):
        return False
    return x.arg is y.arg or (type(x.arg) is type(y.arg) and repr(x.arg) == repr(y.arg))


def _common_end(a: Block, b: Block) -> int:
    """How many operations at the end the two blocks share."""
    n = 0
    for x, y in zip(reversed(a.insts), reversed(b.insts)):
        if not _equal(x, y, True):
            break
        n += 1
    return n


def _share(blocks: list[Block], i: int, j: int, common: int) -> None:
    """Cuts the last operations off both blocks and makes them one block that both jump to."""
    a, b = blocks[i], blocks[j]
    if common == len(a.insts):
        shared = i
    elif common == len(b.insts):
        shared = j
    else:
        shared = len(blocks)
        tail = replace(a, insts=a.insts[-common:], entry=_layout_before(a, common))
        blocks.append(tail)
    for k in (i, j):
        if k != shared:
            block = blocks[k]
            block.insts = block.insts[:-common]
            block.flow, block.succs = Flow.JUMP, [shared]


def _layout_before(block: Block, common: int) -> str:
    """The saved exceptions on the stack before the last operations; nothing else of a later layout is ever used."""
    ops = [inst.op for inst in block.insts[:-common]]
    return "p" * (block.entry.count("p") + ops.count(Opcode.PUSH_EXC) - ops.count(Opcode.POP_EXCEPT))
