"""Explicit tree -> explicit tree with `try` nodes, from the handlers that the blocks carry.

Takes the list of `structure`; gives one in which neighbours with a common handler lie in one `XTry`. Code that cannot
raise goes with either side. The handler of an `XTry` begins as a jump to the handler's code; if that jump is the only
one, the code moves into the node. Where a test or the advance of a `for` is protected but what it leads to is not, it is
made an operation of its own first, so nothing is ever protected that was not.
"""

from __future__ import annotations

from dataclasses import replace

from .graph import Graph
from .opcode import SILENT, Inst, Opcode
from .rules import Flow
from .structure import X, XBlock, XCode, XEnd, XFor, XIf, XJump, XLoop, XTry

Chain = tuple[int, ...]


def protect(graph: Graph, items: list[X]) -> list[X]:
    """The same code with its `try` nodes."""
    if all(block.handler < 0 for block in graph.blocks):
        return items
    return _Protector(graph).wrap(items, 0)


class _Protector:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.covers: dict[int, tuple[X, Chain | None]] = {}  # by identity; the item is kept, so that ids stay unique
        self.fresh = len(graph.blocks)
        self.open_loops: list[int] = []
        self.entering: dict[int, tuple[int, bool]] = {}
        for block in graph.blocks:
            if block.handler >= 0:
                self.entering.setdefault(block.handler, (block.depth, block.lasti))

    def cover(self, item: X) -> Chain | None:
        """The handlers around everything in the item that can raise; None if nothing can."""
        known = self.covers.get(id(item))
        if known is None:
            known = self.covers[id(item)] = (item, self.compute(item))
        return known[1]

    def compute(self, item: X) -> Chain | None:
        match item:
            case XJump():
                return None
            case XCode(block, chain):
                return chain if chain or any(inst.op not in SILENT for inst in block.insts) else None
            case XEnd(block, chain):
                return None if block.flow is Flow.RETURN else chain
            case XIf(block, chain, then, orelse, safe):
                own = None if safe or not block.test_raises else chain
                return _common([own, self.cover_all(then), self.cover_all(orelse)])
            case XLoop(label, body) | XBlock(label, body):
                # What the jump to a handler is relative to stays outside of the node that it is the handler of.
                return _before(label, self.cover_all(body))
            case XFor(label, _, chain, body):
                return _before(label, _common([chain, self.cover_all(body)]))
            case XTry(_, _, _, body, handler):
                return self.cover_all(handler)

    def cover_all(self, items: list[X]) -> Chain | None:
        return _common([self.cover(item) for item in items])

    def wrap(self, items: list[X], depth: int) -> list[X]:
        """Groups neighbours below the `depth` handlers that are around already."""
        items = self.detach(items, depth)
        out: list[X] = []
        i = 0
        while i < len(items):
            chain = self.cover(items[i])
            if chain is None or len(chain) <= depth:
                out.append(self.inner(items[i], depth))
                i += 1
                continue
            handler = chain[depth]
            end = self.run_end(items, i, depth, handler)
            out.append(self.make_try(handler, items[i:end], depth))
            i = end
        return self.inline_handlers(out)

    def run_end(self, items: list[X], start: int, depth: int, handler: int) -> int:
        """Where the run that one handler protects ends; what cannot raise is part of it only inside or at the very end."""
        end = i = start + 1
        while i < len(items):
            chain = self.cover(items[i])
            if chain is None:
                i += 1
                continue
            if len(chain) <= depth or chain[depth] != handler:
                return end
            i += 1
            end = i
        return i

    def make_try(self, handler: int, run: list[X], depth: int) -> X:
        body = self.wrap(run, depth + 1)
        cut, lasti = self.entering[handler]
        leaves = _leaves(body)
        label = self.fresh
        if not leaves:
            self.fresh += 1
            body.append(XJump(label, False))
        node = XTry(handler, cut, lasti, body, [XJump(handler, handler in self.open_loops)])
        return node if leaves else XBlock(label, [node])

    def inner(self, item: X, depth: int) -> X:
        """Wraps within an item that as a whole needs no further handler."""
        match item:
            case XIf():
                item.then = self.wrap(item.then, depth)
                item.orelse = self.wrap(item.orelse, depth)
            case XBlock():
                item.body = self.wrap(item.body, depth)
            case XLoop() | XFor():
                self.open_loops.append(item.label)
                item.body = self.wrap(item.body, depth)
                self.open_loops.pop()
        return item

    def detach(self, items: list[X], depth: int) -> list[X]:
        """Makes tests and advances that need more handlers than their arms operations of their own."""
        out: list[X] = []
        for item in items:
            safe = isinstance(item, XIf) and (item.safe or not item.block.test_raises)
            if isinstance(item, XIf | XFor) and len(item.chain) > depth and not safe:
                cover = self.cover(item)
                if cover is None or len(cover) <= depth:
                    out += self.split(item)
                    continue
            out.append(item)
        return out

    def split(self, item: XIf | XFor) -> list[X]:
        inst = Inst(Opcode.UNARY, "bool", item.block.loc)
        if isinstance(item, XIf):
            item.safe = True
            self.covers.pop(id(item), None)
            return [XCode(replace(item.block, insts=[inst], flow=Flow.JUMP), item.chain), item]
        advance = replace(item.block, insts=[Inst(Opcode.FOR_NEXT, None, item.block.loc)], flow=Flow.JUMP)
        finish = replace(item.block, insts=[_pop(item), _pop(item)], flow=Flow.JUMP, handler=-1)
        done = self.fresh
        self.fresh += 1
        test = XIf(item.block, item.chain, [], [XJump(done, False)], safe=True)
        loop = XLoop(item.label, [XCode(advance, item.chain), test, *item.body])
        return [XBlock(done, [loop]), XCode(finish, ())]

    def inline_handlers(self, items: list[X]) -> list[X]:
        """Moves the code of a handler into its `XTry` where only that leads to it."""
        for i, item in enumerate(items):
            if isinstance(item, XBlock) and item.label in self.entering and item.label < len(self.graph.blocks):
                owners: list[XTry | None] = []
                _owners(item.body, item.label, True, owners)
                owner = owners[0] if len(owners) == 1 else None
                if owner is not None:
                    rest = self.inline_handlers(items[i + 1 :])
                    if not _leaves(rest):
                        continue
                    owner.handler = rest
                    return [*items[:i], *self.inline_handlers(item.body)]
        return items


def _pop(item: XFor) -> Inst:
    return Inst(Opcode.POP_TOP, None, item.block.loc)


def _common(chains: list[Chain | None]) -> Chain | None:
    """The longest common prefix of those that are given."""
    known = [chain for chain in chains if chain is not None]
    if not known:
        return None
    first = min(known, key=len)
    for i, handler in enumerate(first):
        if any(chain[i] != handler for chain in known):
            return first[:i]
    return first


def _before(label: int, chain: Chain | None) -> Chain | None:
    """The handlers around the one with this label."""
    return chain[: chain.index(label)] if chain and label in chain else chain


def _leaves(items: list[X]) -> bool:
    """Whether control never reaches the end of the sequence (in an explicit tree: unless it ends in code or an If)."""
    if not items:
        return False
    match items[-1]:
        case XJump() | XEnd() | XLoop():
            return True
        case XIf(_, _, then, orelse):
            return _leaves(then) and _leaves(orelse)
        case XBlock(_, body):
            return _leaves(body) and not _exits(body, items[-1].label)
        case XTry(_, _, _, body, handler):
            return _leaves(body) and _leaves(handler)
    return False


def _exits(items: list[X], label: int) -> bool:
    """Whether a sequence holds an exit to the label."""
    for item in items:
        match item:
            case XJump(target, back):
                if target == label and not back:
                    return True
            case XIf(_, _, first, second) | XTry(_, _, _, first, second):
                if _exits(first, label) or _exits(second, label):
                    return True
            case XLoop(_, body) | XFor(_, _, _, body) | XBlock(_, body):
                if _exits(body, label):
                    return True
    return False


def _owners(items: list[X], label: int, open_: bool, out: list[XTry | None]) -> None:
    """Collects the exits to a handler: the `XTry` that one belongs to, or None where the code cannot move to it."""
    for item in items:
        match item:
            case XJump(target, False) if target == label:
                out.append(None)
            case XTry(node, _, _, body, handler):
                _owners(body, label, False, out)
                if node == label and len(handler) == 1 and isinstance(handler[0], XJump):
                    out.append(item if open_ else None)
                else:
                    _owners(handler, label, open_, out)
            case XIf(_, _, first, second):
                _owners(first, label, open_, out)
                _owners(second, label, open_, out)
            case XLoop(_, body) | XFor(_, _, _, body) | XBlock(_, body):
                _owners(body, label, open_, out)
