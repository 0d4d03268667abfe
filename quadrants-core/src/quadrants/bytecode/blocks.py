"""Raw instructions -> basic blocks of canonical operations.

Takes a `RawCode` and a version table; gives the blocks that can be reached, block 0 being the entry. While it walks the
flow it follows the layout of CPython's stack, so every block is entered with one known layout. Raises `BytecodeError` on
anything that a Python compiler would not make (unknown instruction, stack mismatch, jump into nowhere, falling off the
end). Legal on any input.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import field

from quadrants._frozen import record

from .error import BytecodeError
from .opcode import PEEKS, SILENT, Inst, Loc, Opcode, effect
from .raw import Handler, RawCode, RawInst
from .rules import Emitter, Flow, Ops, Rule, Table, drop_bool


@record
class Block:
    """Operations, then one way out. `succs`: [target] of JUMP, [if true, if false] of BRANCH, [body, end] of FOR.

    `handler` is the block that exceptions of this one go to (-1: none), with the stack cut to `depth` values; `around` is
    the (reachable) handler of its first instruction by the exception table, also where nothing raises. `test_raises`: of a BRANCH,
    whether the test itself can raise.
    `entry` is the layout of CPython's stack on entry."""

    insts: list[Inst]
    entry: str
    loc: Loc
    flow: Flow = Flow.JUMP
    succs: list[int] = field(default_factory=list)
    argc: int = 0
    handler: int = -1
    depth: int = 0
    lasti: bool = False
    around: int = -1
    test_raises: bool = True

    def is_empty_jump(self) -> bool:
        return not self.insts and self.flow is Flow.JUMP

    def can_raise(self) -> bool:
        """Whether an exception can leave the block (for its handler)."""
        if self.flow not in (Flow.JUMP, Flow.RETURN) and (self.flow is not Flow.BRANCH or self.test_raises):
            return True
        return any(inst.op not in SILENT for inst in self.insts)


# Operations whose result is a bool: testing its truth cannot raise.
BOOLEANS = frozenset(
    {
        Opcode.IS_OP,
        Opcode.CONTAINS_OP,
        Opcode.CHECK_EXC_MATCH,
        Opcode.MATCH_MAPPING,
        Opcode.MATCH_SEQUENCE,
        Opcode.SEND,
        Opcode.FOR_NEXT,
    }
)


def build(code: RawCode, table: Table) -> list[Block]:
    """The reachable blocks of the code."""
    return _Builder(code, table).run()


class _Builder:
    def __init__(self, code: RawCode, table: Table) -> None:
        self.code = code
        self.table = table
        self.insts = code.insts
        self.index = {inst.start: i for i, inst in enumerate(code.insts)}
        self.rules = [self.rule(inst) for inst in code.insts]
        self.handlers = sorted(code.handlers, key=lambda h: h.start)
        self.handler_starts = [h.start for h in self.handlers]
        self.leaders = self.find_leaders()
        self.blocks: list[Block] = []
        self.at: dict[int, int] = {}  # index of the first instruction -> block
        self.pending: list[tuple[int, int]] = []

    def rule(self, inst: RawInst) -> Rule:
        rule = self.table.get(inst.opname)
        if rule is None:
            raise BytecodeError(f"unknown instruction {inst.opname}", inst.loc.offset, inst.loc.line)
        return rule

    def find_leaders(self) -> set[int]:
        """Indices of instructions that start a block."""
        leaders = {0}
        for i, rule in enumerate(self.rules):
            if rule.flow is Flow.NEXT and not rule.ends_block:
                continue
            leaders.add(i + 1)
            if rule.flow is Flow.FOR:
                leaders.add(i)
            if rule.flow in (Flow.JUMP, Flow.BRANCH, Flow.FOR):
                leaders.add(self.target(i))
        for handler in self.handlers:
            for offset in (handler.start, handler.end, handler.target):
                if offset in self.index:
                    leaders.add(self.index[offset])
                elif offset != self.insts[-1].next or offset == handler.target:
                    raise BytecodeError("the exception table points between instructions", offset)
        return leaders

    def target(self, i: int) -> int:
        """Index of the instruction that instruction i jumps to."""
        inst, rule = self.insts[i], self.rules[i]
        offset = inst.next - 2 * inst.arg if rule.backward else inst.next + 2 * inst.arg
        j = self.index.get(offset)
        if j is None:
            raise BytecodeError("a jump goes between instructions", inst.loc.offset, inst.loc.line)
        for name in rule.skip:
            if j + 1 < len(self.insts) and self.insts[j].opname == name:
                j += 1
        return j

    def run(self) -> list[Block]:
        if not self.insts:
            raise BytecodeError("the code is empty")
        self.block_at(0, "")
        while self.pending:
            first, block = self.pending.pop()
            self.fill(first, self.blocks[block])
        for first, number in self.at.items():
            self.blocks[number].around = self.around(self.insts[first].start)
        return self.blocks

    def block_at(self, first: int, layout: str) -> int:
        """The block that starts at an instruction, entered with this layout."""
        if first >= len(self.insts):
            raise BytecodeError("control falls off the end of the code", self.insts[-1].loc.offset)
        known = self.at.get(first)
        loc = self.insts[first].loc
        if known is None:
            known = self.at[first] = len(self.blocks)
            self.blocks.append(Block([], layout, loc))
            self.pending.append((first, known))
        elif self.blocks[known].entry != layout:
            raise BytecodeError("two ways to an instruction leave different stacks", loc.offset, loc.line)
        return known

    def edge(self, first: int, layout: str, operations: Ops, loc: Loc) -> int:
        """The block at an instruction, by way of a block of its own for the operations of this edge."""
        if not operations:
            return self.block_at(first, layout)
        emitter = Emitter(layout)
        emitter.loc = loc
        for op, arg in operations:
            emitter.emit(op, arg)
        block = Block(emitter.insts, layout, loc)
        number = len(self.blocks)
        self.blocks.append(block)
        block.succs = [self.block_at(first, emitter.layout)]
        return number

    def handler_of(self, offset: int) -> Handler | None:
        i = bisect_right(self.handler_starts, offset) - 1
        if i >= 0 and offset < self.handlers[i].end:
            return self.handlers[i]
        return None

    def around(self, offset: int) -> int:
        """The block of the innermost handler around an offset, those left out that nothing can reach."""
        seen: set[int] = set()
        handler = self.handler_of(offset)
        while handler is not None and handler.target not in seen:
            known = self.at.get(self.index[handler.target])
            if known is not None:
                return known
            seen.add(handler.target)
            handler = self.handler_of(handler.target)
        return -1

    def fill(self, first: int, block: Block) -> None:
        """Decodes the instructions of a block and its way out."""
        e = Emitter(block.entry)
        e.insts = block.insts
        insts, rules, leaders, code = self.insts, self.rules, self.leaders, self.code
        i = first
        while True:
            inst, rule = insts[i], rules[i]
            e.loc = inst.loc
            try:
                value = rule.operand(code, inst.arg)
            except IndexError:
                e.fail(f"operand {inst.arg} of {inst.opname} is out of range")
            rule.effect(e, value, inst.arg)
            i += 1
            if rule.flow is not Flow.NEXT:
                self.leave(i - 1, block, e)
                break
            if i in leaders or i >= len(insts):
                block.succs = [self.block_at(i, e.layout)]
                break
        if block.can_raise():
            self.protect(insts[first].start, block)

    def protect(self, offset: int, block: Block) -> None:
        """Finds the handler of a block, if an exception can leave it."""
        handler = self.handler_of(offset)
        if handler is None:
            return
        if handler.depth > len(block.entry):
            raise BytecodeError("an exception handler expects more on the stack than there is", offset)
        kept = block.entry[: handler.depth]
        block.depth, block.lasti = kept.count("v"), handler.lasti
        _check_depth(block)
        block.handler = self.block_at(self.index[handler.target], kept + ("lv" if handler.lasti else "v"))

    def leave(self, i: int, block: Block, e: Emitter) -> None:
        """The way out by control instruction i."""
        inst, rule = self.insts[i], self.rules[i]
        block.flow, block.loc = rule.flow, inst.loc
        if rule.flow is Flow.JUMP:
            block.succs = [self.block_at(self.target(i), e.layout)]
        elif rule.branch is not None:
            branch = rule.branch
            block.test_raises = drop_bool(e) or not (branch.takes_bool or (e.insts and e.insts[-1].op in BOOLEANS))
            taken = self.edge(self.target(i), e.layout, branch.taken, inst.loc)
            passed = self.edge(i + 1, e.layout, branch.passed, inst.loc)
            block.succs = [taken, passed] if branch.when else [passed, taken]
        elif rule.flow is Flow.FOR:
            if not e.layout.endswith("v"):
                e.fail("a for loop needs an iterator on the stack")
            body = self.block_at(i + 1, e.layout + "v")
            block.succs = [body, self.block_at(self.target(i), e.layout[:-1])]
        elif rule.flow is Flow.RAISE:
            block.argc = inst.arg


def _check_depth(block: Block) -> None:
    """The operations of a protected block leave the values alone that its handler expects."""
    depth = block.entry.count("v")
    for inst in block.insts:
        pops, pushes = effect(inst.op, inst.arg)
        taken = max(pops - pushes, 0) if inst.op in PEEKS else pops
        if depth - taken < block.depth:
            raise BytecodeError("an exception handler expects values that are gone", inst.loc.offset, inst.loc.line)
        depth += pushes - pops
    if depth - _OPERANDS.get(block.flow, block.argc) < block.depth:
        raise BytecodeError("an exception handler expects values that are gone", block.loc.offset, block.loc.line)


_OPERANDS = {Flow.JUMP: 0, Flow.BRANCH: 1, Flow.FOR: 1, Flow.RETURN: 1, Flow.RERAISE: 1}
