"""Graph -> explicit tree: every path of it ends in a jump, and each node of the graph occurs once.

Takes a `Graph` and its `Layout`; gives a list of explicit nodes (the `X...` classes), which `simplify` turns into the
public tree. The method is Ramsey's ("Beyond Relooper", 2022): a node that several edges lead to is placed behind a block
around its immediate dominator, edges forward become exits of such blocks, edges backward become `Continue`. Sequences
grow in a loop and only the smaller arm of a branch recurses, so the recursion is as deep as the nesting of the source.
"""

from __future__ import annotations

from dataclasses import field

from quadrants._frozen import record

from .blocks import Block
from .graph import Graph
from .regions import Layout
from .rules import Flow


@record
class XCode:
    """The operations of a block; `chain` are the handlers around it, outermost first."""

    block: Block
    chain: tuple[int, ...]


@record
class XEnd:
    """Return, Raise or Reraise."""

    block: Block
    chain: tuple[int, ...]


@record
class XJump:
    """Exit of a block (`back` false) or Continue of a loop."""

    label: int
    back: bool


@record
class XIf:
    block: Block
    chain: tuple[int, ...]
    then: list[X] = field(default_factory=list)
    orelse: list[X] = field(default_factory=list)
    safe: bool = False  # testing the value cannot raise


@record
class XLoop:
    label: int
    body: list[X]


@record
class XFor:
    """What follows it is the way taken at the end of the iterator."""

    label: int
    block: Block
    chain: tuple[int, ...]
    body: list[X]


@record
class XBlock:
    label: int
    body: list[X]


@record
class XTry:
    handler_node: int
    depth: int
    lasti: bool
    body: list[X]
    handler: list[X]


X = XCode | XEnd | XJump | XIf | XLoop | XFor | XBlock | XTry


def structure(graph: Graph, layout: Layout) -> list[X]:
    """The explicit tree of the whole graph."""
    return _Structurer(graph, layout).tree(0)


class _Structurer:
    def __init__(self, graph: Graph, layout: Layout) -> None:
        self.graph = graph
        self.layout = layout
        self.sizes = self.subtree_sizes()

    def subtree_sizes(self) -> list[int]:
        """Number of nodes that each node dominates."""
        sizes = [1] * len(self.graph.blocks)
        for node in range(len(sizes) - 1, 0, -1):
            sizes[self.graph.idom[node]] += sizes[node]
        return sizes

    def tree(self, node: int | None) -> list[X]:
        """The code of a node and of everything placed behind it."""
        out: list[X] = []
        while node is not None:
            if not self.layout.after[node] and node not in self.layout.regions:
                node = self.node(node, out, [])
            else:
                node = self.with_followers(node, out)
        return out

    def closed(self, node: int, inside: list[int]) -> list[X]:
        """The code of a node and what its jumps lead to in place, without what is placed behind it."""
        out: list[X] = []
        following = self.node(node, out, inside)
        if following is not None:
            out += self.tree(following)
        return out

    def with_followers(self, node: int, out: list[X]) -> int | None:
        """A node, the regions that start at it from the inside out, and the nodes placed behind each.
        Gives the last of these, for the caller to go on with."""
        waiting = self.layout.after[node]
        regions = self.layout.regions.get(node, [])
        is_for = self.graph.blocks[node].flow is Flow.FOR
        inside: list[int] = []
        if is_for:
            for region in regions:
                if region.is_loop:
                    inside = [n for n in waiting if region.nodes >> n & 1]
        waiting = [n for n in waiting if n not in inside]
        if is_for and not waiting:
            return self.node(node, out, inside)
        items = self.closed(node, inside)
        for region in regions:
            items = self.follow(items, [n for n in waiting if region.nodes >> n & 1])
            waiting = [n for n in waiting if not region.nodes >> n & 1]
            if region.is_loop and not is_for:
                items = [XLoop(node, items)]
        if not waiting:
            out += items
            return None
        items = self.follow(items, waiting[:-1])
        out.append(XBlock(waiting[-1], items))
        return waiting[-1]

    def follow(self, items: list[X], nodes: list[int]) -> list[X]:
        for node in nodes:
            items = [XBlock(node, items), *self.tree(node)]
        return items

    def jump(self, source: int, target: int) -> XJump | None:
        """The jump for an edge, or None if the target's code comes right here."""
        if target <= source:
            return XJump(target, True)
        if target in self.layout.placed:
            return XJump(target, False)
        return None

    def arm(self, source: int, target: int) -> list[X]:
        jump = self.jump(source, target)
        return self.tree(target) if jump is None else [jump]

    def node(self, node: int, out: list[X], inside: list[int]) -> int | None:
        """Appends the code of one node; gives the node whose code comes next in the same sequence, if any."""
        block, chain = self.graph.blocks[node], self.layout.chains[node]
        if block.insts:
            out.append(XCode(block, chain))
        if block.flow is Flow.JUMP:
            return self.go(node, block.succs[0], out)
        if block.flow is Flow.BRANCH:
            return self.branch(node, block, out)
        if block.flow is Flow.FOR:
            body = self.follow(self.arm(node, block.succs[0]), inside)
            out.append(XFor(node, block, chain, body))
            return self.go(node, block.succs[1], out)
        out.append(XEnd(block, chain))
        return None

    def go(self, source: int, target: int, out: list[X]) -> int | None:
        jump = self.jump(source, target)
        if jump is None:
            return target
        out.append(jump)
        return None

    def branch(self, node: int, block: Block, out: list[X]) -> int | None:
        """An If whose larger arm, if its code comes here, follows the If instead of nesting in it."""
        yes, no = block.succs
        item = XIf(block, self.layout.chains[node])
        out.append(item)
        yes_jump, no_jump = self.jump(node, yes), self.jump(node, no)
        if yes_jump is None and (no_jump is not None or self.sizes[yes] >= self.sizes[no]):
            item.orelse = self.arm(node, no)
            return yes
        item.then = self.arm(node, yes)
        if no_jump is None:
            return no
        item.orelse = [no_jump]
        return None
