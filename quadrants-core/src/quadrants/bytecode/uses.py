"""How often a value that a variable holds is read at most, on any way through a function.

Takes the body of a function and the name of a local or a cell. Counts what is read of one value, from the assignment that stores it
to the next one; a value that is read in a loop, but stored outside of it, counts as read many times. Where jumps make it unclear
whether an assignment is passed, it counts as not passed: the count is never too low.
"""

from __future__ import annotations

from quadrants._frozen import frozen

from . import nodes
from .opcode import Opcode

#: Stands for any larger number, too.
MANY = 2

_READS = (Opcode.LOAD_LOCAL, Opcode.LOAD_LOCAL_OR_UNDEF)
_STORES = (Opcode.STORE_LOCAL, Opcode.DELETE_LOCAL)


@frozen
class Reads:
    """What a part of the code reads of a variable at most.

    Args:
        given: how often what the variable holds before.
        made: how often one value that the part stores.
        stores: whether it may store.
        always: whether it is sure to.
        jumps: whether it may start the next turn of a loop early.
    """

    given: int = 0
    made: int = 0
    stores: bool = False
    always: bool = False
    jumps: bool = False

    def then(self, after: Reads) -> Reads:
        """This part and, after it, another one."""
        given = self.given if self.always else self.given + after.given
        made = max(self.made + after.given if self.stores else 0, after.made)
        return Reads(given, made, self.stores or after.stores, self.always or after.always, self.jumps or after.jumps)


def reads_again(body: nodes.Seq, name: str, parameter: bool) -> bool:
    """Whether one value of a variable may be read more than once. A parameter has a value from the start."""
    found = _reads(body, name)
    return max(found.made, found.given if parameter else 0) > 1


def _reads(node: nodes.Node, name: str) -> Reads:
    if isinstance(node, nodes.Code):
        return _of_code(node, name)
    if isinstance(node, nodes.Seq):
        found = Reads()
        for item in node.items:
            found = found.then(_reads(item, name))
        return found
    if isinstance(node, nodes.If):
        one, other = _reads(node.then, name), _reads(node.orelse, name)
        return Reads(
            max(one.given, other.given),
            max(one.made, other.made),
            one.stores or other.stores,
            one.always and other.always,
            one.jumps or other.jumps,
        )
    if isinstance(node, (nodes.Loop, nodes.For)):
        turns = _turns(_reads(node.body, name))
        return turns.then(_reads(node.exhausted, name)) if isinstance(node, nodes.For) else turns
    if isinstance(node, nodes.Block):
        return _unsure(_reads(node.body, name))
    if isinstance(node, nodes.Try):
        return _unsure(_unsure(_reads(node.body, name)).then(_reads(node.handler, name)))
    return Reads(jumps=isinstance(node, nodes.Continue))


def _of_code(node: nodes.Code, name: str) -> Reads:
    found = Reads()
    for inst in node.insts:
        if inst.arg == name:
            if inst.op in _READS or inst.op is Opcode.LOAD_DEREF:
                found = found.then(Reads(given=1))
            if inst.op in _STORES or inst.op is Opcode.STORE_DEREF:
                found = found.then(Reads(stores=True, always=True))
    return found


def _turns(body: Reads) -> Reads:
    """A loop with the body: what a turn leaves is there for the next one, unless a turn is sure to store before."""
    again = body.given if body.always and not body.jumps else min(body.given * MANY, MANY)
    return Reads(again, body.made + again if body.stores else 0, body.stores)


def _unsure(part: Reads) -> Reads:
    """A part that may be left before its end."""
    return Reads(part.given, part.made, part.stores, False, part.jumps)


def loops_around(node: nodes.Node, op: Opcode) -> int:
    """How many loops there are at most around an operation; -1 if it is not there."""
    if isinstance(node, nodes.Code):
        return 0 if any(inst.op is op for inst in node.insts) else -1
    if isinstance(node, nodes.Seq):
        return max((loops_around(item, op) for item in node.items), default=-1)
    parts = (getattr(node, part, None) for part in ("then", "orelse", "body", "handler"))
    found = max((loops_around(part, op) for part in parts if part is not None), default=-1)
    return found + 1 if found >= 0 and isinstance(node, (nodes.Loop, nodes.For)) else found
