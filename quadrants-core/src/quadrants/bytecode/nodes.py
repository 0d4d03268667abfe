"""The region tree: what a code object becomes.

A tree is a sequence of nodes. A node is entered at its top and, unless it leaves by `Exit`, `Continue`, `Return`,
`Raise`, `Reraise` or an exception, the next node of the sequence follows. Values may stay on the evaluation stack
between nodes; every way into a point has the same stack depth.

`live` sets name the locals whose value may still be read; cells and free variables are always members.
"""

from __future__ import annotations

from quadrants._frozen import frozen

from .opcode import Inst, Loc

Names = frozenset[str]


@frozen
class Seq:
    """Nodes in order."""

    items: tuple[Node, ...] = ()


@frozen
class Code:
    """Straight-line operations."""

    insts: tuple[Inst, ...]


@frozen
class If:
    """Pops a value and runs `then` if it is true, else `orelse`. `live`: live after the node."""

    then: Seq
    orelse: Seq
    loc: Loc
    live: Names


@frozen
class Block:
    """Runs `body`; `Exit(label)` inside leaves to just after the block, as falling off its end does."""

    label: int
    body: Seq
    live: Names


@frozen
class Loop:
    """Repeats `body`; falling off its end and `Continue(label)` start the next iteration. Nothing follows it in its
    sequence: it is left by `Exit`, `Return`, `Raise` or an exception (and, in code that no compiler makes, by `Continue`
    of an outer loop). A `while` loop starts with its test: operations, then an `If` with the body in one arm and an `Exit`
    in the other; of the copy of the test that CPython puts at the end nothing is left.
    `live`: live at the header. `assigned`: locals that are stored or deleted inside."""

    label: int
    body: Seq
    live: Names
    assigned: Names


@frozen
class For:
    """The iterator is on top of the stack. Each iteration pushes the next item and runs `body`, which ends (by falling
    off its end or by `Continue(label)`) with the iterator on top again. At the end of the iterator it is popped,
    `exhausted` runs, and the next node follows."""

    label: int
    body: Seq
    exhausted: Seq
    live: Names
    assigned: Names
    loc: Loc


@frozen
class Try:
    """Runs `body`. An exception in it cuts the stack to `depth` values, pushes the exception and runs `handler`, outside
    of this node's protection. Falling off the end of either continues after the node. `lasti` is informative:
    CPython also saves the instruction index here, so that a later re-raise reports the original line."""

    body: Seq
    handler: Seq
    live_handler: Names
    depth: int
    lasti: bool


@frozen
class Exit:
    """Leaves the enclosing `Block` of this label."""

    label: int


@frozen
class Continue:
    """Starts the next iteration of the enclosing `Loop` or `For` of this label, the innermost one in compiled code."""

    label: int


@frozen
class Return:
    """Pops a value and returns it."""

    loc: Loc


@frozen
class Raise:
    """`raise` (argc 0), `raise exc` (1: pops exc), `raise exc from cause` (2: pops cause, then exc)."""

    argc: int
    loc: Loc


@frozen
class Reraise:
    """Pops an exception and raises it again, its traceback kept."""

    loc: Loc


Node = Seq | Code | If | Block | Loop | For | Try | Exit | Continue | Return | Raise | Reraise
