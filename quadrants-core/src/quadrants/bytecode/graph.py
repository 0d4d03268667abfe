"""The control-flow graph of the blocks: order, dominators, natural loops, and node splitting where flow is irreducible.

Takes blocks (see `blocks`), exception edges included; gives a `Graph` whose nodes are numbered in reverse postorder, so
that node 0 is the entry and every edge to a smaller or equal number goes back to a loop header. Legal on any graph.
"""

from __future__ import annotations

from dataclasses import replace

from quadrants._frozen import record

from .blocks import Block
from .copies import merge_copies
from .error import BytecodeError
from .opcode import Inst, Opcode
from .rules import Flow

SPLIT_LIMIT = 20_000  # blocks; compilers never need a split, so this only stops code made to blow up


@record
class Graph:
    """Nodes in reverse postorder. Node sets are bit masks. `loops`: header -> the nodes of its natural loop."""

    blocks: list[Block]
    preds: list[list[int]]
    idom: list[int]
    loops: dict[int, int]
    splits: int

    def dominates(self, a: int, b: int) -> bool:
        idom = self.idom
        while b > a:
            b = idom[b]
        return a == b


def successors(block: Block) -> list[int]:
    """All ways out, the handler last."""
    return block.succs if block.handler < 0 else [*block.succs, block.handler]


def make(blocks: list[Block]) -> Graph:
    """The graph of the blocks that are reachable from block 0."""
    return _make(_thread(merge_copies(_join(_order(_thread(blocks))))), 0)


def _make(blocks: list[Block], splits: int) -> Graph:
    while True:
        blocks = _order(blocks)
        preds = _predecessors(blocks)
        idom = _dominators(blocks, preds)
        graph = Graph(blocks, preds, idom, {}, splits)
        if not _find_loops(graph):
            blocks = split(blocks)
            splits += 1
        elif not _leave_inner_loops_first(graph):
            return graph


def _leave_inner_loops_first(graph: Graph) -> bool:
    """Where a loop inside another is left right to the outer one's next iteration, puts an empty block on the way, so that
    the inner loop is left to just behind it and only then the outer one continues. Whether there was such a place."""
    blocks, loops = graph.blocks, graph.loops
    once = [i for i, block in enumerate(blocks) if block.flow is Flow.FOR and i not in loops]
    found = False
    for header, nodes in loops.items():
        inner = [h for h in sorted([*loops, *once]) if h != header and nodes >> h & 1]  # outer ones first
        ways: dict[int, int] = {}
        for latch in graph.preds[header] if inner else ():
            # What an inner header dominates counts too: the handlers of a loop are placed inside it, and may leave it.
            around = next((h for h in inner if graph.dominates(h, latch)), None)
            block = blocks[latch]
            if latch < header or around is None or block.is_empty_jump() or header not in block.succs:
                continue
            if around not in ways:
                ways[around] = len(blocks)
                blocks.append(Block([], blocks[header].entry, blocks[header].loc, Flow.JUMP, [header]))
            block.succs = [ways[around] if s == header else s for s in block.succs]
            found = True
    return found


def _thread(blocks: list[Block]) -> list[Block]:
    """Sends edges past blocks that only jump."""
    goal = list(range(len(blocks)))
    for i in range(len(blocks)):
        seen = {i}
        j = i
        while blocks[j].is_empty_jump() and blocks[j].succs[0] not in seen:
            j = blocks[j].succs[0]
            seen.add(j)
        goal[i] = j
    for block in blocks:
        block.succs = [goal[s] for s in block.succs]
    return blocks


def _join(blocks: list[Block]) -> list[Block]:
    """Appends to a block the one that only it leads to, where both have the same handler or the second is a mere test."""
    preds = _predecessors(blocks)
    for i in range(len(blocks) - 1, -1, -1):
        first = blocks[i]
        if first.flow is not Flow.JUMP or len(preds[first.succs[0]]) != 1 or first.succs[0] <= i:
            continue
        second = blocks[first.succs[0]]
        if first.handler == second.handler and first.depth == second.depth:
            if first.handler < 0 and first.around != second.around:
                continue  # one of them may be the first of a handler
            first.insts += second.insts
        elif second.insts or second.can_raise():
            continue
        elif first.insts and first.insts[-1].op is Opcode.UNARY and first.insts[-1].arg == "bool":
            first.insts.pop()
            second.test_raises = True
        first.flow, first.succs, first.loc, first.argc = second.flow, second.succs, second.loc, second.argc
        first.test_raises = second.test_raises
        second.insts, second.flow, second.succs = [], Flow.JUMP, [i]  # nothing leads to it any more
    return blocks


def _order(blocks: list[Block]) -> list[Block]:
    """Reverse postorder. Later successors are visited first, so that the first one comes first in the order."""
    post: list[int] = []
    state = bytearray(len(blocks))
    stack = [(0, iter(reversed(successors(blocks[0]))))]
    state[0] = 1
    while stack:
        node, todo = stack[-1]
        for s in todo:
            if not state[s]:
                state[s] = 1
                stack.append((s, iter(reversed(successors(blocks[s])))))
                break
        else:
            post.append(node)
            stack.pop()
    post.reverse()
    number = {old: new for new, old in enumerate(post)}
    out = [blocks[old] for old in post]
    for block in out:
        block.succs = [number[s] for s in block.succs]
        if block.handler >= 0:
            block.handler = number[block.handler]
        block.around = number.get(block.around, -1)
    return out


def _predecessors(blocks: list[Block]) -> list[list[int]]:
    preds: list[list[int]] = [[] for _ in blocks]
    for i, block in enumerate(blocks):
        for s in successors(block):
            preds[s].append(i)
    return preds


def _dominators(blocks: list[Block], preds: list[list[int]]) -> list[int]:
    """Immediate dominators (Cooper, Harvey, Kennedy), on nodes numbered in reverse postorder."""
    idom = [-1] * len(blocks)
    idom[0] = 0
    changed = True
    while changed:
        changed = False
        for b in range(1, len(blocks)):
            new = -1
            for p in preds[b]:
                if idom[p] < 0:
                    continue
                if new < 0:
                    new = p
                    continue
                q = p
                while new != q:
                    if new > q:
                        new = idom[new]
                    else:
                        q = idom[q]
            if new != idom[b]:
                idom[b] = new
                changed = True
    return idom


def _find_loops(graph: Graph) -> bool:
    """Fills in the natural loops; false if an edge goes back to a node that does not dominate its source."""
    latches: dict[int, list[int]] = {}
    for i, block in enumerate(graph.blocks):
        for s in successors(block):
            if s <= i:
                if not graph.dominates(s, i):
                    return False
                latches.setdefault(s, []).append(i)
    for header, sources in latches.items():
        graph.loops[header] = closure(graph.preds, sources, header)
    return True


def lower_loops(graph: Graph, headers: list[int]) -> Graph:
    """Turns `for` headers into an operation that advances the iterator and a branch on whether there was an item."""
    blocks = graph.blocks
    for header in headers:
        block = blocks[header]
        body, end = block.succs
        pops = [Inst(Opcode.POP_TOP, None, block.loc)] * 2
        blocks.append(Block(pops, block.entry, block.loc, Flow.JUMP, [end]))
        block.insts = [*block.insts, Inst(Opcode.FOR_NEXT, None, block.loc)]
        block.flow, block.succs, block.test_raises = Flow.BRANCH, [body, len(blocks) - 1], False
    return _make(blocks, graph.splits)


def closure(preds: list[list[int]], seeds: list[int], header: int) -> int:
    """The nodes from which a seed can be reached without passing the header, which is a member too (a bit mask)."""
    mask = 1 << header
    todo = list(seeds)
    while todo:
        node = todo.pop()
        if mask >> node & 1:
            continue
        mask |= 1 << node
        todo += preds[node]
    return mask


def split(blocks: list[Block]) -> list[Block]:
    """Copies the nodes of one loop with several entries, all but the entry that becomes its header."""
    for component in _components(blocks, set(range(len(blocks)))):
        found = _several_entries(blocks, component)
        if found is None:
            continue
        header, inside = found
        body = sorted(inside - {header})
        if len(blocks) + len(body) > SPLIT_LIMIT:
            raise BytecodeError("the control flow cannot be structured: too many jumps into loops", 0)
        copy = {old: len(blocks) + k for k, old in enumerate(body)}
        for old in body:
            blocks.append(replace(blocks[old], insts=list(blocks[old].insts), succs=list(blocks[old].succs)))
        for i in (*(i for i in range(len(blocks) - len(body)) if i not in inside), *copy.values()):
            block = blocks[i]
            block.succs = [copy.get(s, s) for s in block.succs]
            block.handler = copy.get(block.handler, block.handler)
            block.around = copy.get(block.around, block.around)
        return blocks
    raise BytecodeError("the control flow cannot be structured", 0)


def _several_entries(blocks: list[Block], component: set[int]) -> tuple[int, set[int]] | None:
    """Finds, in a strongly connected component or nested within it, one with more than one entry."""
    while True:
        entries = sorted(
            {s for i, block in enumerate(blocks) if i not in component for s in successors(block) if s in component}
            | ({0} & component)
        )
        if len(entries) > 1:
            return entries[0], component
        inner = _components(blocks, component - set(entries))
        for part in inner[1:]:
            found = _several_entries(blocks, part)
            if found is not None:
                return found
        if not inner:
            return None
        component = inner[0]


def _components(blocks: list[Block], nodes: set[int]) -> list[set[int]]:
    """Strongly connected components with a cycle, within some nodes (Tarjan, without recursion)."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    on_stack: set[int] = set()
    stack: list[int] = []
    out: list[set[int]] = []
    for root in sorted(nodes):
        if root in index:
            continue
        work = [(root, iter(successors(blocks[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, todo = work[-1]
            for s in todo:
                if s not in nodes:
                    continue
                if s not in index:
                    index[s] = low[s] = len(index)
                    stack.append(s)
                    on_stack.add(s)
                    work.append((s, iter(successors(blocks[s]))))
                    break
                if s in on_stack:
                    low[node] = min(low[node], index[s])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    part: set[int] = set()
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        part.add(member)
                        if member == node:
                            break
                    if len(part) > 1 or node in successors(blocks[node]):
                        out.append(part)
    return out
