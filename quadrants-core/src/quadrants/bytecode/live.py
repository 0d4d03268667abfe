"""Liveness of locals: a backward data flow over the graph, on bit masks.

Takes a `Graph`; gives, for every node, the locals whose value may be read from there on. Handlers may be entered from
anywhere in the blocks that they protect.

A comprehension that the compiler inlined saves and empties the slots of its variables (LOAD_LOCAL_OR_UNDEF) and restores
them at its end. Both count as nothing here, so a variable is live before the comprehension only if it is read after it.
Which stores restore cannot be seen for certain; so of the stores to such variables only those that take a loop's item
end liveness, which at worst makes a variable live for too long.
"""

from __future__ import annotations

from .graph import Graph
from .opcode import Inst, Opcode
from .rules import Flow

_ITEM_OPS = frozenset(
    {Opcode.UNPACK, Opcode.UNPACK_EX, Opcode.STORE_LOCAL, Opcode.STORE_DEREF, Opcode.SWAP, Opcode.COPY}
)
_CHANGES = frozenset(
    {
        *(Opcode.STORE_LOCAL, Opcode.DELETE_LOCAL, Opcode.LOAD_LOCAL_OR_UNDEF),
        *(Opcode.STORE_DEREF, Opcode.DELETE_DEREF),
    }
)


class Locals:
    """Bit masks over the variables of one function, and what its operations do to them. Cells and free variables (`always`)
    count as live everywhere, since functions made inside read them.
    """

    def __init__(self, graph: Graph, slots: tuple[str, ...], always: frozenset[str]) -> None:
        self.bit = {name: 1 << i for i, name in enumerate((*slots, *sorted(always.difference(slots))))}
        self.always = always
        self.sets: dict[int, frozenset[str]] = {}
        self.saved = 0  # variables of inlined comprehensions
        self.items: set[int] = set()  # stores (by identity) that take the item of a loop
        for block in graph.blocks:
            for inst in block.insts:
                if inst.op is Opcode.LOAD_LOCAL_OR_UNDEF:
                    self.saved |= self.bit[str(inst.arg)]
        if self.saved:
            self.find_item_stores(graph)

    def find_item_stores(self, graph: Graph) -> None:
        for block in graph.blocks:
            if block.flow is Flow.FOR:
                for inst in graph.blocks[block.succs[0]].insts:
                    if inst.op not in _ITEM_OPS:
                        break
                    self.items.add(id(inst))

    def names(self, mask: int) -> frozenset[str]:
        """The set of a mask, with the cells and free variables."""
        known = self.sets.get(mask)
        if known is None:
            known = self.sets[mask] = frozenset(name for name, bit in self.bit.items() if bit & mask) | self.always
        return known

    def plain(self, mask: int) -> frozenset[str]:
        return frozenset(name for name, bit in self.bit.items() if bit & mask)

    def before(self, insts: list[Inst], live: int) -> int:
        """What is live before some operations, given what is live after."""
        for inst in reversed(insts):
            op = inst.op
            if op is Opcode.LOAD_LOCAL or op is Opcode.DELETE_LOCAL:
                live |= self.bit[str(inst.arg)]
            elif op is Opcode.STORE_LOCAL:
                bit = self.bit[str(inst.arg)]
                if not bit & self.saved or id(inst) in self.items:
                    live &= ~bit
        return live

    def changed(self, insts: list[Inst]) -> int:
        """The variables that some operations store or delete."""
        mask = 0
        for inst in insts:
            if inst.op in _CHANGES:
                mask |= self.bit[str(inst.arg)]
        return mask


def live_in(graph: Graph, slots: Locals) -> list[int]:
    """The mask of live locals at the start of every node."""
    count = len(graph.blocks)
    every = -1
    gen = [slots.before(block.insts, 0) for block in graph.blocks]
    kept = [slots.before(block.insts, every) for block in graph.blocks]  # what survives from the end
    live = [0] * count
    changed = True
    while changed:
        changed = False
        for node in range(count - 1, -1, -1):
            block = graph.blocks[node]
            out = 0
            for s in block.succs:
                out |= live[s]
            new = gen[node] | (out & kept[node])
            if block.handler >= 0:
                new |= live[block.handler]
            if new != live[node]:
                live[node] = new
                changed = True
    return live
