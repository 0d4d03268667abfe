"""Where each node of the graph goes: which regions (loops, protected ranges) it lies in, and behind which node it is
placed.

Takes a `Graph`; gives a `Layout`. A region is a header and a set of nodes that contains all predecessors of its members
except the header's. Code that leaves a region is placed behind the region, not inside it, so that a loop holds what is
repeated and a `try` what is protected. Small final blocks (`return`, `raise`) stay where they are reached.
"""

from __future__ import annotations

from quadrants._frozen import record

from .graph import Graph, closure, successors
from .rules import Flow

FINAL = frozenset({Flow.RETURN, Flow.RAISE, Flow.RERAISE})


@record
class Region:
    """A loop, or the range that one handler protects."""

    header: int
    nodes: int
    is_loop: bool


@record
class Layout:
    """`after`: nodes placed behind each node, in order. `regions`: by header, inner ones first.
    `placed`: nodes that are in some `after`. `chains`: the handlers that protect each node, outer ones first."""

    after: list[list[int]]
    regions: dict[int, list[Region]]
    placed: set[int]
    chains: list[tuple[int, ...]]


def place(graph: Graph) -> Layout:
    """Decides the place of every node."""
    chains = _chains(graph)
    regions = _regions(graph, chains)
    by_header: dict[int, list[Region]] = {}
    for region in sorted(regions, key=lambda r: (r.nodes.bit_count(), not r.is_loop)):
        by_header.setdefault(region.header, []).append(region)
    layout = Layout([[] for _ in graph.blocks], by_header, set(), chains)
    handlers = {block.handler for block in graph.blocks if block.handler >= 0}
    forward = [0] * len(graph.blocks)
    for i, block in enumerate(graph.blocks):
        for s in block.succs:
            forward[s] += s > i
    first_exits = _first_exits(graph, regions)
    for node in range(1, len(graph.blocks)):
        home = graph.idom[node]
        stays = forward[node] == 1 and node not in handlers
        left = [r for r in regions if r.nodes >> home & 1 and not r.nodes >> node & 1]
        if stays and graph.blocks[home].flow is Flow.FOR and graph.blocks[home].succs[1] == node:
            left = [r for r in left if not (r.is_loop and r.header == home)]  # it follows the For node anyway
        if left and not (stays and _is_small_end(graph, node, left, first_exits)):
            home = max(left, key=lambda r: r.nodes.bit_count()).header
        elif stays:
            continue
        layout.after[home].append(node)
        layout.placed.add(node)
    return layout


def unfit_loops(graph: Graph, layout: Layout) -> list[int]:
    """The `for` headers that cannot become a `For` node: the end of the iterator leads back into the loop, or a handler's
    code is the header, or an exception of the header itself is handled inside the loop. No compiler makes these."""
    handlers = {block.handler for block in graph.blocks}
    out = []
    for header, nodes in graph.loops.items():
        block = graph.blocks[header]
        if block.flow is not Flow.FOR:
            continue
        grown = next(r.nodes for r in layout.regions[header] if r.is_loop)
        inside = any(grown >> h & 1 and h in layout.after[header] for h in layout.chains[header])
        if nodes >> block.succs[1] & 1 or header in handlers or inside:
            out.append(header)
    return out


def _is_small_end(graph: Graph, node: int, left: list[Region], first_exits: set[int]) -> bool:
    """Whether code that leaves these regions may stay inside: it is short, final, and the text does not move with it."""
    block = graph.blocks[node]
    if block.flow not in FINAL or node in first_exits:
        return False
    if block.can_raise() and any(not region.is_loop for region in left):
        return False
    return True


def _first_exits(graph: Graph, regions: list[Region]) -> set[int]:
    """For each loop the first node outside that it leads to: that is where the program goes on."""
    out: set[int] = set()
    for region in regions:
        if not region.is_loop:
            continue
        header = graph.blocks[region.header]
        if header.flow is Flow.FOR:
            continue
        for i in range(region.header, len(graph.blocks)):
            if not region.nodes >> i & 1:
                continue
            leaving = [s for s in graph.blocks[i].succs if not region.nodes >> s & 1]
            if leaving:
                out.add(leaving[0])
                break
    return out


def _chains(graph: Graph) -> list[tuple[int, ...]]:
    """The handlers around each node: its own, the one around that handler, and so on; outermost first.

    A handler's first instruction counts as protected by the handler that cleans up after it. That one is not around it:
    it is reached through it."""
    around: dict[int, tuple[int, ...]] = {-1: ()}
    used = {block.handler for block in graph.blocks}

    def chain(handler: int) -> tuple[int, ...]:
        path: list[int] = []
        h = handler
        while h not in around and h not in path:
            path.append(h)
            h = _outer_handler(graph, h, used)
        known = around.get(h, ())
        for h in reversed(path):
            known = around[h] = (*known, h)
        return known

    out = []
    for node, block in enumerate(graph.blocks):
        handlers = chain(block.handler)
        # The code of a handler is not within what it protects (its own handler apart, which may be itself).
        out.append(tuple(h for h in handlers if h == block.handler or not graph.dominates(h, node)))
    return out


def _outer_handler(graph: Graph, inner: int, used: set[int]) -> int:
    seen: set[int] = set()
    h = inner
    while h >= 0 and (graph.dominates(inner, h) or h not in used):
        if h in seen:
            return -1
        seen.add(h)
        h = graph.blocks[h].around
    return h


def _regions(graph: Graph, chains: list[tuple[int, ...]]) -> list[Region]:
    """All loops and ranges, grown until any two are disjoint or nested."""
    loops = [Region(header, nodes, True) for header, nodes in graph.loops.items()]
    ranges = _protected(graph, chains)
    regions = loops + _single_rounds(graph) + list(ranges.values())
    if not ranges:
        return regions
    if loops:
        _cover_whole_loops(graph, loops, list(ranges.values()))
    handling = _handling(graph) if loops else {}
    changed = True
    while changed:
        changed = False
        for outer in regions:
            for inner in regions:
                if _absorbs(outer, inner):
                    outer.nodes |= inner.nodes
                    changed = True
        for loop in loops:
            for handler, inner in handling.items():
                # Where the whole loop is protected, the handler is outside.
                if loop.nodes & ~ranges[handler].nodes and _absorbs(loop, inner):
                    loop.nodes |= inner.nodes
                    changed = True
    return regions


def _single_rounds(graph: Graph) -> list[Region]:
    """The bodies of `for` loops inside another loop that never get to a second item, so that they are no natural loops.
    The empty block on the way to the next round of the outer loop is outside."""
    out = []
    for header, block in enumerate(graph.blocks):
        around = [nodes for nodes in graph.loops.values() if nodes >> header & 1]
        if block.flow is not Flow.FOR or header in graph.loops or not around:
            continue
        body, nodes, outer = block.succs[0], 1 << header, min(around, key=int.bit_count)
        if graph.idom[body] != header:
            continue
        for node in range(body, len(graph.blocks)):
            if outer >> node & 1 and not graph.blocks[node].is_empty_jump() and graph.dominates(body, node):
                nodes |= 1 << node
        out.append(Region(header, nodes, False))
    return out


def _cover_whole_loops(graph: Graph, loops: list[Region], ranges: list[Region]) -> None:
    """A range with all that can raise in a loop has the whole loop."""
    raising = 0
    for i, block in enumerate(graph.blocks):
        if block.can_raise():
            raising |= 1 << i
    for region in ranges:
        for loop in loops:
            inside = loop.nodes & raising
            if inside and not inside & ~region.nodes and region.nodes >> loop.header & 1:
                region.nodes |= loop.nodes


def _absorbs(outer: Region, inner: Region) -> bool:
    """Whether a region that begins within another reaches out of it, so that the other has to grow."""
    if not outer.nodes >> inner.header & 1 or not inner.nodes & ~outer.nodes:
        return False
    if outer.header == inner.header:
        overlap = outer.nodes & ~inner.nodes != 0
        return overlap and (outer.is_loop or not inner.is_loop)
    return True


def _protected(graph: Graph, chains: list[tuple[int, ...]]) -> dict[int, Region]:
    """The range of each handler: all nodes with it in their chain, and what lies between them."""
    members: dict[int, list[int]] = {}
    for i, chain in enumerate(chains):
        for handler in chain:
            members.setdefault(handler, []).append(i)
    out = {}
    for handler, nodes in members.items():
        header = nodes[0]
        for node in nodes[1:]:
            header = _common_dominator(graph, header, node)
        out[handler] = Region(header, closure(graph.preds, nodes, header), False)
    return out


def _common_dominator(graph: Graph, a: int, b: int) -> int:
    while a != b:
        if a > b:
            a = graph.idom[a]
        else:
            b = graph.idom[b]
    return a


def _handling(graph: Graph) -> dict[int, Region]:
    """The code of each handler while its exception is being handled. Loops keep it inside, with its `try`."""
    out = {}
    for handler in sorted({block.handler for block in graph.blocks if block.handler >= 0}):
        level = graph.blocks[handler].entry.count("p")
        inside = {handler}
        todo = [handler]
        while todo:
            for s in successors(graph.blocks[todo.pop()]):
                if s not in inside and graph.blocks[s].entry.count("p") > level:
                    inside.add(s)
                    todo.append(s)
        seeds = [node for node in inside if graph.dominates(handler, node)]
        header = graph.idom[handler]
        out[handler] = Region(header, closure(graph.preds, seeds, header), False)
    return out
