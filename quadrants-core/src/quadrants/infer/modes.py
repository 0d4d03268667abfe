"""Blocks with a floating-point mode of their own: `with qd.fp("strict"):`.

CPython keeps the exit function of a `with` on the stack for as long as the block runs, and takes it off on every way out. So
the mode of an instruction is that of the uppermost `Leave` on the stack, whatever loops and branches lie around it. Nothing is
caught: the code for exceptions only raises them again, and is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quadrants.bytecode import nodes
from quadrants.bytecode.opcode import Inst, Opcode
from quadrants.diagnostics import Code
from quadrants.infer.emitter import Emitter, describe, fail
from quadrants.infer.habits import suggestion
from quadrants.infer.values import Abstract, Const
from quadrants.options import FP_MODES, FpBlock
from quadrants.types import LiteralType, Type

if TYPE_CHECKING:
    from quadrants.infer.instructions import InstructionWalk
    from quadrants.infer.walk import ControlWalk

_ELSEWHERE = 'Put the with statement around the call of the compiled function. Only `with qd.fp("strict"):` and the like compile.'


class Leave(Abstract):
    """The `__exit__` of a block, or its `__enter__` (then `entering`)."""

    __slots__ = ("entering", "mode")

    def __init__(self, mode: str, entering: bool) -> None:
        self.mode = mode
        self.entering = entering

    @property
    def type(self) -> Type:
        return LiteralType(self)


def block(w: Emitter, args: Sequence[Abstract], keywords: dict[str, Abstract]) -> Abstract:
    """What a call of `qd.fp` gives."""
    given = [*args, *(value for name, value in keywords.items() if name == "mode")]
    if len(given) != 1 or len(args) + len(keywords) != 1:
        fail(Code.BAD_ARGUMENTS, "fp() takes one argument, the mode")
    modes = ", ".join(f'"{mode}"' for mode in FP_MODES)
    mode = given[0].value if isinstance(given[0], Const) else None
    if not isinstance(mode, str):
        fail(
            Code.NOT_CONSTANT,
            f"the mode of fp() has to be a constant, {modes}, not {describe(given[0])}",
            hint="A mode is chosen when the function is compiled.",
        )
    if mode not in FP_MODES:
        fail(
            Code.BAD_VALUE,
            f"there is no floating-point mode {mode!r}: fp() takes {modes}",
            hint=suggestion(mode, FP_MODES),
        )
    return Const(FpBlock(mode))


def load_special(w: InstructionWalk, name: str) -> None:
    """Take a manager off the stack, and put its method there."""
    manager = w.unwrap(w.pop())
    value = manager.value if isinstance(manager, Const) else None
    if not isinstance(value, FpBlock) or name not in ("__enter__", "__exit__"):
        fail(Code.UNSUPPORTED_WITH, "a with statement cannot be compiled", hint=_ELSEWHERE)
    if w.passing is None:
        from quadrants.bytecode import regions

        w.passing = frozenset(_passing(regions(w.ref.code).body))
    w.push(Leave(value.mode, name == "__enter__"))


def call(w: InstructionWalk) -> Abstract:
    """Enter or leave a block; the method is off the stack."""
    adjust(w)
    return Const(None)


def adjust(w: ControlWalk) -> None:
    """Let what follows have the mode of the block that the walk is in."""
    stack = w.live_env.stack
    mode = next((value.mode for value in reversed(stack) if isinstance(value, Leave)), "")
    w.b.mode = "" if mode == w.options.fp else mode


def _passing(body: nodes.Seq) -> set[int]:
    """The identities of the `try` nodes that stand for a `with`."""
    found: set[int] = set()
    _collect(body.items, {}, found)
    return found


def _collect(items: Sequence[nodes.Node], behind: dict[int, Sequence[nodes.Node]], found: set[int]) -> None:
    """Look through nodes. `behind`: what follows the blocks around them, by label."""
    for position, node in enumerate(items):
        match node:
            case nodes.Seq(inner):
                _collect(inner, behind, found)
            case nodes.If(then, orelse):
                _collect(then.items, behind, found)
                _collect(orelse.items, behind, found)
            case nodes.Block(label, body):
                _collect(body.items, {**behind, label: items[position + 1 :]}, found)
            case nodes.Loop(_, body):
                _collect(body.items, behind, found)
            case nodes.For(_, body, exhausted):
                _collect(body.items, behind, found)
                _collect(exhausted.items, behind, found)
            case nodes.Try(body, handler):
                _collect(body.items, behind, found)
                _collect(handler.items, behind, found)
                if _leaves_block(handler.items, behind):
                    found.add(id(node))


def _leaves_block(items: Sequence[nodes.Node], behind: dict[int, Sequence[nodes.Node]]) -> bool:
    """Whether a handler is that of a `with`: it begins by calling the exit function."""
    while items:
        first = items[0]
        if isinstance(first, nodes.Exit):
            items = behind.get(first.label, ())
        elif isinstance(first, (nodes.Seq, nodes.Block, nodes.Try)):
            inner = first.items if isinstance(first, nodes.Seq) else first.body.items
            items = (*inner, *items[1:])
        elif isinstance(first, nodes.Code):
            rest = [inst for inst in first.insts if isinstance(inst, Inst) and inst.op is not Opcode.PUSH_EXC]
            if rest:
                return rest[0].op is Opcode.WITH_EXCEPT_START
            items = items[1:]
        else:
            return False
    return False
