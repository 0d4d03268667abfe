"""The text form of a region tree: one operation a line, indented by nesting, with source line numbers.

Takes nodes; gives text, for people only (nothing parses it back).
"""

from __future__ import annotations

from collections.abc import Iterator

from .nodes import Block, Code, Continue, Exit, For, If, Loop, Node, Raise, Reraise, Return, Seq, Try
from .opcode import Inst, Loc, Opcode


def format_body(body: Seq) -> str:
    """The nodes of `body`, indented, as lines of text."""
    return "\n".join(_node(body, 1))


def _line(indent: int, text: str, loc: Loc | None = None) -> str:
    number = "" if loc is None or loc.line is None else str(loc.line)
    return f"{number:>5} {'  ' * indent}{text}"


def _names(title: str, names: frozenset[str]) -> str:
    return f"  {title}={{{', '.join(sorted(names))}}}"


def _operand(inst: Inst) -> str:
    arg = inst.arg
    if arg is None and inst.op is not Opcode.PUSH:
        return ""
    if isinstance(arg, frozenset) and inst.op is Opcode.MAKE_FUNCTION:
        return " " + " ".join(sorted(map(str, arg)))
    return " " + repr(arg)


def _node(node: Node, depth: int) -> Iterator[str]:
    match node:
        case Seq(items):
            for item in items:
                yield from _node(item, depth)
        case Code(insts):
            for inst in insts:
                yield _line(depth, inst.op.name + _operand(inst), inst.loc)
        case If(then, orelse, loc, live):
            yield _line(depth, "if:" + _names("live", live), loc)
            yield from _node(then, depth + 1)
            if orelse.items:
                yield _line(depth, "else:")
                yield from _node(orelse, depth + 1)
        case Block(label, body, live):
            yield _line(depth, f"block {label}:" + _names("live", live))
            yield from _node(body, depth + 1)
        case Loop(label, body, live, assigned):
            yield _line(depth, f"loop {label}:" + _names("live", live) + _names("assigned", assigned))
            yield from _node(body, depth + 1)
        case For(label, body, exhausted, live, assigned, loc):
            yield _line(depth, f"for {label}:" + _names("live", live) + _names("assigned", assigned), loc)
            yield from _node(body, depth + 1)
            if exhausted.items:
                yield _line(depth, "exhausted:")
                yield from _node(exhausted, depth + 1)
        case Try(body, handler, live, stack, _):
            yield _line(depth, "try:")
            yield from _node(body, depth + 1)
            yield _line(depth, f"except (depth {stack}):" + _names("live", live))
            yield from _node(handler, depth + 1)
        case Exit(label):
            yield _line(depth, f"exit {label}")
        case Continue(label):
            yield _line(depth, f"continue {label}")
        case Return(loc):
            yield _line(depth, "return", loc)
        case Raise(argc, loc):
            yield _line(depth, f"raise {argc}", loc)
        case Reraise(loc):
            yield _line(depth, "reraise", loc)
