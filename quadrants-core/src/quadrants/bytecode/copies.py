"""Undoes the copying of code: CPython copies the test of a `while` loop to the loop's end, and a short `return` or `raise` to where
control comes from; here the copies become one again.

Takes and gives blocks. Two blocks end in copies if their last instructions have the same source range, the same
operations lead to them, and their ways out are the same or copies too. Their common end then becomes one block that both
jump to. Legal whenever that holds, because equal operations with equal continuations are interchangeable.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import islice

from .blocks import Block
from .opcode import Inst, Loc, Opcode, effect
from .rules import Flow

State = tuple[int, int]  # values on the stack, exceptions being handled


def merge_copies(blocks: list[Block]) -> list[Block]:
    """Merges all copies; blocks that nothing leads to any more stay in the list."""
    groups: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
    for i, block in enumerate(blocks):
        if block.flow in (Flow.BRANCH, Flow.RETURN, Flow.RAISE):
            if block.loc.line is not None:
                groups[block.flow, *_range(block.loc)].append(i)
    candidates = [group for group in groups.values() if len(group) > 1]
    changed = bool(candidates)
    while changed:
        changed = False
        for group in candidates:
            changed |= _merge_group(blocks, group)
    return blocks


def _range(loc: Loc) -> tuple[int | None, ...]:
    return (loc.line, loc.col, loc.end_line, loc.end_col)


def _merge_group(blocks: list[Block], group: list[int]) -> bool:
    """Merges two members of a group, if any two are copies."""
    group[:] = [i for i in group if blocks[i].flow is not Flow.JUMP]
    alike: defaultdict[object, list[int]] = defaultdict(list)
    for i in group:
        alike[_key(blocks, i)].append(i)
    later = {i: (members, k + 1) for members in alike.values() for k, i in enumerate(members)}
    for i in group:
        for j in islice(*later[i], None):
            a, b = blocks[i], blocks[j]
            if not _same_ways_out(blocks, a, b):
                continue
            common = _common_end(a, b)
            state = _state_before(a, common)
            if common and state == _state_before(b, common):
                shared = _share(blocks, i, j, common, state)
                if shared not in (i, j):
                    group.append(shared)
                return True
    return False


def _key(blocks: list[Block], i: int) -> object:
    """What copies have in common, for short: a long chain of conditions has as many blocks of the same source range, which are not
    to be compared each with each."""
    ways = (blocks[way] for way in blocks[i].succs)
    return tuple((way.flow, tuple((inst.op, repr(inst.arg)) for inst in way.insts)) for way in ways)


def _same_ways_out(blocks: list[Block], a: Block, b: Block) -> bool:
    if (a.handler, a.depth, a.argc) != (b.handler, b.depth, b.argc):
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
    """How many operations at the end the two blocks share, from a point on from where they take nothing off the stack."""
    exact = a.flow is not Flow.BRANCH
    best = 0
    needed = a.argc if a.flow is Flow.RAISE else 1  # values that the operations looked at so far take from below
    for n, (x, y) in enumerate(zip(reversed(a.insts), reversed(b.insts)), 1):
        if not _equal(x, y, True) or (exact and _range(x.loc) != _range(y.loc)):
            break
        pops, pushes = effect(x.op, x.arg)
        needed = max(pops, needed - pushes + pops)
        if needed == 0:
            best = n
    return best


def _share(blocks: list[Block], i: int, j: int, common: int, state: State) -> int:
    """Cuts the last operations off both blocks and makes them one block that both jump to; gives that block."""
    a, b = blocks[i], blocks[j]
    if common == len(a.insts):
        shared = i
    elif common == len(b.insts):
        shared = j
    else:
        shared = len(blocks)
        # Of a layout only the numbers of values and of saved exceptions are used from here on.
        blocks.append(replace(a, insts=a.insts[-common:], entry="v" * state[0] + "p" * state[1]))
    for k in (i, j):
        if k != shared:
            block = blocks[k]
            block.insts = block.insts[:-common]
            block.flow, block.succs = Flow.JUMP, [shared]
    return shared


def _state_before(block: Block, common: int) -> State:
    """The state of the stacks before the last operations."""
    values, handled = block.entry.count("v"), block.entry.count("p")
    for inst in block.insts[: len(block.insts) - common]:
        pops, pushes = effect(inst.op, inst.arg)
        values += pushes - pops
        handled += (inst.op is Opcode.PUSH_EXC) - (inst.op is Opcode.POP_EXCEPT)
    return values, handled
