"""Explicit tree -> the public region tree, with live and assigned variables and labels numbered in order.

Takes the simplified list, the graph and its liveness; gives a `Seq`. Walks from the end to the start, so that what is
live after each node is known when the node is made.
"""

from __future__ import annotations

from quadrants._frozen import record

from . import nodes as n
from .error import BytecodeError
from .graph import Graph
from .live import Locals, live_in
from .opcode import Inst
from .rules import Flow
from .structure import X, XBlock, XCode, XEnd, XFor, XIf, XJump, XLoop, XTry


@record
class _Part:
    """Nodes made from the end: what is live before them, what they assign."""

    nodes: list[n.Node]
    live: int
    assigned: int


def finish(items: list[X], graph: Graph, slots: tuple[str, ...], cells: frozenset[str]) -> n.Seq:
    """The public tree."""
    variables = Locals(graph, slots, cells)
    finisher = _Finisher(variables, live_in(graph, variables))
    finisher.number(items)
    return finisher.seq(items, 0, 0, None)[0]


class _Finisher:
    def __init__(self, variables: Locals, live: list[int]) -> None:
        self.variables = variables
        self.live = live
        self.labels: dict[tuple[int, bool], int] = {}
        self.after: dict[tuple[int, bool], int] = {}  # live where a jump goes

    def number(self, items: list[X]) -> None:
        for item in items:
            match item:
                case XBlock(label, body):
                    self.labels[label, False] = len(self.labels)
                    self.number(body)
                case XLoop(label, body) | XFor(label, _, _, body):
                    self.labels[label, True] = len(self.labels)
                    self.number(body)
                case XIf(_, _, first, second) | XTry(_, _, _, first, second):
                    self.number(first)
                    self.number(second)

    def seq(self, items: list[X], live: int, caught: int, broken: int | None) -> tuple[n.Seq, int, int]:
        """A sequence. `live` after it; `caught`: live in the handlers around it; `broken`: the block it is the body of.
        Gives it with what is live before it and what it assigns."""
        part = _Part([], live, 0)
        i = len(items) - 1
        while i >= 0:
            item = items[i]
            if isinstance(item, XCode):
                insts: list[Inst] = []
                first = i
                while first > 0 and isinstance(items[first - 1], XCode):
                    first -= 1
                for code in items[first : i + 1]:
                    assert isinstance(code, XCode)
                    insts += code.block.insts
                part.live = self.variables.before(insts, part.live) | caught
                part.assigned |= self.variables.changed(insts)
                part.nodes.append(n.Code(tuple(insts)))
                i = first - 1
                continue
            self.node(item, part, caught, broken)
            i -= 1
        part.nodes.reverse()
        return n.Seq(tuple(part.nodes)), part.live, part.assigned

    def node(self, item: X, part: _Part, caught: int, broken: int | None) -> None:
        """Puts one node before those of the part."""
        match item:
            case XJump(label, back):
                if (label, back) not in self.after:
                    # Only exception tables that no compiler makes lead out of where the handler can be placed.
                    raise BytecodeError("the exception handlers are not nested")
                number = self.labels[label, back]
                part.nodes.append(n.Continue(number) if back else n.Exit(number))
                part.live = self.after[label, back]
            case XEnd():
                part.nodes.append(_end(item))
                part.live = caught
            case XIf():
                then, live_then, assigned_then = self.seq(item.then, part.live, caught, None)
                orelse, live_else, assigned_else = self.seq(item.orelse, part.live, caught, None)
                part.nodes.append(n.If(then, orelse, item.block.loc, self.variables.names(part.live)))
                part.live = live_then | live_else | caught
                part.assigned |= assigned_then | assigned_else
            case XBlock(label, body):
                self.after[label, False] = part.live
                seq, live, assigned = self.seq(body, part.live, caught, label)
                names = self.variables.names(part.live)
                part.nodes.append(n.Block(self.labels[label, False], seq, names))
                part.live = live
                part.assigned |= assigned
            case XLoop():
                self.loop(item, part, caught)
            case XFor():
                self.for_loop(item, part, caught, broken)
            case XTry():
                self.protected(item, part, caught)

    def loop(self, item: XLoop, part: _Part, caught: int) -> None:
        variables = self.variables
        header = self.live[item.label] | caught
        self.after[item.label, True] = header
        seq, live, assigned = self.seq(item.body, header, caught, None)
        names = variables.names(header)
        part.nodes.append(n.Loop(self.labels[item.label, True], seq, names, variables.plain(assigned)))
        part.live = header
        part.assigned |= assigned

    def for_loop(self, item: XFor, part: _Part, caught: int, broken: int | None) -> None:
        """What follows the loop in a block that the loop breaks out of is its else clause."""
        variables = self.variables
        header = self.live[item.label] | part.live | caught
        self.after[item.label, True] = header
        seq, _, assigned = self.seq(item.body, header, caught, None)
        exhausted = n.Seq()
        inside = assigned
        if part.nodes and broken is not None and (broken, False) in self.labels and _exits(item.body, broken):
            exhausted = n.Seq(tuple(reversed(part.nodes)))
            part.nodes.clear()
        label = self.labels[item.label, True]
        names = variables.names(header)
        part.nodes.append(n.For(label, seq, exhausted, names, variables.plain(inside), item.block.loc))
        part.live = header
        part.assigned |= assigned

    def protected(self, item: XTry, part: _Part, caught: int) -> None:
        handler, live, assigned = self.seq(item.handler, part.live, caught, None)
        body, live_body, assigned_body = self.seq(item.body, part.live, caught | live, None)
        names = self.variables.names(live)
        part.nodes.append(n.Try(body, handler, names, item.depth, item.lasti))
        part.live = live_body | live
        part.assigned |= assigned | assigned_body


def _exits(items: list[X], label: int) -> bool:
    for item in items:
        match item:
            case XJump(target, False) if target == label:
                return True
            case XIf(_, _, first, second) | XTry(_, _, _, first, second):
                if _exits(first, label) or _exits(second, label):
                    return True
            case XLoop(_, body) | XFor(_, _, _, body) | XBlock(_, body):
                if _exits(body, label):
                    return True
    return False


def _end(item: XEnd) -> n.Node:
    block = item.block
    if block.flow is Flow.RETURN:
        return n.Return(block.loc)
    if block.flow is Flow.RAISE:
        return n.Raise(block.argc, block.loc)
    return n.Reraise(block.loc)
